/*
 * devlog_sheets.c - the tables of a log for the tabs of web/src/tools/devlog.tsx, as sheets:
 *
 *   cores  {mhz, lanes}     a row per RISC of a core: its kernels, its firmware, how busy it was
 *   zones  {zones, lanes}   a row per zone and kind of RISC; per zone and row of cores.lanes
 *   ops    {ops, lanes, left}  a row per op (or launch); per op and row of cores.lanes
 *   stats  {chips, cores}   the statistics of the original; the same per core
 *
 * Of very many rows the longest are there; `more` and `left` tell how many are not.
 */
#include "tt/devlog_page.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/idmap.h"
#include "base/sort.h"
#include "text/out.h"
#include "tt/bars.h"
#include "tt/kernels.h"
#include "view/sheet.h"
#include "view/view.h"

#define MOST_SHARES   200000u /* of lanes in ops */
#define MOST_OPS      20000u
#define MOST_IN_LANES 100000u /* zones of lanes */
#define MOST_OF_CORES 100000u /* statistics of cores */

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

struct sums {
	uint64_t count, total, min, max;
};

struct page {
	const struct ut_tt_shown *s;
	const struct ut_tt_log *log;
	struct ut_view *view;
	uint32_t *lanes; /* in the order of the table */
	size_t lane_count;
	uint32_t *row_of;                /* lane -> row of the table + 1 */
	struct sums *kernels, *firmware; /* per row */
	struct ut_tt_bars bars;
};

static double devlog_sheets_ns(const struct page *p, uint64_t cycles)
{
	return (double)cycles * 1000 / (double)p->log->mhz;
}

static void add_sum(struct sums *s, uint64_t cycles)
{
	s->min = !s->count || cycles < s->min ? cycles : s->min;
	s->max = cycles > s->max ? cycles : s->max;
	s->total += cycles;
	s->count++;
}

static void devlog_sheets_attach(struct page *p, const char *name, struct ut_out *json)
{
	ut_view_attach(p->view, UT_TT_TOOL, UT_TT_TITLE, name, json);
}

static void devlog_sheets_put_text(struct ut_sheet *t, const char *text)
{
	ut_sheet_text(t, (struct ut_str){ text, strlen(text) });
}

/* ---- zones ---------------------------------------------------------------------------------- */

struct zone {
	uint32_t label, risc;
	struct sums sums;
};

struct zones {
	struct ut_idmap numbers, by_risc; /* of labels; of zones */
	struct ut_buf *labels;
	size_t label_count, label_cap;
	struct zone *all;
	size_t count, cap;
	/* of one lane: its labels, and their sums */
	struct sums *sums;
	uint32_t *met;
	size_t sum_cap, met_count, met_cap;
	struct ut_sheet lanes;
	uint64_t more;
};

/* What tells labels apart: the marks at both ends, or the zone. */
static uint64_t label_key(const struct page *p, const struct ut_tt_bar *bar)
{
	const struct ut_tt_mark *from = &p->log->marks[p->log->rows[bar->row].mark];

	if (p->log->zones)
		return (uint64_t)from->zone + 1;
	return ((uint64_t)(from->id + 1) << 32 ^
		(uint64_t)(p->log->marks[p->log->rows[bar->end_row].mark].id + 1));
}

static uint32_t label_of(const struct page *p, struct zones *z, const struct ut_tt_bar *bar)
{
	uint64_t key = label_key(p, bar);
	uint32_t number = ut_idmap_get(&z->numbers, key);

	if (number)
		return number - 1;
	z->labels = ut_grow(z->labels, z->label_count + 1, &z->label_cap, sizeof(*z->labels));
	ut_tt_bar_label(p->log, bar, !p->log->zones, &z->labels[z->label_count]);
	ut_idmap_put(&z->numbers, key, (uint32_t)++z->label_count);
	return (uint32_t)z->label_count - 1;
}

static struct zone *find_zone(struct zones *z, uint32_t label, uint32_t risc)
{
	uint64_t key = ((uint64_t)label << 32 | risc) + 1;
	uint32_t number = ut_idmap_get(&z->by_risc, key);

