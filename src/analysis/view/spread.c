/*
 * spread.c - how long the slices of one name took: histogram, quantiles, outliers.
 *
 * Quantiles are those of analyze/stats_dist.h, so that `stats` says the same. The edges of the
 * histogram are known only after a first walk, unless they were given.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/stats_dist.h"
#include "base/grow.h"
#include "base/hash.h"
#include "base/sort.h"
#include "text/out.h"
#include "view/answers.h"
#include "view/arguments.h"
#include "view/ask.h"
#include "view/visit.h"

#define GROUPS_MOST 8u
#define GROUPS_KEPT 4096u /* what comes later is among the others */
#define OUTLIERS    20u
#define KEYS_MOST   32u
#define KEYS_FROM   64u /* slices whose arguments are looked at */
#define BINS_MOST   4096u
#define LABEL_MOST  256u

struct group {
	char *label;
	size_t len;
	uint64_t count, sum;
	uint64_t *bins;
};

struct outlier {
	struct ut_view_row row;
	uint64_t value;
};

struct spread {
	struct ut_view *view;
	const struct ut_ask *ask;
	struct ut_dist dist;
	struct group *groups;
	size_t group_count, group_cap;
	uint32_t *slots; /* by hash of the label: number plus 1 */
	struct outlier *top;
	size_t top_count, top_cap;
	uint64_t floor;
	struct ut_str keys[KEYS_MOST];
	size_t key_count;
	uint64_t seen;
	bool with_bins;
	size_t bins;
	double low, high;
};

#define SLOTS (GROUPS_KEPT * 4u)

/* ---- groups --------------------------------------------------------------------------------- */

static void label_track(struct ut_buf *b, const struct ut_view_place *p)
{
	ut_buf_add(b, p->name.ptr, p->name.len);
	if (p->sub.len) {
		ut_buf_char(b, ' ');
		ut_buf_add(b, p->sub.ptr, p->sub.len);
	}
}

static void label_of(const struct spread *s, const struct ut_visit *visit, struct ut_buf *b)
{
	const struct ut_view_place *p = &s->view->places[visit->row->track->place];
	struct ut_str group = s->ask->group;

	if (ut_ask_is(group, "track")) {
		label_track(b, p);
	} else if (ut_ask_is(group, "rank")) {
		if (p->rank < 0)
			ut_buf_text(b, "no rank");
		else
			ut_buf_fmt(b, "rank %" PRId32, p->rank);
	} else if (ut_ask_is(group, "parent")) {
		struct ut_str name = { "nothing", 7 };

		if (visit->depth)
			name = ut_view_type_name(s->view, visit->path[visit->depth - 1].row.type);
		ut_buf_add(b, name.ptr, name.len);
	} else if (ut_ask_is(group, "argument")) {
		if (!ut_view_args_text(visit->row, s->ask->argument, b))
			ut_buf_text(b, "without");
	} else {
		ut_buf_add(b, s->ask->name.ptr ? s->ask->name.ptr : "", s->ask->name.len);
	}
}

static struct group *find_group(struct spread *s, const char *label, size_t len)
{
	size_t i = ut_hash_bytes(label, len) & (SLOTS - 1);
	struct group *g;

	for (; s->slots[i]; i = (i + 1) & (SLOTS - 1)) {
		g = &s->groups[s->slots[i] - 1];
		if (g->len == len && !memcmp(g->label, label, len))
			return g;
	}
	if (s->group_count == GROUPS_KEPT)
		return &s->groups[GROUPS_KEPT - 1];
	s->groups = ut_grow(s->groups, s->group_count + 1, &s->group_cap, sizeof(*s->groups));
	g = &s->groups[s->group_count++];
	g->label = ut_make(len + 1);
	memcpy(g->label, label, len);
	g->len = len;
	s->slots[i] = (uint32_t)s->group_count;
	return g;
}

static struct group *spread_group_of(struct spread *s, const struct ut_visit *visit)
{
	struct ut_buf b = { 0 };
	struct group *g;

	if (s->group_count && (!s->ask->group.len || ut_ask_is(s->ask->group, "none")))
		return &s->groups[0];
	label_of(s, visit, &b);
	g = find_group(s, b.data ? b.data : "", b.len);
	ut_buf_release(&b);
	return g;
}

/* ---- the walk ------------------------------------------------------------------------------- */

