#include "tt/kernels.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/grow.h"
#include "text/grid.h"
#include "text/out.h"
#include "tt/bars.h"

/* From the first to the last of some markers. */
struct extent {
	uint64_t first, last;
};

static void widen(struct extent *e, uint64_t ts)
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
};

static void one_begin(struct one *o, uint32_t chip)
{
	*o = (struct one){ .firmware = NOTHING, .kernel = NOTHING };
	o->k.chip = chip;
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
		widen(&o->firmware, r->ts);
	if (kind != UT_TT_BAR_KERNEL)
		return;
	widen(&o->kernel, r->ts);
	widen(&f->of_core[f->log->lanes[r->lane].core], r->ts);
}

static void one_core(struct finder *f, struct one *o, uint32_t core)
{
	uint64_t cycles = width(&f->of_core[core]);

	o->k.cores++;
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

	one_begin(&o, chip);
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
				one_begin(&launches[count++], number);
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

static int by_start(const void *pa, const void *pb)
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

	qsort(k, n, sizeof(*k), by_start);
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

void ut_tt_kernels_find(struct ut_tt_kernels *k, const struct ut_tt_analysis *a)
{
	const struct ut_tt_log *log = a->log;
	struct finder f = { .log = log, .to = k, .kinds = find_kinds(log) };

	f.stamp = ut_make((log->core_count + 1) * sizeof(*f.stamp));
	f.cores = ut_make((log->core_count + 1) * sizeof(*f.cores));
	f.of_core = ut_make((log->core_count + 1) * sizeof(*f.of_core));
	for (size_t i = 0; i <= log->core_count; i++)
		f.of_core[i] = NOTHING;
	for (uint32_t c = 0; c < log->chip_count; c++) {
		const struct ut_tt_ops *ops = &a->chips[c].ops;
		size_t before = k->count;

		for (size_t i = 0; i < ops->count; i++)
			find_op(&f, c, ops->rows + ops->first[i],
				ops->first[i + 1] - ops->first[i]);
		if (!log->zones)
			find_launches(&f, c);
		if (k->count > before)
			find_gaps(k->items + before, k->count - before);
	}
	free(f.kinds);
	free(f.stamp);
	free(f.cores);
	free(f.of_core);
}

void ut_tt_kernels_release(struct ut_tt_kernels *k)
{
	free(k->items);
	*k = (struct ut_tt_kernels){ 0 };
}

/* ---- tables -------------------------------------------------------------------------------- */

static double to_ns(const struct ut_tt_log *log, uint64_t cycles)
{
	return (double)cycles * 1000 / (double)log->mhz;
}

void ut_tt_kernels_csv(const struct ut_tt_kernels *k, const struct ut_tt_log *log,
		       struct ut_out *out)
{
	ut_out_fmt(out,
		   "chip,%s,trace id,replay,start [cycles],cores,firmware [cycles],"
		   "kernel [cycles],kernel [ns],gap before [cycles],slowest core,"
		   "slowest core [cycles]\n",
		   log->zones ? "op" : "launch");
	for (size_t i = 0; i < k->count; i++) {
		const struct ut_tt_kernel *r = &k->items[i];

		ut_out_fmt(out, "%" PRId32 ",%" PRIu64 ",", log->chips[r->chip].id, r->op);
		if (r->trace >= 0)
			ut_out_i64(out, r->trace);
		ut_out_text(out, ",");
		if (r->replay >= 0)
			ut_out_i64(out, r->replay);
		ut_out_fmt(out, ",%" PRIu64 ",%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%.0f,", r->start,
			   r->cores, r->firmware, r->kernel, to_ns(log, r->kernel));
		if (r->gap >= 0)
			ut_out_i64(out, r->gap);
		if (r->slowest != UINT32_MAX)
			ut_out_fmt(out, ",%" PRId32 ";%" PRId32 ",%" PRIu64 "\n",
				   log->cores[r->slowest].x, log->cores[r->slowest].y,
				   r->slowest_cycles);
		else
			ut_out_text(out, ",,\n");
	}
}

void ut_tt_kernels_print(const struct ut_tt_kernels *k, const struct ut_tt_log *log,
			 struct ut_out *out)
{
	struct ut_grid g = { 0 };

	ut_grid_column(&g, "chip", UT_GRID_RIGHT);
	ut_grid_column(&g, log->zones ? "op" : "launch", UT_GRID_RIGHT);
	ut_grid_column(&g, "start [cycles]", UT_GRID_RIGHT);
	ut_grid_column(&g, "cores", UT_GRID_RIGHT);
	ut_grid_column(&g, "firmware", UT_GRID_RIGHT);
	ut_grid_column(&g, "kernel", UT_GRID_RIGHT);
	ut_grid_column(&g, "gap before", UT_GRID_RIGHT);
	ut_grid_column(&g, "slowest core", UT_GRID_LEFT);
	for (size_t i = 0; i < k->count; i++) {
		const struct ut_tt_kernel *r = &k->items[i];
		const struct ut_tt_core *core =
			r->slowest != UINT32_MAX ? &log->cores[r->slowest] : NULL;

		ut_grid_fmt(&g, "%" PRId32, log->chips[r->chip].id);
		ut_grid_fmt(&g, "%" PRIu64, r->op);
		ut_grid_fmt(&g, "%" PRIu64, r->start);
		ut_grid_fmt(&g, "%" PRIu32, r->cores);
		ut_grid_time(&g, (uint64_t)to_ns(log, r->firmware));
		ut_grid_time(&g, (uint64_t)to_ns(log, r->kernel));
		if (r->gap < 0)
			ut_grid_text(&g, "-");
		else
			ut_grid_time(&g, (uint64_t)to_ns(log, (uint64_t)r->gap));
		if (core)
			ut_grid_fmt(&g, "(%" PRId32 ", %" PRId32 ") %" PRIu64 " cycles", core->x,
				    core->y, r->slowest_cycles);
		else
			ut_grid_text(&g, "-");
	}
	ut_grid_print(&g, out);
	ut_grid_release(&g);
}