	if (!number) {
		z->all = ut_grow(z->all, z->count + 1, &z->cap, sizeof(*z->all));
		z->all[z->count] = (struct zone){ .label = label, .risc = risc };
		number = (uint32_t)++z->count;
		ut_idmap_put(&z->by_risc, key, number);
	}
	return &z->all[number - 1];
}

static void count_bars(struct page *p, struct zones *z)
{
	for (size_t i = 0; i < p->bars.count; i++) {
		const struct ut_tt_bar *bar = &p->bars.items[i];
		uint32_t label;

		if (bar->kind == UT_TT_BAR_IDLE && bar->end_row == UINT32_MAX)
			continue;
		label = label_of(p, z, bar);
		z->sums = ut_grow(z->sums, z->label_count, &z->sum_cap, sizeof(*z->sums));
		if (!z->sums[label].count) {
			z->met = ut_grow(z->met, z->met_count + 1, &z->met_cap, sizeof(*z->met));
			z->met[z->met_count++] = label;
		}
		add_sum(&z->sums[label], bar->cycles);
	}
}

static void end_lane(struct page *p, struct zones *z, size_t row)
{
	uint32_t risc = p->log->lanes[p->lanes[row]].risc;

	for (size_t i = 0; i < z->met_count; i++) {
		struct sums *s = &z->sums[z->met[i]];
		struct sums *all = &find_zone(z, z->met[i], risc)->sums;

		all->min = !all->count || s->min < all->min ? s->min : all->min;
		all->max = s->max > all->max ? s->max : all->max;
		all->total += s->total;
		all->count += s->count;
		if (z->lanes.rows < MOST_IN_LANES) {
			ut_sheet_u64(&z->lanes, row);
			ut_sheet_u64(&z->lanes, z->met[i]);
			ut_sheet_u64(&z->lanes, s->count);
			ut_sheet_double(&z->lanes, devlog_sheets_ns(p, s->total));
			ut_sheet_double(&z->lanes, devlog_sheets_ns(p, s->max));
		} else {
			z->more++;
		}
		*s = (struct sums){ 0 };
	}
	z->met_count = 0;
}

static void put_zones(struct page *p, struct zones *z)
{
	static const struct ut_sheet_column columns[] = {
		{ .key = "zone", .title = "Zone", .type = "name" },
		{ .key = "risc", .title = "RISC", .type = "text" },
		{ .key = "count", .title = "Count", .type = "count" },
		{ .key = "time", .title = "Time", .type = "time" },
		{ .key = "sum", .title = "Sum", .type = "number", .unit = "cycles" },
		{ .key = "average", .title = "Average", .type = "number", .unit = "cycles" },
		{ .key = "min", .title = "Min", .type = "number", .unit = "cycles" },
		{ .key = "max", .title = "Max", .type = "number", .unit = "cycles" },
		{ .key = "label", .title = "Label", .type = "number" },
	};
	struct ut_out *json = ut_out_open_memory();
	struct ut_sheet t;

	ut_sheet_init(&t, columns, COUNT(columns));
	for (size_t i = 0; i < z->count; i++) {
		const struct zone *one = &z->all[i];
		const struct ut_buf *label = &z->labels[one->label];

		ut_sheet_text(&t, (struct ut_str){ label->data, label->len });
		ut_sheet_text(&t, ut_tt_str(p->log, p->log->riscs[one->risc].name));
		ut_sheet_u64(&t, one->sums.count);
		ut_sheet_double(&t, devlog_sheets_ns(p, one->sums.total));
		ut_sheet_u64(&t, one->sums.total);
		ut_sheet_double(&t, (double)one->sums.total / (double)one->sums.count);
		ut_sheet_u64(&t, one->sums.min);
		ut_sheet_u64(&t, one->sums.max);
		ut_sheet_u64(&t, one->label);
	}
	ut_out_text(json, "{\"zones\":");
	ut_sheet_write(&t, 0, json);
	ut_out_text(json, ",\"lanes\":");
	ut_sheet_write(&z->lanes, z->more, json);
	ut_out_text(json, "}");
	devlog_sheets_attach(p, "zones", json);
}

