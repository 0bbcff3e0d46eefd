#include "export/table_stats.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <string.h>

#include "text/cells.h"
#include "text/grid.h"
#include "text/out.h"

#define NAME_COLUMNS 48
#define MOST_BARS    24
#define BAR_COLUMNS  48

void ut_stats_u128(struct ut_out *o, ut_u128 value)
{
	const uint64_t e18 = UINT64_C(1000000000000000000);

	if (value < e18) {
		ut_out_u64(o, (uint64_t)value);
		return;
	}
	ut_stats_u128(o, value / e18);
	ut_out_fmt(o, "%018" PRIu64, (uint64_t)(value % e18));
}

uint64_t ut_stats_u64(ut_u128 value)
{
	return value > UINT64_MAX ? UINT64_MAX : (uint64_t)value;
}

/* ---- text ---------------------------------------------------------------------------------- */

static void add_key_columns(struct ut_grid *g, unsigned int by)
{
	for (int i = 0; i < UT_BY_COUNT; i++) {
		if (by >> i & 1)
			ut_grid_column(g, ut_by_titles[i], UT_GRID_LEFT);
	}
}

static void add_key(struct ut_grid *g, const struct ut_stats *s, const uint32_t *key,
		    unsigned int by)
{
	for (int i = 0; i < UT_BY_COUNT; i++) {
		struct ut_str str = ut_strtab_get(&s->strings, key[i]);

		if (by >> i & 1)
			ut_grid_name(g, str.len ? str.ptr : "-", str.len ? str.len : 1,
				     NAME_COLUMNS);
	}
}

static void add_group(struct ut_grid *g, const struct ut_stats *s, const struct ut_stats_group *p,
		      ut_u128 busy)
{
	const struct ut_dist *d = &p->dist;

	add_key(g, s, p->key, s->by);
	ut_grid_count(g, d->count);
	ut_grid_time(g, ut_stats_u64(ut_stats_total(p)));
	if (ut_stats_is_work(p)) {
		ut_grid_time(g, ut_stats_u64(p->self));
		ut_grid_fmt(g, "%.1f%%", ut_stats_share(p->self, busy));
	} else {
		ut_grid_text(g, "-");
		ut_grid_text(g, "-");
	}
	ut_grid_time(g, ut_dist_mean(d));
	ut_grid_time(g, ut_dist_quantile(d, 500));
	ut_grid_time(g, ut_dist_quantile(d, 900));
	ut_grid_time(g, ut_dist_quantile(d, 990));
	ut_grid_time(g, d->min);
	ut_grid_time(g, d->max);
	ut_grid_time(g, (uint64_t)ut_dist_stddev(d));
}

static void text_rest(struct ut_out *o, const struct ut_stats_group **list, size_t shown,
		      size_t count, ut_u128 busy)
{
	ut_u128 self = 0;

	for (size_t i = shown; i < count; i++)
		self += list[i]->self;
	if (shown < count)
		ut_out_fmt(o, "... and %zu more, %.1f%% of the time; --rows 0 shows them\n",
			   count - shown, ut_stats_share(self, busy));
}

static void text_spans(struct ut_out *o, struct ut_stats *s, const struct ut_stats_view *v)
{
	static const char *const titles[] = { "Count", "Total", "Self", "Share", "Mean",  "P50",
					      "P90",   "P99",   "Min",  "Max",   "Stddev" };
	size_t count, rows;
	const struct ut_stats_group **list = ut_stats_order(s, v->sort, &count);
	ut_u128 busy = ut_stats_busy(s);
	struct ut_grid g = { 0 };

	if (!count) {
		ut_out_text(o, "no spans\n");
		return;
	}
	rows = v->rows && v->rows < count ? v->rows : count;
	add_key_columns(&g, s->by);
	for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
		ut_grid_column(&g, titles[i], UT_GRID_RIGHT);
	for (size_t i = 0; i < rows; i++)
		add_group(&g, s, list[i], busy);
	ut_grid_print(&g, o);
	ut_grid_release(&g);
	text_rest(o, list, rows, count, busy);
}

static void text_instants(struct ut_out *o, struct ut_stats *s, const struct ut_stats_view *v)
{
	size_t count, rows;
	const struct ut_stats_group **list = ut_stats_order_instants(s, &count);
	struct ut_grid g = { 0 };

	if (!count) {
		ut_out_text(o, "no instants\n");
		return;
	}
	rows = v->rows && v->rows < count ? v->rows : count;
	add_key_columns(&g, s->by);
	ut_grid_column(&g, "Count", UT_GRID_RIGHT);
	for (size_t i = 0; i < rows; i++) {
		add_key(&g, s, list[i]->key, s->by);
		ut_grid_count(&g, list[i]->instants);
	}
	ut_grid_print(&g, o);
	ut_grid_release(&g);
	if (rows < count)
		ut_out_fmt(o, "... and %zu more; --rows 0 shows them\n", count - rows);
}

