#include "report/table_stats.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <string.h>

#include "text/cells.h"
#include "text/out.h"
#include "text/table_report.h"

#define NAME_COLUMNS 48
#define MOST_BARS    24
#define BAR_COLUMNS  48
#define MOST_COLUMNS (UT_BY_COUNT + 15)

#define TIME(k, t)                                                                                 \
	{                                                                                          \
		.key = (k), .title = (t), .unit = "ns", .type = UT_REPORT_TIME                     \
	}

/* What comes after the key. The share stands last in CSV, where new columns are added at the end.
 */
static const struct ut_report_column span_columns[] = {
	{ .key = "count", .title = "Count", .type = UT_REPORT_COUNT },
	{ .key = "unfinished",
	  .title = "Unfinished",
	  .type = UT_REPORT_COUNT,
	  .readers = UT_FOR_PEOPLE,
	  .if_any = true },
	TIME("total", "Total"),
	{ .key = "self", .title = "Self", .unit = "ns", .type = UT_REPORT_TIME, .rest = true },
	{ .key = "share",
	  .title = "Share",
	  .unit = "%",
	  .type = UT_REPORT_SHARE,
	  .readers = UT_FOR_PEOPLE | UT_FOR_JSON },
	TIME("mean", "Mean"),
	TIME("p50", "P50"),
	TIME("p90", "P90"),
	TIME("p99", "P99"),
	TIME("min", "Min"),
	TIME("max", "Max"),
	{ .key = "stddev",
	  .title = "Stddev",
	  .unit = "ns",
	  .type = UT_REPORT_TIME,
	  .data_digits = UT_DIGITS_FIXED + 3 },
	{ .key = "unfinished", .type = UT_REPORT_COUNT, .readers = UT_FOR_PROGRAMS },
	{ .key = "share", .unit = "%", .type = UT_REPORT_SHARE, .readers = UT_FOR_CSV },
	{ .key = "histogram", .type = UT_REPORT_TEXT, .readers = UT_FOR_JSON, .optional = true },
};

static const struct ut_report_column instant_columns[] = {
	{ .key = "count", .title = "Count", .type = UT_REPORT_COUNT },
};

#define NUMBER(k, t)                                                                               \
	{                                                                                          \
		.key = (k), .title = (t), .type = UT_REPORT_NUMBER, .data_digits = UT_DIGITS_ALL   \
	}

static const struct ut_report_column counter_columns[] = {
	{ .key = "unit", .title = "Unit", .type = UT_REPORT_TEXT, .most = NAME_COLUMNS },
	{ .key = "count", .title = "Count", .type = UT_REPORT_COUNT },
	{ .key = "bad", .type = UT_REPORT_COUNT, .readers = UT_FOR_JSON },
	NUMBER("min", "Min"),
	NUMBER("max", "Max"),
	NUMBER("mean", "Mean"),
	NUMBER("last", "Last"),
	{ .key = "bad", .type = UT_REPORT_COUNT, .readers = UT_FOR_CSV },
};

static const struct ut_report_column bar_columns[] = {
	TIME("from", "From"),
	TIME("below", "Below"),
	{ .key = "count", .title = "Count", .type = UT_REPORT_COUNT },
	{ .key = "bar", .title = "", .type = UT_REPORT_TEXT },
};

/* ---- keys ---------------------------------------------------------------------------------- */

size_t ut_stats_key_columns(struct ut_report_column *to, unsigned int by)
{
	size_t n = 0;

	for (int i = 0; i < UT_BY_COUNT; i++) {
		if (by >> i & 1)
			to[n++] = (struct ut_report_column){ .key = ut_by_words[i],
							     .title = ut_by_titles[i],
							     .type = UT_REPORT_TEXT,
							     .most = NAME_COLUMNS };
	}
	return n;
}

size_t ut_stats_key_cells(struct ut_report_cell *to, const struct ut_stats *s, const uint32_t *key,
			  unsigned int by)
{
	size_t n = 0;

	for (int i = 0; i < UT_BY_COUNT; i++) {
		struct ut_str str = ut_strtab_get(&s->strings, key[i]);

		if (by >> i & 1)
			to[n++] = ut_report_said(ut_report_str(str), str.len ? NULL : "-");
	}
	return n;
}

