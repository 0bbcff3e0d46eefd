/*
 * report_coll.c - the summary for machines: collectives, and power over time.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "acelyzer/analysis_report.h"
#include "acelyzer/extra_work.h"
#include "base/grow.h"
#include "text/out.h"

#define HEAT_RANKS  256
#define POWER_RANKS 32

struct rows {
	struct ut_arena arena;
	struct ut_ace_coll_row *items;
	size_t count, cap;
	struct ut_idmap index; /* name -> place + 1 */
	struct ut_idmap lasts; /* place and rank -> how often last */
};

static struct ut_ace_coll_row *report_coll_row_of(struct rows *v, uint32_t name)
{
	uint32_t at = ut_idmap_get(&v->index, name);

	if (!at) {
		v->items = ut_grow(v->items, v->count + 1, &v->cap, sizeof(*v->items));
		v->items[v->count].name = name;
		at = (uint32_t)++v->count;
		ut_idmap_put(&v->index, name, at);
	}
	return &v->items[at - 1];
}

static void add_coll(struct rows *v, const struct ut_ace_coll *c)
{
	struct ut_ace_coll_row *w = report_coll_row_of(v, c->name);
	uint64_t key = (uint64_t)(w - v->items) << 32 | c->last_rank;
	uint32_t times = ut_idmap_get(&v->lasts, key) + 1;

	w->count++;
	w->ranks = c->ranks > w->ranks ? c->ranks : w->ranks;
	w->length += (double)(c->end - c->begin);
	w->spread += (double)(c->last - c->first);
	w->late += (double)c->late;
	w->longest = c->end - c->begin > w->longest ? c->end - c->begin : w->longest;
	w->latest = c->late > w->latest ? c->late : w->latest;
	if (c->late <= 0)
		return;
	ut_idmap_put(&v->lasts, key, times);
	if (times > w->worst_count) {
		w->worst_count = times;
		w->worst = c->last_rank;
	}
}

static int by_late(const void *p, const void *q)
{
	const struct ut_ace_coll_row *a = p, *b = q;

	if (a->late != b->late)
		return a->late > b->late ? -1 : 1;
	return a->name < b->name ? -1 : a->name > b->name;
}

static void report_coll_put_row(struct ut_out *o, const struct ut_ace_report *r,
				const struct ut_ace_coll_row *w)
{
	double n = (double)w->count * 1000;

	ut_out_text(o, "{\"name\":");
	ut_ace_report_name(o, r, w->name);
	ut_out_fmt(o, ",\"count\":%" PRIu64 ",\"ranks\":%" PRIu32, w->count, w->ranks);
	ut_ace_report_num(o, "mean_us", w->length / n);
	ut_ace_report_us(o, "max_us", w->longest);
	ut_ace_report_num(o, "mean_spread_us", w->spread / n);
	ut_ace_report_num(o, "mean_late_us", w->late / n);
	ut_ace_report_us(o, "max_late_us", w->latest);
	if (w->worst_count)
		ut_out_fmt(o, ",\"last_rank\":%" PRId64 ",\"last_count\":%" PRIu64 "}",
			   r->x->ranks[w->worst].rank, w->worst_count);
	else
		ut_out_text(o, ",\"last_rank\":null,\"last_count\":0}");
}

size_t ut_ace_late_heat(const struct ut_ace_extra *x, double **late)
{
	size_t columns = x->coll_count < UT_ACE_HEAT_COLUMNS ? x->coll_count : UT_ACE_HEAT_COLUMNS;
	size_t count = x->rank_count * columns;
	double *sum = ut_make((count + 1) * sizeof(*sum));
	uint64_t *n = ut_make((count + 1) * sizeof(*n));

	for (size_t i = 0; i < x->coll_count; i++) {
		const struct ut_ace_coll *c = &x->colls[i];

		for (uint32_t k = 0; k < c->ranks; k++) {
			const struct ut_ace_coll_member *m = &x->members[c->first_member + k];
			size_t at = m->rank * columns + i * columns / x->coll_count;

			sum[at] += (double)(m->arrival - c->first);
			n[at]++;
		}
	}
	for (size_t i = 0; i < count; i++)
		sum[i] = n[i] ? sum[i] / (double)n[i] : NAN;
	free(n);
	*late = sum;
	return columns;
}