static void text_counters(struct ut_out *o, struct ut_stats *s, const struct ut_stats_view *v)
{
	static const char *const titles[] = { "Count", "Min", "Max", "Mean", "Last" };
	const unsigned int by = s->by | 1u << UT_BY_NAME;
	size_t count, rows;
	const struct ut_stats_counter **list = ut_stats_order_counters(s, &count);
	struct ut_grid g = { 0 };

	if (!count) {
		ut_out_text(o, "no counters\n");
		return;
	}
	rows = v->rows && v->rows < count ? v->rows : count;
	add_key_columns(&g, by);
	ut_grid_column(&g, "Unit", UT_GRID_LEFT);
	for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
		ut_grid_column(&g, titles[i], UT_GRID_RIGHT);
	for (size_t i = 0; i < rows; i++) {
		const struct ut_stats_counter *c = list[i];
		struct ut_str unit = ut_strtab_get(&s->strings, c->unit);

		add_key(&g, s, c->key, by);
		ut_grid_name(&g, unit.ptr, unit.len, NAME_COLUMNS);
		ut_grid_count(&g, c->count);
		ut_grid_fmt(&g, "%.6g", c->min);
		ut_grid_fmt(&g, "%.6g", c->max);
		ut_grid_fmt(&g, "%.6g", ut_stats_counter_mean(c));
		ut_grid_fmt(&g, "%.6g", c->last);
	}
	ut_grid_print(&g, o);
	ut_grid_release(&g);
	if (rows < count)
		ut_out_fmt(o, "... and %zu more; --rows 0 shows them\n", count - rows);
}

/* ---- histograms ---------------------------------------------------------------------------- */

static bool is_meant(const struct ut_stats *s, const struct ut_stats_group *g, const char *pattern)
{
	const char *name = ut_strtab_get(&s->strings, g->key[UT_BY_NAME]).ptr;

	return pattern && (!strcmp(name, pattern) || !fnmatch(pattern, name, 0));
}

/* How many steps of the distribution a bar stands for: a power of two, so that bars fit steps. */
static uint32_t bar_width(const struct ut_dist *d)
{
	uint32_t width = UT_DIST_STEPS / 8;

	while (ut_dist_index(d->max) / width - ut_dist_index(d->min) / width >= MOST_BARS)
		width *= 2;
	return width;
}

static void put_bar(struct ut_grid *g, uint32_t bar, uint32_t width, uint64_t n, uint64_t most)
{
	char marks[BAR_COLUMNS + 1];
	size_t len = (size_t)((ut_u128)n * BAR_COLUMNS / most);

	memset(marks, '#', sizeof(marks));
	len += n && !len;
	ut_grid_time(g, ut_dist_low(bar * width));
	ut_grid_time(g, ut_dist_low((bar + 1) * width));
	ut_grid_count(g, n);
	ut_grid_name(g, marks, len, SIZE_MAX);
}