/* One look at every lane: its zones, kernels and firmware. */
static void look_at_lanes(struct page *p)
{
	static const struct ut_sheet_column columns[] = {
		{ .key = "lane", .title = "Lane", .type = "number" },
		{ .key = "label", .title = "Label", .type = "number" },
		{ .key = "count", .title = "Count", .type = "count" },
		{ .key = "total", .title = "Total", .type = "time" },
		{ .key = "max", .title = "Max", .type = "time" },
	};
	struct zones z = { 0 };

	ut_sheet_init(&z.lanes, columns, COUNT(columns));
	for (size_t i = 0; i < p->lane_count; i++) {
		const struct ut_tt_lane *lane = &p->log->lanes[p->lanes[i]];

		if (!p->log->zones) {
			ut_tt_bars_gaps(&p->bars, p->log, lane);
			count_bars(p, &z);
		}
		ut_tt_bars_spans(&p->bars, p->log, lane);
		if (p->log->zones)
			count_bars(p, &z);
		for (size_t k = 0; k < p->bars.count; k++) {
			const struct ut_tt_bar *bar = &p->bars.items[k];

			if (bar->kind == UT_TT_BAR_KERNEL)
				add_sum(&p->kernels[i], bar->cycles);
			else if (bar->kind == UT_TT_BAR_FIRMWARE)
				add_sum(&p->firmware[i], bar->cycles);
		}
		end_lane(p, &z, i);
	}
	put_zones(p, &z);
	for (size_t i = 0; i < z.label_count; i++)
		ut_buf_release(&z.labels[i]);
	free(z.labels);
	free(z.all);
	free(z.sums);
	free(z.met);
	ut_idmap_release(&z.numbers);
	ut_idmap_release(&z.by_risc);
}

/* ---- cores ---------------------------------------------------------------------------------- */

/* From the first to the last row of a chip. */
static uint64_t span_of(const struct ut_tt_log *log, uint32_t chip)
{
	const struct ut_tt_chip *c = &log->chips[chip];
	const uint32_t *rows = log->by_chip + c->first;

	return log->rows[rows[c->count - 1]].ts - log->rows[rows[0]].ts;
}

static void put_measured(struct ut_sheet *t, bool known, double value)
{
	if (known)
		ut_sheet_double(t, value);
	else
		ut_sheet_null(t);
}

static void put_cores(struct page *p)
{
	static const struct ut_sheet_column columns[] = {
		{ .key = "chip", .title = "Chip", .type = "number" },
		{ .key = "x", .title = "X", .type = "number" },
		{ .key = "y", .title = "Y", .type = "number" },
		{ .key = "risc", .title = "RISC", .type = "text" },
		{ .key = "kernels", .title = "Kernels", .type = "count" },
		{ .key = "kernel", .title = "Kernel time", .type = "time" },
		{ .key = "mean", .title = "Mean kernel", .type = "time" },
		{ .key = "max", .title = "Longest kernel", .type = "time" },
		{ .key = "firmware", .title = "Firmware time", .type = "time", .wide = true },
		{ .key = "busy",
		  .title = "Busy",
		  .type = "share",
		  .hint = "in kernels, of the time from the first to the last marker of the chip" },
	};
	struct ut_out *json = ut_out_open_memory();
	struct ut_sheet t;

	ut_sheet_init(&t, columns, COUNT(columns));
	for (size_t i = 0; i < p->lane_count; i++) {
		const struct ut_tt_lane *lane = &p->log->lanes[p->lanes[i]];
		const struct ut_tt_core *core = &p->log->cores[lane->core];
		const struct sums *k = &p->kernels[i], *f = &p->firmware[i];
		uint64_t span = span_of(p->log, core->chip);

		ut_sheet_i64(&t, p->log->chips[core->chip].id);
		ut_sheet_i64(&t, core->x);
		ut_sheet_i64(&t, core->y);
		ut_sheet_text(&t, ut_tt_str(p->log, p->log->riscs[lane->risc].name));
		ut_sheet_u64(&t, k->count);
		put_measured(&t, k->count, devlog_sheets_ns(p, k->total));
		put_measured(&t, k->count,
			     k->count ? devlog_sheets_ns(p, k->total) / (double)k->count : 0);
		put_measured(&t, k->count, devlog_sheets_ns(p, k->max));
		put_measured(&t, f->count, devlog_sheets_ns(p, f->total));
		put_measured(&t, k->count && span, span ? (double)k->total / (double)span : 0);
	}
	ut_out_fmt(json, "{\"mhz\":%" PRIu64 ",\"lanes\":", p->log->mhz);
	ut_sheet_write(&t, 0, json);
	ut_out_text(json, "}");
	devlog_sheets_attach(p, "cores", json);
}