static void put_heat(struct ut_out *o, const struct ut_ace_extra *x)
{
	size_t ranks = x->rank_count < HEAT_RANKS ? x->rank_count : HEAT_RANKS;
	double *late;
	size_t columns = ut_ace_late_heat(x, &late);

	ut_out_fmt(o, ",\n\"late_heat\":{\"columns\":%zu,\"collectives\":%zu,\"rows\":[", columns,
		   x->coll_count);
	for (size_t i = 0; columns && i < ranks; i++) {
		ut_out_fmt(o, "%s{\"rank\":%" PRId64 ",\"late_us\":[", i ? "," : "",
			   x->ranks[i].rank);
		for (size_t k = i * columns; k < (i + 1) * columns; k++) {
			ut_out_text(o, k > i * columns ? "," : "");
			if (isfinite(late[k]))
				ut_out_fmt(o, "%.3f", late[k] / 1000);
			else
				ut_out_text(o, "null");
		}
		ut_out_text(o, "]}");
	}
	ut_out_text(o, "]}");
	free(late);
}

struct ut_ace_coll_row *ut_ace_coll_rows(const struct ut_ace_extra *x, size_t *count)
{
	struct rows v = { 0 };

	ut_idmap_init(&v.index, &v.arena);
	ut_idmap_init(&v.lasts, &v.arena);
	for (size_t i = 0; i < x->coll_count; i++)
		add_coll(&v, &x->colls[i]);
	if (v.count)
		qsort(v.items, v.count, sizeof(*v.items), by_late);
	ut_arena_release(&v.arena);
	*count = v.count;
	return v.items;
}

void ut_ace_report_colls(struct ut_out *o, const struct ut_ace_report *r)
{
	size_t n;
	struct ut_ace_coll_row *rows = ut_ace_coll_rows(r->x, &n);

	ut_out_text(o, "\"collectives\":[");
	for (size_t i = 0; i < n; i++) {
		ut_out_text(o, i ? ",\n" : "\n");
		report_coll_put_row(o, r, &rows[i]);
	}
	ut_out_text(o, "]");
	put_heat(o, r->x);
	free(rows);
}

bool ut_ace_power_span(const struct ut_ace_extra *x, int64_t *begin, int64_t *end)
{
	*begin = INT64_MAX;
	*end = INT64_MIN;
	for (size_t i = 0; i < x->rank_count; i++) {
		const struct ut_ace_extra_rank *k = &x->ranks[i];

		if (!k->sample_count)
			continue;
		*begin = k->samples[0].ts < *begin ? k->samples[0].ts : *begin;
		*end = k->power_end > *end ? k->power_end : *end;
	}
	return *end > *begin;
}

void ut_ace_power_curve(const struct ut_ace_extra_rank *k, int64_t begin, int64_t end,
			double watts[UT_ACE_POWER_COLUMNS])
{
	double width = (double)(end - begin) / UT_ACE_POWER_COLUMNS;
	size_t at = 0;
	double last = ut_ace_extra_joules(k, begin, &at);

	for (int i = 1; i <= UT_ACE_POWER_COLUMNS; i++) {
		double now = ut_ace_extra_joules(k, begin + llrint(width * i), &at);

		watts[i - 1] = (now - last) / width * 1e9;
		last = now;
	}
}

static void put_curve(struct ut_out *o, const struct ut_ace_extra_rank *k, int64_t begin,
		      int64_t end)
{
	double watts[UT_ACE_POWER_COLUMNS];

	ut_ace_power_curve(k, begin, end, watts);
	ut_out_fmt(o, "{\"rank\":%" PRId64 ",\"watts\":[", k->rank);
	for (int i = 0; i < UT_ACE_POWER_COLUMNS; i++)
		ut_out_fmt(o, "%s%.3f", i ? "," : "", watts[i]);
	ut_out_text(o, "]}");
}

const char *ut_ace_no_power(void)
{
	return "no power samples: the trace has no readings, or power_ts4 is not among the "
	       "counters (-C)";
}

void ut_ace_report_power(struct ut_out *o, const struct ut_ace_report *r)
{
	const struct ut_ace_extra *x = r->x;
	int64_t begin, end;
	bool any = ut_ace_power_span(x, &begin, &end);
	size_t shown = 0;

	ut_out_fmt(o, "\"power\":{\"known\":%s", x->has_power ? "true" : "false");
	if (!x->has_power)
		ut_out_fmt(o, ",\"why\":\"%s\"", ut_ace_no_power());
	if (any) {
		ut_ace_report_us(o, "begin_us", begin);
		ut_ace_report_us(o, "end_us", end);
	}
	ut_out_text(o, ",\"ranks\":[");
	for (size_t i = 0; any && i < x->rank_count && shown < POWER_RANKS; i++) {
		if (!x->ranks[i].sample_count)
			continue;
		ut_out_text(o, shown++ ? ",\n" : "\n");
		put_curve(o, &x->ranks[i], begin, end);
	}
	ut_out_text(o, "]}");
}