static int spread_by_value(const void *a, const void *b)
{
	const struct outlier *x = a, *y = b;

	if (x->value != y->value)
		return x->value > y->value ? -1 : 1;
	if (x->row.track != y->row.track)
		return x->row.track < y->row.track ? -1 : 1;
	return x->row.row < y->row.row ? -1 : x->row.row > y->row.row;
}

static void keep_outlier(struct spread *s, const struct ut_view_row *row, uint64_t value)
{
	if (s->top_count >= OUTLIERS && value <= s->floor)
		return;
	s->top = ut_grow(s->top, s->top_count + 1, &s->top_cap, sizeof(*s->top));
	s->top[s->top_count++] = (struct outlier){ *row, value };
	if (s->top_count < OUTLIERS * 8)
		return;
	ut_sort(s->top, s->top_count, sizeof(*s->top), spread_by_value);
	s->top_count = OUTLIERS;
	s->floor = s->top[OUTLIERS - 1].value;
}

static void keep_keys(struct spread *s, const struct ut_view_row *row)
{
	struct ut_view_args args = { 0 };

	if (s->seen++ >= KEYS_FROM)
		return;
	ut_view_args_get(&args, row);
	for (size_t i = 0; i < args.count && s->key_count < KEYS_MOST; i++) {
		struct ut_str key = ut_strtab_get(args.strings, args.items[i].key);
		size_t n = 0;

		while (n < s->key_count &&
		       (s->keys[n].len != key.len || memcmp(s->keys[n].ptr, key.ptr, key.len)))
			n++;
		if (n == s->key_count)
			s->keys[s->key_count++] = key;
	}
	free(args.items);
}

static double scaled(const struct spread *s, double value)
{
	return s->ask->log ? log(value < 1 ? 1 : value) : value;
}

/* Edges are equal steps of the value, or of its logarithm. */
static size_t bin_of(const struct spread *s, double value)
{
	double low = scaled(s, s->low), high = scaled(s, s->high);
	double share = high > low ? (scaled(s, value) - low) / (high - low) : 0;
	double bin = floor(share * (double)s->bins);

	return bin < 0 ? 0 : bin >= (double)s->bins ? s->bins - 1 : (size_t)bin;
}

static void add_bin(struct spread *s, struct group *g, uint64_t value)
{
	if (!g->bins)
		g->bins = ut_make(s->bins * sizeof(*g->bins));
	g->bins[bin_of(s, (double)value)]++;
}

static uint64_t spread_value_of(const struct spread *s, const struct ut_visit *visit)
{
	return s->ask->self ? visit->self : visit->row->end - visit->row->start;
}

static void spread_measure(void *ctx, const struct ut_visit *visit)
{
	struct spread *s = ctx;
	uint64_t value = spread_value_of(s, visit);
	struct group *g = spread_group_of(s, visit);

	ut_dist_add(&s->dist, value);
	g->count++;
	g->sum += value;
	keep_keys(s, visit->row);
	keep_outlier(s, visit->row, value);
	if (s->with_bins)
		add_bin(s, g, value);
}

static void fill_bins(void *ctx, const struct ut_visit *visit)
{
	struct spread *s = ctx;

	add_bin(s, spread_group_of(s, visit), spread_value_of(s, visit));
}

/* ---- the answer ----------------------------------------------------------------------------- */

static int spread_by_count(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	return x->count > y->count ? -1 : x->count < y->count;
}

/* The largest groups by name; the rest together, in the last of them. */
static size_t join_groups(struct spread *s)
{
	struct group *others;
	char text[40];

	ut_sort(s->groups, s->group_count, sizeof(*s->groups), spread_by_count);
	if (s->group_count <= GROUPS_MOST)
		return s->group_count;
	others = &s->groups[GROUPS_MOST - 1];
	for (size_t i = GROUPS_MOST; i < s->group_count; i++) {
		struct group *g = &s->groups[i];

		others->count += g->count;
		others->sum += g->sum;
		if (!others->bins)
			others->bins = ut_make(s->bins * sizeof(*others->bins));
		for (size_t n = 0; n < s->bins && g->bins; n++)
			others->bins[n] += g->bins[n];
	}
	snprintf(text, sizeof(text), "%zu others", s->group_count - GROUPS_MOST + 1);
	free(others->label);
	others->label = strdup(text);
	others->len = strlen(text);
	return GROUPS_MOST;
}

