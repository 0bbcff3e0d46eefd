#include "tt/kernels.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/sort.h"
#include "text/out.h"
#include "text/table_report.h"
#include "tt/bars.h"

/* From the first to the last of some markers. */
struct extent {
	uint64_t first, last;
};

static void tt_kernels_widen(struct extent *e, uint64_t ts)
{
	e->first = ts < e->first ? ts : e->first;
	e->last = ts > e->last ? ts : e->last;
}

static uint64_t width(const struct extent *e)
{
	return e->last > e->first ? e->last - e->first : 0;
}

#define NOTHING ((struct extent){ UINT64_MAX, 0 })

/* An op or a launch while its rows are looked at. */
struct one {
	struct ut_tt_kernel k;
	struct extent firmware, kernel;
};

struct finder {
	const struct ut_tt_log *log;
	struct ut_tt_kernels *to;
	uint8_t *kinds; /* per mark: enum ut_tt_bar_kind */
	/* per core, while an op is looked at: which one, and its kernels */
	uint32_t *stamp, *cores, stamps;
	struct extent *of_core;
	/* if shares are looked for: where they go, per lane its kernels, per number of an op its
	 * index + 1, or 0 if it is not wanted */
	struct ut_tt_shares *shares;
	struct extent *of_lane;
	const uint32_t *wanted;
};

static void one_begin(struct one *o, uint32_t chip, size_t number)
{
	*o = (struct one){ .firmware = NOTHING, .kernel = NOTHING };
	o->k.chip = chip;
	o->k.number = (uint32_t)number;
	o->k.start = UINT64_MAX;
	o->k.slowest = UINT32_MAX;
	o->k.trace = o->k.replay = -1;
}

static void one_row(struct finder *f, struct one *o, uint32_t row)
{
	const struct ut_tt_row *r = &f->log->rows[row];
	uint8_t kind = f->kinds[r->mark];

	o->k.start = r->ts < o->k.start ? r->ts : o->k.start;
	if (kind == UT_TT_BAR_FIRMWARE)
		tt_kernels_widen(&o->firmware, r->ts);
	if (kind != UT_TT_BAR_KERNEL)
		return;
	tt_kernels_widen(&o->kernel, r->ts);
	tt_kernels_widen(&f->of_core[f->log->lanes[r->lane].core], r->ts);
	if (f->shares)
		tt_kernels_widen(&f->of_lane[r->lane], r->ts);
}

static void take_shares(struct finder *f, const struct one *o, const struct ut_tt_core *core)
{
	struct ut_tt_shares *s = f->shares;
	uint32_t kernel = f->wanted[o->k.number];

	for (uint32_t i = core->lane; i < core->lane + core->lane_count; i++) {
		const struct extent *e = &f->of_lane[i];

		if (kernel && e->last) {
			s->items = ut_grow(s->items, s->count + 1, &s->cap, sizeof(*s->items));
			s->items[s->count++] =
				(struct ut_tt_share){ kernel - 1, i, e->first, width(e) };
		}
		f->of_lane[i] = NOTHING;
	}
}

static void one_core(struct finder *f, struct one *o, uint32_t core)
{
	uint64_t cycles = width(&f->of_core[core]);

	o->k.cores++;
	o->k.core_cycles += cycles;
	if (f->shares)
		take_shares(f, o, &f->log->cores[core]);
	if (o->k.slowest == UINT32_MAX || cycles > o->k.slowest_cycles) {
		o->k.slowest = core;
		o->k.slowest_cycles = cycles;
	}
	f->of_core[core] = NOTHING;
}

static void one_end(struct finder *f, const struct one *o)
{
	struct ut_tt_kernels *to = f->to;
	struct ut_tt_kernel *k;

	to->items = ut_grow(to->items, to->count + 1, &to->cap, sizeof(*to->items));
	k = &to->items[to->count++];
	*k = o->k;
	k->firmware = width(&o->firmware);
	k->kernel = width(&o->kernel);
	k->kernel_start = o->kernel.last ? o->kernel.first : 0;
	k->kernel_end = o->kernel.last;
}

/* ---- ops ----------------------------------------------------------------------------------- */