/* ---- ops ------------------------------------------------------------------------------------ */

static void put_op(struct page *p, const struct ut_tt_kernel *k, struct ut_sheet *t)
{
	const struct ut_tt_log *log = p->log;
	double mean = k->cores ? (double)k->core_cycles / k->cores : 0;
	bool worked = k->slowest != UINT32_MAX && k->slowest_cycles;
	char core[48] = "";

	if (worked)
		snprintf(core, sizeof(core), "(%" PRId32 ", %" PRId32 ")", log->cores[k->slowest].x,
			 log->cores[k->slowest].y);
	ut_sheet_u64(t, k->op);
	ut_sheet_i64(t, log->chips[k->chip].id);
	put_measured(t, k->trace >= 0, (double)k->trace);
	put_measured(t, k->replay >= 0, (double)k->replay);
	ut_sheet_u64(
		t, ut_view_since(p->view, 0, ut_tt_ns(log, p->s->align->shift[k->chip], k->start)));
	ut_sheet_u64(t, k->cores);
	ut_sheet_double(t, devlog_sheets_ns(p, k->firmware));
	put_measured(t, k->kernel_end, devlog_sheets_ns(p, k->kernel));
	put_measured(t, k->gap >= 0, devlog_sheets_ns(p, k->gap >= 0 ? (uint64_t)k->gap : 0));
	if (worked)
		devlog_sheets_put_text(t, core);
	else
		ut_sheet_null(t);
	put_measured(t, worked, devlog_sheets_ns(p, k->slowest_cycles));
	put_measured(t, worked && mean > 0, (double)k->slowest_cycles / (mean > 0 ? mean : 1) - 1);
}

struct length {
	uint64_t cycles;
	size_t op;
};

static int by_length(const void *a, const void *b)
{
	const struct length *x = a, *y = b;

	if (x->cycles != y->cycles)
		return x->cycles > y->cycles ? -1 : 1;
	return x->op < y->op ? -1 : x->op > y->op;
}

static int by_op(const void *a, const void *b)
{
	const struct length *x = a, *y = b;

	return x->op < y->op ? -1 : x->op > y->op;
}

/* The longest ops that fit, in their order. row_of: op -> row + 1. The caller frees. */
static struct length *choose_ops(const struct ut_tt_kernels *k, size_t *count, uint32_t *row_of)
{
	struct length *list = ut_make((k->count + 1) * sizeof(*list));

	*count = 0;
	for (size_t i = 0; i < k->count; i++)
		list[(*count)++] = (struct length){ k->items[i].kernel, i };
	if (*count > MOST_OPS) {
		ut_sort(list, *count, sizeof(*list), by_length);
		*count = MOST_OPS;
		ut_sort(list, *count, sizeof(*list), by_op);
	}
	for (size_t i = 0; i < *count; i++)
		row_of[list[i].op] = (uint32_t)i + 1;
	return list;
}

static void put_shares(struct page *p, const struct ut_tt_kernels *k, const uint32_t *row_of,
		       struct ut_out *json)
{
	static const struct ut_sheet_column columns[] = {
		{ .key = "op", .title = "Op", .type = "number" },
		{ .key = "lane", .title = "Lane", .type = "number" },
		{ .key = "kernel", .title = "Kernel", .type = "time" },
		{ .key = "late", .title = "Start after the first", .type = "time" },
	};
	struct ut_tt_shares shares = { 0 };
	struct ut_sheet t;