static void text_histogram(struct ut_out *o, const struct ut_dist *d)
{
	uint32_t width = bar_width(d), first = ut_dist_index(d->min) / width;
	uint64_t bars[MOST_BARS] = { 0 }, most = 1;
	struct ut_dist_step step = { 0 };
	struct ut_grid g = { 0 };

	while (ut_dist_next(d, &step))
		bars[ut_dist_index(step.low) / width - first] += step.count;
	for (size_t i = 0; i < MOST_BARS; i++)
		most = bars[i] > most ? bars[i] : most;
	ut_grid_column(&g, "From", UT_GRID_RIGHT);
	ut_grid_column(&g, "Below", UT_GRID_RIGHT);
	ut_grid_column(&g, "Count", UT_GRID_RIGHT);
	ut_grid_column(&g, "", UT_GRID_LEFT);
	for (uint32_t i = first; i <= ut_dist_index(d->max) / width; i++)
		put_bar(&g, i, width, bars[i - first], most);
	ut_grid_print(&g, o);
	ut_grid_release(&g);
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

static void text_histograms(struct ut_out *o, struct ut_stats *s, const struct ut_stats_view *v)
{
	size_t count, shown = 0;
	const struct ut_stats_group **list = ut_stats_order(s, v->sort, &count);

	for (size_t i = 0; i < count && (!v->rows || shown < v->rows); i++) {
		if (!is_meant(s, list[i], v->histogram) || !list[i]->dist.count)
			continue;
		ut_out_text(o, shown++ ? "\n" : "");
		text_title(o, s, list[i]->key);
		text_histogram(o, &list[i]->dist);
	}
	if (!shown)
		ut_out_text(o, "no spans of that name\n");
}

void ut_stats_text(struct ut_out *o, struct ut_stats *s, const struct ut_stats_view *v)
{
	if (v->histogram)
		text_histograms(o, s, v);
	else if (v->what == UT_STATS_COUNTERS)
		text_counters(o, s, v);
	else if (v->what == UT_STATS_INSTANTS)
		text_instants(o, s, v);
	else
		text_spans(o, s, v);
}

/* ---- CSV ----------------------------------------------------------------------------------- */

static void csv_head(struct ut_out *o, unsigned int by, const char *rest)
{
	for (int i = 0; i < UT_BY_COUNT; i++) {
		if (by >> i & 1)
			ut_out_fmt(o, "%s,", ut_by_words[i]);
	}
	ut_out_fmt(o, "%s\n", rest);
}

static void csv_key(struct ut_out *o, const struct ut_stats *s, const uint32_t *key,
		    unsigned int by)
{
	for (int i = 0; i < UT_BY_COUNT; i++) {
		struct ut_str str = ut_strtab_get(&s->strings, key[i]);

		if (!(by >> i & 1))
			continue;
		ut_cell_csv(o, str.ptr, str.len);
		ut_out_text(o, ",");
	}
}

static void csv_spans(struct ut_out *o, struct ut_stats *s, enum ut_stats_sort sort)
{
	size_t count;
	const struct ut_stats_group **list = ut_stats_order(s, sort, &count);
	ut_u128 busy = ut_stats_busy(s);

	csv_head(o, s->by,
		 "count,total_ns,self_ns,mean_ns,p50_ns,p90_ns,p99_ns,min_ns,max_ns,stddev_ns,"
		 "unfinished,share");
	for (size_t i = 0; i < count; i++) {
		const struct ut_dist *d = &list[i]->dist;

		csv_key(o, s, list[i]->key, s->by);
		ut_out_fmt(o, "%" PRIu64 ",", d->count);
		ut_stats_u128(o, ut_stats_total(list[i]));
		ut_out_text(o, ",");
		ut_stats_u128(o, list[i]->self);
		ut_out_fmt(o, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, ut_dist_mean(d),
			   ut_dist_quantile(d, 500), ut_dist_quantile(d, 900),
			   ut_dist_quantile(d, 990));
		ut_out_fmt(o, ",%" PRIu64 ",%" PRIu64 ",%.3f,%" PRIu64 ",", d->min, d->max,
			   ut_dist_stddev(d), list[i]->unfinished);
		if (ut_stats_is_work(list[i]))
			ut_out_fmt(o, "%.4f", ut_stats_share(list[i]->self, busy));
		ut_out_text(o, "\n");
	}
}

static void csv_counters(struct ut_out *o, struct ut_stats *s)
{
	const unsigned int by = s->by | 1u << UT_BY_NAME;
	size_t count;
	const struct ut_stats_counter **list = ut_stats_order_counters(s, &count);

	csv_head(o, by, "unit,count,min,max,mean,last,bad");
	for (size_t i = 0; i < count; i++) {
		const struct ut_stats_counter *c = list[i];
		struct ut_str unit = ut_strtab_get(&s->strings, c->unit);

		csv_key(o, s, c->key, by);
		ut_cell_csv(o, unit.ptr, unit.len);
		ut_out_fmt(o, ",%" PRIu64 ",%.17g,%.17g,%.17g,%.17g,%" PRIu64 "\n", c->count,
			   c->min, c->max, ut_stats_counter_mean(c), c->last, c->bad);
	}
}

static void csv_instants(struct ut_out *o, struct ut_stats *s)
{
	size_t count;
	const struct ut_stats_group **list = ut_stats_order_instants(s, &count);

	csv_head(o, s->by, "count");
	for (size_t i = 0; i < count; i++) {
		csv_key(o, s, list[i]->key, s->by);
		ut_out_fmt(o, "%" PRIu64 "\n", list[i]->instants);
	}
}

void ut_stats_csv(struct ut_out *o, struct ut_stats *s, const struct ut_stats_view *v)
{
	if (v->what == UT_STATS_COUNTERS)
		csv_counters(o, s);
	else if (v->what == UT_STATS_INSTANTS)
		csv_instants(o, s);
	else
		csv_spans(o, s, v->sort);
}

/* ---- JSON ---------------------------------------------------------------------------------- */

void ut_stats_json_key(struct ut_out *o, const struct ut_stats *s, const uint32_t *key,
		       unsigned int by)
{
	const char *comma = "";

	for (int i = 0; i < UT_BY_COUNT; i++) {
		struct ut_str str = ut_strtab_get(&s->strings, key[i]);

		if (!(by >> i & 1))
			continue;
		ut_out_fmt(o, "%s\"%s\":", comma, ut_by_words[i]);
		ut_out_json_str(o, str.ptr, str.len);
		comma = ",";
	}
}

static void json_histogram(struct ut_out *o, const struct ut_dist *d)
{
	struct ut_dist_step step = { 0 };
	const char *comma = "";

	ut_out_text(o, ",\"histogram\":[");
	while (ut_dist_next(d, &step)) {
		ut_out_fmt(o, "%s[%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]", comma, step.low, step.high,
			   step.count);
		comma = ",";
	}
	ut_out_text(o, "]");
}

static void json_group(struct ut_out *o, const struct ut_stats *s, const struct ut_stats_group *g,
		       ut_u128 busy, const char *histogram)
{
	const struct ut_dist *d = &g->dist;

	ut_out_text(o, "{");
	ut_stats_json_key(o, s, g->key, s->by);
	ut_out_fmt(o, "%s\"count\":%" PRIu64 ",\"total_ns\":", s->by ? "," : "", d->count);
	ut_stats_u128(o, ut_stats_total(g));
	ut_out_text(o, ",\"self_ns\":");
	ut_stats_u128(o, g->self);
	if (ut_stats_is_work(g))
		ut_out_fmt(o, ",\"share\":%.4f", ut_stats_share(g->self, busy));
	else
		ut_out_text(o, ",\"share\":null");
	ut_out_fmt(o, ",\"mean_ns\":%" PRIu64 ",\"p50_ns\":%" PRIu64 ",\"p90_ns\":%" PRIu64,
		   ut_dist_mean(d), ut_dist_quantile(d, 500), ut_dist_quantile(d, 900));
	ut_out_fmt(o, ",\"p99_ns\":%" PRIu64 ",\"min_ns\":%" PRIu64 ",\"max_ns\":%" PRIu64,
		   ut_dist_quantile(d, 990), d->min, d->max);
	ut_out_fmt(o, ",\"stddev_ns\":%.3f,\"unfinished\":%" PRIu64, ut_dist_stddev(d),
		   g->unfinished);
	if (is_meant(s, g, histogram))
		json_histogram(o, d);
	ut_out_text(o, "}");
}

static void json_counter(struct ut_out *o, const struct ut_stats *s,
			 const struct ut_stats_counter *c)
{
	struct ut_str unit = ut_strtab_get(&s->strings, c->unit);

	ut_out_text(o, "{");
	ut_stats_json_key(o, s, c->key, s->by | 1u << UT_BY_NAME);
	ut_out_text(o, ",\"unit\":");
	ut_out_json_str(o, unit.ptr, unit.len);
	ut_out_fmt(o, ",\"count\":%" PRIu64 ",\"bad\":%" PRIu64 ",\"min\":", c->count, c->bad);
	ut_out_json_double(o, c->min);
	ut_out_text(o, ",\"max\":");
	ut_out_json_double(o, c->max);
	ut_out_text(o, ",\"mean\":");
	ut_out_json_double(o, ut_stats_counter_mean(c));
	ut_out_text(o, ",\"last\":");
	ut_out_json_double(o, c->last);
	ut_out_text(o, "}");
}

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

void ut_stats_json(struct ut_out *o, struct ut_stats *s, const struct ut_stats_view *v)
{
	size_t count;
	const struct ut_stats_group **list = ut_stats_order(s, v->sort, &count);
	const struct ut_stats_counter **counters;
	ut_u128 busy = ut_stats_busy(s);

	json_head(o, s);
	for (size_t i = 0; i < count; i++) {
		ut_out_text(o, i ? ",\n" : "\n");
		json_group(o, s, list[i], busy, v->histogram);
	}
	list = ut_stats_order_instants(s, &count);
	ut_out_text(o, "\n],\n\"instants\":[");
	for (size_t i = 0; i < count; i++) {
		ut_out_text(o, i ? ",\n{" : "\n{");
		ut_stats_json_key(o, s, list[i]->key, s->by);
		ut_out_fmt(o, "%s\"count\":%" PRIu64 "}", s->by ? "," : "", list[i]->instants);
	}
	counters = ut_stats_order_counters(s, &count);
	ut_out_text(o, "\n],\n\"counters\":[");
	for (size_t i = 0; i < count; i++) {
		ut_out_text(o, i ? ",\n" : "\n");
		json_counter(o, s, counters[i]);
	}
	ut_out_text(o, "\n]}\n");
}