static void find_op(struct finder *f, uint32_t chip, const uint32_t *rows, size_t n)
{
	uint32_t cores = 0;
	struct one o;

	one_begin(&o, chip, f->to->count);
	f->stamps++;
	for (size_t i = 0; i < n; i++) {
		const struct ut_tt_mark *m = &f->log->marks[f->log->rows[rows[i]].mark];
		uint32_t core = f->log->lanes[f->log->rows[rows[i]].lane].core;

		if (f->stamp[core] != f->stamps)
			f->cores[cores++] = core;
		f->stamp[core] = f->stamps;
		if (!i) {
			o.k.op = m->host;
			o.k.trace = m->trace;
			o.k.replay = m->replay;
		}
		one_row(f, &o, rows[i]);
	}
	for (uint32_t i = 0; i < cores; i++)
		one_core(f, &o, f->cores[i]);
	one_end(f, &o);
}

/* ---- launches ------------------------------------------------------------------------------ */

static void find_launches(struct finder *f, uint32_t number)
{
	const struct ut_tt_chip *chip = &f->log->chips[number];
	struct one *launches = NULL;
	size_t count = 0, cap = 0;

	for (uint32_t c = chip->core; c < chip->core + chip->core_count; c++) {
		const struct ut_tt_core *core = &f->log->cores[c];
		size_t n = 0;

		for (uint32_t i = 0; i < core->count; i++) {
			uint32_t row = f->log->by_core[core->first + i];

			if (ut_tt_begins_launch(f->log, row)) {
				if (n)
					one_core(f, &launches[n - 1], c);
				n++;
			}
			if (n > count) {
				launches = ut_grow(launches, n, &cap, sizeof(*launches));
				one_begin(&launches[count], number, f->to->count + count);
				count++;
			}
			if (n)
				one_row(f, &launches[n - 1], row);
		}
		if (n)
			one_core(f, &launches[n - 1], c);
	}
	for (size_t i = 0; i < count; i++) {
		launches[i].k.op = i + 1;
		one_end(f, &launches[i]);
	}
	free(launches);
}

/* ---- all ----------------------------------------------------------------------------------- */

static int tt_kernels_by_start(const void *pa, const void *pb)
{
	const struct ut_tt_kernel *a = pa, *b = pb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->op > b->op) - (a->op < b->op);
}

/* Of the rows of one chip. */
static void find_gaps(struct ut_tt_kernel *k, size_t n)
{
	uint64_t end = 0;

	qsort(k, n, sizeof(*k), tt_kernels_by_start);
	for (size_t i = 0; i < n; i++) {
		k[i].gap =
			end && k[i].kernel_end
				? (int64_t)(k[i].kernel_start > end ? k[i].kernel_start - end : 0)
				: -1;
		end = k[i].kernel_end > end ? k[i].kernel_end : end;
	}
}

static uint8_t *find_kinds(const struct ut_tt_log *log)
{
	uint8_t *kinds = ut_make(log->mark_count + 1);

	for (size_t i = 0; i < log->mark_count; i++)
		kinds[i] = ut_tt_mark_kind(log, &log->marks[i]);
	return kinds;
}

static void find_all(struct finder *f, const struct ut_tt_analysis *a, uint32_t chip)
{
	bool all = chip == UT_TT_ALL_CHIPS;
	uint32_t end = all ? (uint32_t)a->log->chip_count : chip + 1;
	const struct ut_tt_log *log = a->log;
	struct ut_tt_kernels *k = f->to;

	f->log = log;
	f->kinds = find_kinds(log);
	f->stamp = ut_make((log->core_count + 1) * sizeof(*f->stamp));
	f->cores = ut_make((log->core_count + 1) * sizeof(*f->cores));
	f->of_core = ut_make((log->core_count + 1) * sizeof(*f->of_core));
	for (size_t i = 0; i <= log->core_count; i++)
		f->of_core[i] = NOTHING;
	for (uint32_t c = all ? 0 : chip; c < end; c++) {
		const struct ut_tt_ops *ops = &a->chips[c].ops;
		size_t before = k->count;

		for (size_t i = 0; i < ops->count; i++)
			find_op(f, c, ops->rows + ops->first[i], ops->first[i + 1] - ops->first[i]);
		if (!log->zones)
			find_launches(f, c);
		if (k->count > before)
			find_gaps(k->items + before, k->count - before);
	}
	free(f->kinds);
	free(f->stamp);
	free(f->cores);
	free(f->of_core);
}

void ut_tt_kernels_find(struct ut_tt_kernels *k, const struct ut_tt_analysis *a, uint32_t chip)
{
	struct finder f = { .to = k };

	find_all(&f, a, chip);
}

void ut_tt_kernels_release(struct ut_tt_kernels *k)
{
	free(k->items);
	*k = (struct ut_tt_kernels){ 0 };
}