	ut_tt_shares_find(&shares, k, p->s->a, p->s->chip, MOST_SHARES);
	ut_sheet_init(&t, columns, COUNT(columns));
	for (size_t i = 0; i < shares.count; i++) {
		const struct ut_tt_share *one = &shares.items[i];

		if (!row_of[one->kernel] || !p->row_of[one->lane])
			continue;
		ut_sheet_u64(&t, row_of[one->kernel] - 1);
		ut_sheet_u64(&t, p->row_of[one->lane] - 1);
		ut_sheet_double(&t, devlog_sheets_ns(p, one->cycles));
		ut_sheet_double(
			&t, devlog_sheets_ns(p, one->start - k->items[one->kernel].kernel_start));
	}
	ut_out_text(json, ",\"lanes\":");
	ut_sheet_write(&t, 0, json);
	ut_out_fmt(json, ",\"left\":%zu}", shares.ops_left);
	ut_tt_shares_release(&shares);
}

static void put_ops(struct page *p, const struct ut_tt_kernels *k)
{
	static const struct ut_sheet_column columns[] = {
		{ .key = "op",
		  .title = "Op",
		  .type = "number",
		  .hint = "as the host numbers them; in a log without, the launch" },
		{ .key = "chip", .title = "Chip", .type = "number" },
		{ .key = "trace", .title = "Trace id", .type = "number", .wide = true },
		{ .key = "replay", .title = "Replay", .type = "number", .wide = true },
		{ .key = "start", .title = "Start", .type = "time" },
		{ .key = "cores", .title = "Cores", .type = "count" },
		{ .key = "firmware", .title = "Firmware", .type = "time", .wide = true },
		{ .key = "kernel", .title = "Kernel", .type = "time" },
		{ .key = "gap", .title = "Gap before", .type = "time" },
		{ .key = "slowest", .title = "Slowest core", .type = "text" },
		{ .key = "slowest_kernel", .title = "Its kernel", .type = "time" },
		{ .key = "skew",
		  .title = "Above the mean",
		  .type = "share",
		  .hint = "kernel of the slowest core by that of the mean core, less 1",
		  .is_signed = true },
	};
	uint32_t *row_of = ut_make((k->count + 1) * sizeof(*row_of));
	struct ut_out *json = ut_out_open_memory();
	size_t count;
	struct length *list = choose_ops(k, &count, row_of);
	struct ut_sheet t;

	ut_sheet_init(&t, columns, COUNT(columns));
	for (size_t i = 0; i < count; i++)
		put_op(p, &k->items[list[i].op], &t);
	ut_out_fmt(json, "{\"launches\":%s,\"ops\":", p->log->zones ? "false" : "true");
	ut_sheet_write(&t, k->count > MOST_OPS ? k->count - MOST_OPS : 0, json);
	put_shares(p, k, row_of, json);
	devlog_sheets_attach(p, "ops", json);
	free(list);
	free(row_of);
}

/* ---- statistics ----------------------------------------------------------------------------- */

static void devlog_sheets_put_stats(struct ut_sheet *t, const char *name,
				    const struct ut_tt_stats *st)
{
	devlog_sheets_put_text(t, name);
	ut_sheet_u64(t, st->count);
	ut_sheet_double(t, st->average);
	ut_sheet_i64(t, st->max);
	ut_sheet_double(t, st->median);
	ut_sheet_i64(t, st->min);
	ut_sheet_i64(t, st->sum);
}

#define STATS                                                                                      \
	{ .key = "name", .title = "Duration Name", .type = "text" },                               \
		{ .key = "count", .title = "Count", .type = "count" },                             \
		{ .key = "average", .title = "Average", .type = "number", .unit = "cycles" },      \
		{ .key = "max", .title = "Max", .type = "number", .unit = "cycles" },              \
		{ .key = "median", .title = "Median", .type = "number", .unit = "cycles" },        \
		{ .key = "min", .title = "Min", .type = "number", .unit = "cycles" },              \
	{                                                                                          \
		.key = "sum", .title = "Sum", .type = "number", .unit = "cycles"                   \
	}

