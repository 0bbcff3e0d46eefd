#include "tt/ops_tracy_cores.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/str.h"
#include "ops/report.h"
#include "tt/durations.h"

#define OVERHEAD 1500 /* cycles that profiling adds between two ops */

/* Between two ops on one core. */
struct gap {
	uint64_t start, cycles;
	uint64_t from, to; /* the ops */
	uint32_t core;     /* of the chip, by x and y */
	bool reported;
};

/* The gaps of one core, in order of time; first is the one that is not yet told. */
struct series {
	size_t first, end;
	uint32_t column;
};

struct chip {
	struct ut_ops_report *r;
	uint32_t device, step; /* columns */
	int32_t id;
	struct gap *gaps; /* core by core */
	size_t count, cap;
	struct series *series; /* per core */
	uint32_t core_count;
};

static uint32_t core_column(struct ut_ops_report *r, const struct ut_tt_core *core)
{
	char *name = ut_str_fmt(&r->arena, "%" PRId32 "; %" PRId32 " [ns]", core->x, core->y);

	/* coordinates may be negative; their order is what counts */
	return ut_ops_column(r, &(struct ut_ops_column){ .name = name,
							 .group = 1,
							 .index = (uint32_t)core->x ^ 0x80000000u,
							 .sub = (uint32_t)core->y ^ 0x80000000u,
							 .missing = "" });
}

static int ops_tracy_cores_compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int ops_tracy_cores_by_place(const void *a, const void *b, void *ctx)
{
	const struct ut_tt_core *cores = ctx;
	const struct ut_tt_core *x = &cores[*(const uint32_t *)a],
				*y = &cores[*(const uint32_t *)b];

	return x->x != y->x ? (x->x < y->x ? -1 : 1) : (x->y > y->y) - (x->y < y->y);
}

static int ops_tracy_cores_by_start(const void *a, const void *b, void *ctx)
{
	const struct gap *gaps = ctx;
	const struct gap *x = &gaps[*(const size_t *)a], *y = &gaps[*(const size_t *)b];
	int order = ops_tracy_cores_compare(x->start, y->start);

	order = order ? order : ops_tracy_cores_compare(x->from, y->from);
	order = order ? order : ops_tracy_cores_compare(x->to, y->to);
	order = order ? order : ops_tracy_cores_compare(x->cycles, y->cycles);
	return order ? order : ops_tracy_cores_compare(x->core, y->core);
}

/* Spans of the rule op2op; one of no length is none. */
static void add_gaps(struct chip *c, uint32_t core, const struct ut_tt_log *log,
		     const struct ut_tt_analysis *a, const struct ut_tt_result *result)
{
	for (uint64_t i = 0; i < result->stats.count; i++) {
		const struct ut_tt_span *span = &a->spans[result->span + i];
		const struct ut_tt_row *start, *end;

		if (!span->cycles || span->start == UT_TT_NO_ROW || span->end == UT_TT_NO_ROW)
			continue;
		start = &log->rows[span->start];
		end = &log->rows[span->end];
		c->gaps = ut_grow(c->gaps, c->count + 1, &c->cap, sizeof(*c->gaps));
		c->gaps[c->count++] = (struct gap){ .start = start->ts,
						    .cycles = span->cycles,
						    .from = log->marks[start->mark].host,
						    .to = log->marks[end->mark].host,
						    .core = core };
	}
}

static void read_core(struct chip *c, uint32_t core, const struct ut_tt_log *log,
		      const struct ut_tt_analysis *a, uint32_t number)
{
	const struct ut_tt_scope *scope = &a->cores[number];

	c->series[core] = (struct series){ .first = c->count,
					   .column = core_column(c->r, &log->cores[number]) };
	for (size_t i = 0; i < scope->count; i++) {
		const struct ut_tt_result *result = &a->results[scope->result + i];

		if (!strcmp(a->setup.rules[result->rule]->name, "op2op"))
			add_gaps(c, core, log, a, result);
	}
	c->series[core].end = c->count;
}

/* The step that is next, and of all cores that take it next, too. */
static void ops_tracy_cores_add_row(struct chip *c, const struct gap *gap)
{
	struct ut_arena *arena = &c->r->arena;
	size_t first = c->r->cell_count;
	struct ut_ops_row *row;
	char *text = ut_str_fmt(arena, "%" PRIu64 " -> %" PRIu64, gap->from, gap->to);

	ut_ops_put(c->r, c->step, (struct ut_str){ text, strlen(text) });
	text = ut_str_fmt(arena, "%" PRId32, c->id);
	ut_ops_put(c->r, c->device, (struct ut_str){ text, strlen(text) });
	for (uint32_t i = 0; i < c->core_count; i++) {
		struct series *s = &c->series[i];
		struct gap *head = &c->gaps[s->first];

		if (s->first == s->end || head->from != gap->from || head->to != gap->to)
			continue;
		text = ut_str_fmt(arena, "%" PRId64, (int64_t)head->cycles - OVERHEAD);
		ut_ops_put(c->r, s->column, (struct ut_str){ text, strlen(text) });
		head->reported = true;
		s->first++;
	}
	row = ut_ops_row_add(c->r);
	row->when = (int64_t)c->r->row_count;
	row->parts[0] = ut_ops_since(c->r, first);
}

static void ops_tracy_cores_add_rows(struct chip *c)
{
	size_t *order = ut_make((c->count + 1) * sizeof(*order));

	for (size_t i = 0; i < c->count; i++)
		order[i] = i;
	if (c->count)
		qsort_r(order, c->count, sizeof(*order), ops_tracy_cores_by_start, c->gaps);
	for (size_t i = 0; i < c->count; i++) {
		if (!c->gaps[order[i]].reported)
			ops_tracy_cores_add_row(c, &c->gaps[order[i]]);
	}
	free(order);
}

static void put_chip(struct chip *c, const struct ut_tt_log *log, const struct ut_tt_analysis *a,
		     const struct ut_tt_chip *chip)
{
	uint32_t *cores = ut_make((chip->core_count + 1) * sizeof(*cores));

	c->id = chip->id;
	c->count = 0;
	c->core_count = chip->core_count;
	c->series = ut_make((chip->core_count + 1) * sizeof(*c->series));
	for (uint32_t i = 0; i < chip->core_count; i++)
		cores[i] = chip->core + i;
	if (chip->core_count)
		qsort_r(cores, chip->core_count, sizeof(*cores), ops_tracy_cores_by_place,
			log->cores);
	for (uint32_t i = 0; i < chip->core_count; i++)
		read_core(c, i, log, a, cores[i]);
	ops_tracy_cores_add_rows(c);
	free(c->series);
	free(cores);
}

void ut_tracy_cores_put(struct ut_ops_report *r, const struct ut_tt_log *log,
			const struct ut_tt_analysis *a)
{
	static const char *const names[] = { "device ID", "op2op ID", NULL };
	uint32_t first = ut_ops_columns(r, names, 0, "");
	struct chip c = { .r = r, .device = first, .step = first + 1 };

	for (size_t i = 0; i < log->chip_count; i++)
		put_chip(&c, log, a, &log->chips[i]);
	free(c.gaps);
	ut_ops_report_order(r);
}