/* ---- shares -------------------------------------------------------------------------------- */

struct longest {
	uint64_t cycles;
	uint32_t index;
};

static int by_length(const void *pa, const void *pb)
{
	const struct longest *a = pa, *b = pb;

	if (a->cycles != b->cycles)
		return a->cycles > b->cycles ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
}

/* Per number of an op its index + 1, if it is among the longest that fit. The caller frees. */
static uint32_t *choose_ops(const struct ut_tt_kernels *k, size_t lanes, size_t most, size_t *left)
{
	struct longest *all = ut_make((k->count + 1) * sizeof(*all));
	uint32_t *wanted = ut_make((k->count + 1) * sizeof(*wanted));
	size_t used = 0, i;

	for (i = 0; i < k->count; i++)
		all[i] = (struct longest){ k->items[i].kernel, (uint32_t)i };
	ut_sort(all, k->count, sizeof(*all), by_length);
	for (i = 0; i < k->count; i++) {
		const struct ut_tt_kernel *its = &k->items[all[i].index];

		used += (size_t)its->cores * lanes;
		if (used > most && i)
			break;
		wanted[its->number] = all[i].index + 1;
	}
	*left = k->count - i;
	free(all);
	return wanted;
}

static int by_kernel(const void *pa, const void *pb)
{
	const struct ut_tt_share *a = pa, *b = pb;

	if (a->kernel != b->kernel)
		return a->kernel < b->kernel ? -1 : 1;
	return (a->lane > b->lane) - (a->lane < b->lane);
}

void ut_tt_shares_find(struct ut_tt_shares *s, const struct ut_tt_kernels *k,
		       const struct ut_tt_analysis *a, uint32_t chip, size_t most)
{
	struct ut_tt_kernels again = { 0 };
	struct finder f = { .to = &again, .shares = s };
	uint32_t *wanted = choose_ops(k, a->log->risc_count, most, &s->ops_left);

	f.wanted = wanted;
	f.of_lane = ut_make((a->log->lane_count + 1) * sizeof(*f.of_lane));
	for (size_t i = 0; i <= a->log->lane_count; i++)
		f.of_lane[i] = NOTHING;
	find_all(&f, a, chip);
	ut_sort(s->items, s->count, sizeof(*s->items), by_kernel);
	ut_tt_kernels_release(&again);
	free(f.of_lane);
	free(wanted);
}

void ut_tt_shares_release(struct ut_tt_shares *s)
{
	free(s->items);
	*s = (struct ut_tt_shares){ 0 };
}

/* ---- tables -------------------------------------------------------------------------------- */

static double tt_kernels_to_ns(const struct ut_tt_log *log, uint64_t cycles)
{
	return (double)cycles * 1000 / (double)log->mhz;
}

/* Stamps of broken logs may be longer than any time. */
static uint64_t whole_ns(const struct ut_tt_log *log, uint64_t cycles)
{
	double ns = tt_kernels_to_ns(log, cycles);

	return ns < (double)UINT64_MAX ? (uint64_t)ns : UINT64_MAX;
}

/* ---- printing ------------------------------------------------------------------------------ */

#define PEOPLE .readers = UT_FOR_PEOPLE
#define TIME(k, t)                                                                                 \
	{                                                                                          \
		.key = (k), .title = (t), .unit = "ns", .type = UT_REPORT_TIME, PEOPLE             \
	}

/* One column with two names: device_kernels.csv has always had units in brackets. */
#define DATA(csv, json, u, ...)                                                                    \
	{ .key = (csv), .readers = UT_FOR_CSV, __VA_ARGS__ },                                      \
	{                                                                                          \
		.key = (json), .unit = (u), .readers = UT_FOR_JSON, .optional = true, __VA_ARGS__  \
	}
#define NUMBER .type = UT_REPORT_COUNT