/* ---- tables -------------------------------------------------------------------------------- */

struct columns {
	struct ut_report_column list[MOST_COLUMNS];
	struct ut_report_table table;
};

static unsigned int keys_of(unsigned int by, enum ut_stats_what what)
{
	return what == UT_STATS_COUNTERS ? by | 1u << UT_BY_NAME : by;
}

static void report_table_stats_make_columns(struct columns *c, unsigned int by,
					    enum ut_stats_what what)
{
	static const struct {
		const struct ut_report_column *columns;
		size_t count;
	} rest[] = {
		[UT_STATS_SPANS] = { span_columns, sizeof(span_columns) / sizeof(*span_columns) },
		[UT_STATS_COUNTERS] = { counter_columns,
					sizeof(counter_columns) / sizeof(*counter_columns) },
		[UT_STATS_INSTANTS] = { instant_columns,
					sizeof(instant_columns) / sizeof(*instant_columns) },
	};
	size_t n = ut_stats_key_columns(c->list, keys_of(by, what));

	memcpy(c->list + n, rest[what].columns, rest[what].count * sizeof(*c->list));
	c->table = (struct ut_report_table){ .columns = c->list, .count = n + rest[what].count };
}

int ut_stats_check_sort(unsigned int by, const struct ut_stats_view *v, const char *sort,
			struct ut_err *err)
{
	struct columns c;

	if (sort && !strcmp(sort, "name"))
		return 0;
	report_table_stats_make_columns(&c, by, v->what);
	return ut_report_check_sort(&c.table, sort, err);
}

static bool is_meant(const struct ut_stats *s, const struct ut_stats_group *g, const char *pattern)
{
	const char *name = ut_strtab_get(&s->strings, g->key[UT_BY_NAME]).ptr;

	return pattern && (!strcmp(name, pattern) || !fnmatch(pattern, name, 0));
}

static struct ut_report_cell big(ut_u128 value)
{
	return (struct ut_report_cell){ .type = UT_CELL_BIG,
					.big = { (uint64_t)(value >> 64), (uint64_t)value } };
}

static void put_steps(struct ut_out *o, const struct ut_dist *d)
{
	struct ut_dist_step step = { 0 };
	const char *comma = "[";

	while (ut_dist_next(d, &step)) {
		ut_out_fmt(o, "%s[%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]", comma, step.low, step.high,
			   step.count);
		comma = ",";
	}
	ut_out_text(o, *comma == '[' ? "[]" : "]");
}

/* Where a histogram is asked for, JSON has it as a member; steps is where its text is made. */
static struct ut_report_cell histogram_cell(const struct ut_stats *s,
					    const struct ut_stats_group *g,
					    const struct ut_stats_view *v, struct ut_out *steps)
{
	struct ut_report_cell cell = { .type = UT_CELL_JSON };

	if (!is_meant(s, g, v->histogram))
		return ut_report_none();
	ut_out_clear(steps);
	put_steps(steps, &g->dist);
	cell.text.ptr = ut_out_data(steps, &cell.text.len);
	return cell;
}

static void report_table_stats_add_span(struct ut_report *r, const struct ut_stats *s,
					const struct ut_stats_group *g, ut_u128 busy,
					struct ut_report_cell histogram)
{
	const struct ut_dist *d = &g->dist;
	const bool work = ut_stats_is_work(g);
	const struct ut_report_cell share = work ? ut_report_real(ut_stats_share(g->self, busy))
						 : ut_report_said(ut_report_none(), "-");
	const struct ut_report_cell rest[] = {
		ut_report_u64(d->count),
		g->unfinished ? ut_report_u64(g->unfinished) : ut_report_none(),
		big(ut_stats_total(g)),
		ut_report_said(big(g->self), work ? NULL : "-"),
		share,
		ut_report_u64(ut_dist_mean(d)),
		ut_report_u64(ut_dist_quantile(d, 500)),
		ut_report_u64(ut_dist_quantile(d, 900)),
		ut_report_u64(ut_dist_quantile(d, 990)),
		ut_report_u64(d->min),
		ut_report_u64(d->max),
		ut_report_real(ut_dist_stddev(d)),
		ut_report_u64(g->unfinished),
		share,
		histogram,
	};
	struct ut_report_cell cells[MOST_COLUMNS];
	size_t n = ut_stats_key_cells(cells, s, g->key, s->by);