static void put_chips(const struct page *p, struct ut_sheet *t)
{
	const struct ut_tt_analysis *a = p->s->a;
	uint32_t from, end = ut_tt_shown_chips(p->s, &from);

	for (uint32_t c = from; c < end; c++) {
		for (size_t i = 0; i < a->setup.count; i++) {
			if (!a->chips[c].summary[i].count)
				continue;
			ut_sheet_i64(t, p->log->chips[c].id);
			devlog_sheets_put_stats(t, a->setup.rules[i]->name,
						&a->chips[c].summary[i]);
		}
	}
}

static uint64_t put_core_stats(const struct page *p, struct ut_sheet *t)
{
	const struct ut_tt_analysis *a = p->s->a;
	uint32_t from, end = ut_tt_shown_chips(p->s, &from);
	uint64_t more = 0;

	for (size_t c = 0; c < p->log->core_count; c++) {
		const struct ut_tt_core *core = &p->log->cores[c];

		for (size_t i = 0; core->chip >= from && core->chip < end && i < a->cores[c].count;
		     i++) {
			const struct ut_tt_result *r = &a->results[a->cores[c].result + i];

			if (!r->stats.count || t->rows >= MOST_OF_CORES) {
				more += r->stats.count > 0;
				continue;
			}
			ut_sheet_i64(t, p->log->chips[core->chip].id);
			ut_sheet_i64(t, core->x);
			ut_sheet_i64(t, core->y);
			devlog_sheets_put_stats(t, a->setup.rules[r->rule]->name, &r->stats);
		}
	}
	return more;
}

static void put_statistics(struct page *p)
{
	static const struct ut_sheet_column of_chips[] = {
		{ .key = "chip", .title = "Chip", .type = "number" },
		STATS,
	};
	static const struct ut_sheet_column of_cores[] = {
		{ .key = "chip", .title = "Chip", .type = "number" },
		{ .key = "x", .title = "X", .type = "number" },
		{ .key = "y", .title = "Y", .type = "number" },
		STATS,
	};
	struct ut_out *json = ut_out_open_memory();
	struct ut_sheet t;
	uint64_t more;

	ut_sheet_init(&t, of_chips, COUNT(of_chips));
	put_chips(p, &t);
	ut_out_text(json, "{\"chips\":");
	ut_sheet_write(&t, 0, json);
	ut_out_text(json, ",\"cores\":");
	ut_sheet_init(&t, of_cores, COUNT(of_cores));
	more = put_core_stats(p, &t);
	ut_sheet_write(&t, more, json);
	ut_out_text(json, "}");
	devlog_sheets_attach(p, "stats", json);
}

/* ---- all of it ------------------------------------------------------------------------------ */

void ut_tt_attach_sheets(const struct ut_tt_shown *s, struct ut_view *v)
{
	struct page p = { .s = s, .log = s->a->log, .view = v };
	struct ut_tt_kernels kernels = { 0 };

	p.lanes = ut_tt_shown_lanes(s, &p.lane_count);
	p.row_of = ut_make((p.log->lane_count + 1) * sizeof(*p.row_of));
	for (size_t i = 0; i < p.lane_count; i++)
		p.row_of[p.lanes[i]] = (uint32_t)i + 1;
	p.kernels = ut_make((p.lane_count + 1) * sizeof(*p.kernels));
	p.firmware = ut_make((p.lane_count + 1) * sizeof(*p.firmware));
	look_at_lanes(&p);
	put_cores(&p);
	ut_tt_kernels_find(&kernels, s->a, s->chip);
	put_ops(&p, &kernels);
	put_statistics(&p);
	ut_tt_attach_findings(s, &kernels, v);
	ut_tt_kernels_release(&kernels);
	ut_tt_bars_release(&p.bars);
	free(p.lanes);
	free(p.row_of);
	free(p.kernels);
	free(p.firmware);
}