/* The second is a launch where a log has no ops. */
static const struct ut_report_column kernel_columns[] = {
	{ .key = "chip", .title = "chip", NUMBER },
	{ .key = "op", .title = "op", NUMBER },
	{ .key = "start", .title = "start [cycles]", .unit = "cycles", NUMBER, PEOPLE },
	{ .key = "cores", .title = "cores", NUMBER, PEOPLE },
	TIME("firmware", "firmware"),
	TIME("kernel", "kernel"),
	TIME("gap_before", "gap before"),
	{ .key = "slowest_core", .title = "slowest core", .type = UT_REPORT_TEXT, PEOPLE },
	DATA("trace id", "trace_id", NULL, NUMBER),
	DATA("replay", "replay", NULL, NUMBER),
	DATA("start [cycles]", "start", "cycles", NUMBER),
	DATA("cores", "cores", NULL, NUMBER),
	DATA("firmware [cycles]", "firmware", "cycles", NUMBER),
	DATA("kernel [cycles]", "kernel", "cycles", NUMBER),
	DATA("kernel [ns]", "kernel", "ns", .type = UT_REPORT_NUMBER,
	     .data_digits = UT_DIGITS_FIXED),
	DATA("gap before [cycles]", "gap_before", "cycles", NUMBER),
	DATA("slowest core", "slowest_core", NULL, .type = UT_REPORT_WORD),
	DATA("slowest core [cycles]", "slowest_core", "cycles", NUMBER),
};

#define COLUMNS (sizeof(kernel_columns) / sizeof(kernel_columns[0]))

/* Texts of the slowest core, for people and for programs. */
struct core_texts {
	char said[80], place[32];
};

static size_t people_cells(struct ut_report_cell *to, const struct ut_tt_log *log,
			   const struct ut_tt_kernel *r, const char *core)
{
	size_t n = 0;

	to[n++] = ut_report_i64(log->chips[r->chip].id);
	to[n++] = ut_report_u64(r->op);
	to[n++] = ut_report_u64(r->start);
	to[n++] = ut_report_u64(r->cores);
	to[n++] = ut_report_u64(whole_ns(log, r->firmware));
	to[n++] = ut_report_u64(whole_ns(log, r->kernel));
	to[n++] = r->gap < 0 ? ut_report_said(ut_report_none(), "-")
			     : ut_report_u64(whole_ns(log, (uint64_t)r->gap));
	to[n++] = ut_report_text(core);
	return n;
}

/* CSV and JSON have the same, each in a column of its own. */
static size_t both(struct ut_report_cell *to, struct ut_report_cell cell)
{
	to[0] = to[1] = cell;
	return 2;
}

static struct ut_report_cell if_known(int64_t value)
{
	return value >= 0 ? ut_report_i64(value) : ut_report_none();
}

static void tt_kernels_add_kernel(struct ut_report *report, const struct ut_tt_log *log,
				  const struct ut_tt_kernel *r)
{
	const struct ut_tt_core *core = r->slowest != UINT32_MAX ? &log->cores[r->slowest] : NULL;
	const struct ut_report_cell none = ut_report_none();
	struct ut_report_cell cells[COLUMNS];
	struct core_texts texts = { .said = "-" };
	size_t n;

	if (core) {
		snprintf(texts.said, sizeof(texts.said),
			 "(%" PRId32 ", %" PRId32 ") %" PRIu64 " cycles", core->x, core->y,
			 r->slowest_cycles);
		snprintf(texts.place, sizeof(texts.place), "%" PRId32 ";%" PRId32, core->x,
			 core->y);
	}
	n = people_cells(cells, log, r, texts.said);
	n += both(cells + n, if_known(r->trace));
	n += both(cells + n, if_known(r->replay));
	n += both(cells + n, ut_report_u64(r->start));
	n += both(cells + n, ut_report_u64(r->cores));
	n += both(cells + n, ut_report_u64(r->firmware));
	n += both(cells + n, ut_report_u64(r->kernel));
	n += both(cells + n, ut_report_real(tt_kernels_to_ns(log, r->kernel)));
	n += both(cells + n, if_known(r->gap));
	n += both(cells + n, core ? ut_report_text(texts.place) : none);
	both(cells + n, core ? ut_report_u64(r->slowest_cycles) : none);
	ut_report_add(report, cells);
}

int ut_tt_kernels_print(const struct ut_tt_kernels *k, const struct ut_tt_log *log,
			struct ut_out *out, const struct ut_report_opts *opts, struct ut_err *err)
{
	struct ut_report_column columns[COLUMNS];
	const struct ut_report_table table = { .columns = columns, .count = COLUMNS };
	struct ut_report *r = ut_report_open(out, opts);
	int rc;

	memcpy(columns, kernel_columns, sizeof(columns));
	if (!log->zones)
		columns[1].key = columns[1].title = "launch";
	rc = ut_report_begin(r, &table, err);
	if (!rc) {
		for (size_t i = 0; i < k->count; i++)
			tt_kernels_add_kernel(r, log, &k->items[i]);
		ut_report_end(r);
	}
	ut_report_close(r);
	return rc;
}