	memcpy(cells + n, rest, sizeof(rest));
	ut_report_add(r, cells);
}

/* The order of texts is ours: it is about all of them, and the order among equals. */
static const struct ut_stats_group **order(struct ut_stats *s, struct ut_report_opts *opts,
					   size_t *count)
{
	const struct ut_stats_group **list =
		ut_stats_order(s, opts->sort ? UT_SORT_NAME : UT_SORT_TOTAL, count);

	if (opts->sort && !strcmp(opts->sort, "name"))
		opts->sort = NULL;
	return list;
}

static void put_spans(struct ut_out *o, struct ut_stats *s, const struct ut_stats_view *v,
		      struct ut_report_opts opts)
{
	size_t count;
	const struct ut_stats_group **list = order(s, &opts, &count);
	struct ut_report *r;
	struct ut_out *steps = v->histogram ? ut_out_open_memory() : NULL;
	ut_u128 busy = ut_stats_busy(s);
	struct columns c;
	long double self;
	uint64_t left;

	report_table_stats_make_columns(&c, s->by, UT_STATS_SPANS);
	r = ut_report_start(o, &opts, &c.table);
	for (size_t i = 0; i < count; i++)
		report_table_stats_add_span(r, s, list[i], busy,
					    histogram_cell(s, list[i], v, steps));
	ut_report_end(r);
	left = ut_report_left(r, &self);
	if (left && ut_report_for_people(r))
		ut_out_fmt(o, "... and %" PRIu64 " more, %.1f%% of the time; --rows 0 shows them\n",
			   left, ut_stats_share((ut_u128)self, busy));
	ut_out_abandon(steps);
	ut_report_close(r);
}

static void report_table_stats_end(struct ut_report *r, struct ut_out *o)
{
	uint64_t left;

	ut_report_end(r);
	left = ut_report_left(r, NULL);
	if (left && ut_report_for_people(r))
		ut_out_fmt(o, "... and %" PRIu64 " more; --rows 0 shows them\n", left);
	ut_report_close(r);
}

static void put_instants(struct ut_out *o, struct ut_stats *s, const struct ut_report_opts *opts)
{
	size_t count;
	const struct ut_stats_group **list = ut_stats_order_instants(s, &count);
	struct ut_report *r;
	struct columns c;

	report_table_stats_make_columns(&c, s->by, UT_STATS_INSTANTS);
	r = ut_report_start(o, opts, &c.table);
	for (size_t i = 0; i < count; i++) {
		struct ut_report_cell cells[MOST_COLUMNS];
		size_t n = ut_stats_key_cells(cells, s, list[i]->key, s->by);

		cells[n] = ut_report_u64(list[i]->instants);
		ut_report_add(r, cells);
	}
	report_table_stats_end(r, o);
}

/* Without a value there is no least and no mean one. */
static struct ut_report_cell measured(const struct ut_stats_counter *c, double value)
{
	return c->values ? ut_report_real(value) : ut_report_said(ut_report_none(), "-");
}