static void put_groups(struct spread *s, struct ut_out *out)
{
	size_t count = join_groups(s);

	ut_out_text(out, ",\"groups\":[");
	for (size_t i = 0; i < count; i++) {
		const struct group *g = &s->groups[i];

		ut_out_text(out, i ? ",{\"label\":" : "{\"label\":");
		ut_out_json_str(out, g->label, g->len < LABEL_MOST ? g->len : LABEL_MOST);
		ut_out_text(out, ",\"counts\":[");
		for (size_t n = 0; n < s->bins; n++) {
			ut_out_text(out, n ? "," : "");
			ut_out_u64(out, g->bins ? g->bins[n] : 0);
		}
		ut_out_fmt(out, "],\"sum\":%" PRIu64 ",\"count\":%" PRIu64 "}", g->sum, g->count);
	}
	ut_out_text(out, "]");
}

static int by_text(const void *a, const void *b)
{
	const struct ut_str *x = a, *y = b;
	int order = memcmp(x->ptr, y->ptr, x->len < y->len ? x->len : y->len);

	return order ? order : x->len < y->len ? -1 : x->len > y->len;
}

static void put_lists(struct spread *s, struct ut_out *out)
{
	ut_sort(s->top, s->top_count, sizeof(*s->top), spread_by_value);
	ut_out_text(out, ",\"outliers\":[");
	for (size_t i = 0; i < s->top_count && i < OUTLIERS; i++) {
		ut_out_text(out, i ? "," : "");
		ut_put_ref(out, s->view, &s->top[i].row, 0);
	}
	ut_out_text(out, "],\"arguments\":[");
	ut_sort(s->keys, s->key_count, sizeof(*s->keys), by_text);
	for (size_t i = 0; i < s->key_count; i++) {
		ut_out_text(out, i ? "," : "");
		ut_out_json_str(out, s->keys[i].ptr, s->keys[i].len);
	}
	ut_out_text(out, "]");
}

static void put_spread(struct spread *s, struct ut_out *out)
{
	struct ut_dist *d = &s->dist;

	ut_dist_finalize(d);
	ut_out_text(out, "{\"low\":");
	ut_out_json_double(out, s->low);
	ut_out_text(out, ",\"high\":");
	ut_out_json_double(out, s->high);
	ut_out_fmt(out,
		   ",\"log\":%s,\"count\":%" PRIu64 ",\"sum\":", s->ask->log ? "true" : "false",
		   d->count);
	ut_out_json_double(out, (double)d->total);
	ut_out_fmt(out, ",\"min\":%" PRIu64 ",\"max\":%" PRIu64 ",\"mean\":", d->count ? d->min : 0,
		   d->max);
	ut_out_json_double(out, d->count ? (double)d->total / (double)d->count : 0);
	ut_out_fmt(out, ",\"p50\":%" PRIu64 ",\"p90\":%" PRIu64 ",\"p99\":%" PRIu64,
		   ut_dist_quantile(d, 500), ut_dist_quantile(d, 900), ut_dist_quantile(d, 990));
	put_lists(s, out);
	put_groups(s, out);
	ut_out_text(out, "}");
}

static void spread_release(struct spread *s)
{
	for (size_t i = 0; i < s->group_count; i++) {
		free(s->groups[i].label);
		free(s->groups[i].bins);
	}
	free(s->groups);
	free(s->slots);
	free(s->top);
	ut_dist_release(&s->dist);
}

int ut_answer_distribution(struct ut_view *v, const struct ut_ask *a, struct ut_out *out,
			   struct ut_err *err)
{
	struct spread s = { .view = v, .ask = a, .low = a->low, .high = a->high };
	struct ut_search_query query;
	int rc = ut_search_query_init_name(&query, v, a->name, &a->scope, err);

	if (rc)
		return rc;
	s.bins = a->bins < 1 ? 1 : a->bins > BINS_MOST ? BINS_MOST : (size_t)a->bins;
	s.with_bins = !isnan(a->low) && !isnan(a->high);
	s.slots = ut_make(SLOTS * sizeof(*s.slots));
	ut_view_walk(v, &a->scope, &query, spread_measure, &s);
	if (!s.with_bins) {
		s.low = isnan(a->low) ? (double)(s.dist.count ? s.dist.min : 0) : a->low;
		s.high = isnan(a->high) ? (double)s.dist.max : a->high;
		ut_view_walk(v, &a->scope, &query, fill_bins, &s);
	}
	put_spread(&s, out);
	spread_release(&s);
	ut_search_query_release(&query);
	return 0;
}