static void put_counters(struct ut_out *o, struct ut_stats *s, const struct ut_report_opts *opts)
{
	size_t count;
	const struct ut_stats_counter **list = ut_stats_order_counters(s, &count);
	struct ut_report *r;
	struct columns columns;

	report_table_stats_make_columns(&columns, s->by, UT_STATS_COUNTERS);
	r = ut_report_start(o, opts, &columns.table);
	for (size_t i = 0; i < count; i++) {
		const struct ut_stats_counter *c = list[i];
		const struct ut_report_cell rest[] = {
			ut_report_str(ut_strtab_get(&s->strings, c->unit)),
			ut_report_u64(c->count),
			ut_report_u64(c->bad),
			measured(c, c->min),
			measured(c, c->max),
			measured(c, ut_stats_counter_mean(c)),
			measured(c, c->last),
			ut_report_u64(c->bad),
		};
		struct ut_report_cell cells[MOST_COLUMNS];
		size_t n = ut_stats_key_cells(cells, s, c->key, keys_of(s->by, UT_STATS_COUNTERS));

		memcpy(cells + n, rest, sizeof(rest));
		ut_report_add(r, cells);
	}
	report_table_stats_end(r, o);
}

/* ---- histograms ---------------------------------------------------------------------------- */

/* How many steps of the distribution a bar stands for: a power of two, so that bars fit steps. */
static uint32_t bar_width(const struct ut_dist *d)
{
	uint32_t width = UT_DIST_STEPS / 8;

	while (ut_dist_index(d->max) / width - ut_dist_index(d->min) / width >= MOST_BARS)
		width *= 2;
	return width;
}

static void add_bar(struct ut_report *r, uint32_t bar, uint32_t width, uint64_t n, uint64_t most)
{
	char marks[BAR_COLUMNS + 1];
	size_t len = (size_t)((ut_u128)n * BAR_COLUMNS / most);

	memset(marks, '#', sizeof(marks));
	len += n && !len;
	ut_report_add(r, (const struct ut_report_cell[]){
				 ut_report_u64(ut_dist_low(bar * width)),
				 ut_report_u64(ut_dist_low((bar + 1) * width)),
				 ut_report_u64(n),
				 ut_report_str((struct ut_str){ marks, len }),
			 });
}

static void put_histogram(struct ut_out *o, const struct ut_report_opts *opts,
			  const struct ut_dist *d)
{
	static const struct ut_report_table table = {
		.columns = bar_columns, .count = sizeof(bar_columns) / sizeof(*bar_columns)
	};
	uint32_t width = bar_width(d), first = ut_dist_index(d->min) / width;
	uint64_t bars[MOST_BARS] = { 0 }, most = 1;
	struct ut_dist_step step = { 0 };
	struct ut_report *r;

	while (ut_dist_next(d, &step))
		bars[ut_dist_index(step.low) / width - first] += step.count;
	for (size_t i = 0; i < MOST_BARS; i++)
		most = bars[i] > most ? bars[i] : most;
	r = ut_report_start(o, opts, &table);
	for (uint32_t i = first; i <= ut_dist_index(d->max) / width; i++)
		add_bar(r, i, width, bars[i - first], most);
	ut_report_finish(r);
}

static void text_title(struct ut_out *o, const struct ut_stats *s, const uint32_t *key)
{
	struct ut_buf b = { 0 };

	for (int i = 0; i < UT_BY_COUNT; i++) {
		struct ut_str str = ut_strtab_get(&s->strings, key[i]);

		if (!(s->by >> i & 1))
			continue;
		ut_buf_text(&b, b.len ? ", " : "");
		ut_cell_name(&b, str.ptr, str.len, NAME_COLUMNS * 2);
	}
	ut_out_fmt(o, "%s\n", b.data ? b.data : "");
	ut_buf_release(&b);
}

static size_t span_cells(unsigned int by)
{
	struct columns c;

	report_table_stats_make_columns(&c, by, UT_STATS_SPANS);
	return c.table.count;
}

struct histograms {
	struct ut_out *out;
	struct ut_report_opts bars;
	const struct ut_stats *stats;
	const struct ut_stats_group **list;
	bool more;
};

/* The last cell of a row says which one it is. */
static void next_histogram(void *ctx, const struct ut_report_cell *cells)
{
	struct histograms *h = ctx;
	const struct ut_stats_group *g = h->list[cells[span_cells(h->stats->by) - 1].u64];

	ut_out_text(h->out, h->more ? "\n" : "");
	h->more = true;
	text_title(h->out, h->stats, g->key);
	put_histogram(h->out, &h->bars, &g->dist);
}

/* In the order and number of the rows that the table would have. */
static void put_histograms(struct ut_out *o, struct ut_stats *s, const struct ut_stats_view *v,
			   struct ut_report_opts opts)
{
	struct histograms h = { .out = o, .bars = opts, .stats = s };
	ut_u128 busy = ut_stats_busy(s);
	struct ut_report *r;
	struct columns c;
	size_t count;

	h.list = order(s, &opts, &count);
	h.bars.sort = NULL;
	h.bars.limit = 0;
	opts.format = UT_REPORT_CALL;
	opts.row = next_histogram;
	opts.ctx = &h;
	report_table_stats_make_columns(&c, s->by, UT_STATS_SPANS);
	r = ut_report_start(o, &opts, &c.table);
	for (size_t i = 0; i < count; i++) {
		if (is_meant(s, h.list[i], v->histogram) && h.list[i]->dist.count)
			report_table_stats_add_span(r, s, h.list[i], busy, ut_report_u64(i));
	}
	ut_report_finish(r);
	if (!h.more)
		ut_out_text(o, "no spans of that name\n");
}

/* ---- all ----------------------------------------------------------------------------------- */

static void json_head(struct ut_out *o, const struct ut_stats *s)
{
	const char *comma = "";

	ut_out_fmt(o, "{\"traces\":%" PRIu64 ",\"processes\":%" PRIu64 ",\"tracks\":%" PRIu64,
		   s->traces, s->processes, s->tracks);
	ut_out_fmt(o, ",\"events\":%" PRIu64 ",\"by\":[", s->rows);
	for (int i = 0; i < UT_BY_COUNT; i++) {
		if (!(s->by >> i & 1))
			continue;
		ut_out_fmt(o, "%s\"%s\"", comma, ut_by_words[i]);
		comma = ",";
	}
	ut_out_text(o, "],\n\"spans\":[");
}

static void report_table_stats_put_json(struct ut_out *o, struct ut_stats *s,
					const struct ut_stats_view *v, struct ut_report_opts opts)
{
	json_head(o, s);
	opts.first = "\n";
	opts.open = "";
	opts.close = "\n],\n\"instants\":[";
	put_spans(o, s, v, opts);
	opts.sort = NULL;
	opts.close = "\n],\n\"counters\":[";
	put_instants(o, s, &opts);
	opts.close = "\n]}\n";
	put_counters(o, s, &opts);
}

/* Without an order: that of spans puts the durations of every group in order, too. */
static bool has_spans(const struct ut_stats *s)
{
	for (size_t i = 1; i <= s->group_count; i++) {
		if (s->groups[i].dist.count || s->groups[i].unfinished)
			return true;
	}
	return false;
}

static bool has_rows(struct ut_stats *s, enum ut_stats_what what)
{
	size_t count;

	if (what == UT_STATS_SPANS)
		return has_spans(s);
	if (what == UT_STATS_COUNTERS)
		ut_stats_order_counters(s, &count);
	else
		ut_stats_order_instants(s, &count);
	return count;
}

void ut_stats_print(struct ut_out *o, struct ut_stats *s, const struct ut_stats_view *v,
		    const struct ut_report_opts *opts)
{
	static const char *const nothing[] = { [UT_STATS_SPANS] = "no spans\n",
					       [UT_STATS_COUNTERS] = "no counters\n",
					       [UT_STATS_INSTANTS] = "no instants\n" };

	if (opts->format == UT_REPORT_JSON)
		report_table_stats_put_json(o, s, v, *opts);
	else if (opts->format == UT_REPORT_TABLE && v->histogram)
		put_histograms(o, s, v, *opts);
	else if (opts->format == UT_REPORT_TABLE && !has_rows(s, v->what))
		ut_out_text(o, nothing[v->what]);
	else if (v->what == UT_STATS_COUNTERS)
		put_counters(o, s, opts);
	else if (v->what == UT_STATS_INSTANTS)
		put_instants(o, s, opts);
	else
		put_spans(o, s, v, *opts);
}
