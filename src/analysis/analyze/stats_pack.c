#include "analyze/stats_pack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/stats.h"
#include "base/grow.h"
#include "base/str.h"

static const char magic[8] = "UTSTATS2";

/* ---- writing ------------------------------------------------------------------------------- */

static void stats_pack_put_u64(struct ut_buf *b, uint64_t v)
{
	char bytes[10];
	size_t n = 0;

	for (; v >= 0x80; v >>= 7)
		bytes[n++] = (char)(v | 0x80);
	bytes[n++] = (char)v;
	ut_buf_add(b, bytes, n);
}

static void put_u128(struct ut_buf *b, ut_u128 v)
{
	stats_pack_put_u64(b, (uint64_t)v);
	stats_pack_put_u64(b, (uint64_t)(v >> 64));
}

static void put_double(struct ut_buf *b, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	stats_pack_put_u64(b, bits);
}

static void stats_pack_put_str(struct ut_buf *b, const struct ut_stats *s, uint32_t id)
{
	struct ut_str str = ut_strtab_get(&s->strings, id);

	stats_pack_put_u64(b, str.len);
	ut_buf_add(b, str.ptr, str.len);
}

static void stats_pack_put_key(struct ut_buf *b, const struct ut_stats *s,
			       const uint32_t key[UT_BY_COUNT])
{
	for (int i = 0; i < UT_BY_COUNT; i++)
		stats_pack_put_str(b, s, key[i]);
}

/* Sorted values as differences, or the steps that are not empty, each after the last. */
static void put_dist(struct ut_buf *b, struct ut_dist *d)
{
	struct ut_dist_step step = { 0 };
	uint64_t last = 0;

	ut_dist_finalize(d);
	stats_pack_put_u64(b, d->count);
	if (!d->count)
		return;
	stats_pack_put_u64(b, d->min);
	stats_pack_put_u64(b, d->max);
	put_u128(b, d->total);
	put_u128(b, d->squares);
	while (ut_dist_next(d, &step)) {
		uint64_t at = d->powers ? step.at : step.low;

		stats_pack_put_u64(b, at - last);
		last = at;
		if (d->powers)
			stats_pack_put_u64(b, step.count);
	}
	if (d->powers)
		stats_pack_put_u64(b, 0); /* no step follows itself */
}

static void stats_pack_put_group(struct ut_buf *b, const struct ut_stats *s,
				 struct ut_stats_group *g)
{
	stats_pack_put_key(b, s, g->key);
	stats_pack_put_u64(b, g->instants);
	stats_pack_put_u64(b, g->unfinished);
	stats_pack_put_u64(b, g->aside);
	put_u128(b, g->self);
	put_u128(b, g->nested);
	put_dist(b, &g->dist);
}

static void stats_pack_put_counter(struct ut_buf *b, const struct ut_stats *s,
				   const struct ut_stats_counter *c)
{
	stats_pack_put_key(b, s, c->key);
	stats_pack_put_str(b, s, c->unit);
	stats_pack_put_u64(b, c->count);
	stats_pack_put_u64(b, c->bad);
	stats_pack_put_u64(b, c->values);
	put_double(b, c->min);
	put_double(b, c->max);
	put_double(b, c->last);
	stats_pack_put_u64(b, c->last_ts);
	put_u128(b, c->weight);
	for (int i = 0; i < UT_EXACT_WORDS; i++)
		stats_pack_put_u64(b, c->sum.word[i]);
}

static int compare_groups(const void *a, const void *b, void *stats)
{
	struct ut_stats_group *const *x = a, *const *y = b;

	return ut_stats_compare(stats, (*x)->key, stats, (*y)->key);
}

static void put_groups(struct ut_buf *b, struct ut_stats *s)
{
	struct ut_stats_group **list =
		ut_make((s->group_count + 1) * sizeof(struct ut_stats_group *));
	size_t count = 0;

	for (size_t i = 1; i <= s->group_count; i++) {
		struct ut_stats_group *g = &s->groups[i];

		if (g->dist.count || g->instants || g->unfinished)
			list[count++] = g;
	}
	qsort_r(list, count, sizeof(struct ut_stats_group *), compare_groups, s);
	stats_pack_put_u64(b, count);
	for (size_t i = 0; i < count; i++)
		stats_pack_put_group(b, s, list[i]);
	free(list);
}

void ut_stats_pack(struct ut_stats *s, struct ut_buf *out)
{
	const struct ut_stats_counter **counters;
	size_t count;

	ut_buf_add(out, magic, sizeof(magic));
	stats_pack_put_u64(out, s->by);
	stats_pack_put_u64(out, s->traces);
	stats_pack_put_u64(out, s->processes);
	stats_pack_put_u64(out, s->tracks);
	stats_pack_put_u64(out, s->rows);
	put_groups(out, s);
	counters = ut_stats_order_counters(s, &count);
	stats_pack_put_u64(out, count);
	for (size_t i = 0; i < count; i++)
		stats_pack_put_counter(out, s, counters[i]);
}

/* ---- reading ------------------------------------------------------------------------------- */

/* Reading past the end gives 0 and sets bad, which stays: one look at the end is enough. */
struct reader {
	const char *at, *end;
	bool bad;
};

static uint64_t get_u64(struct reader *r)
{
	uint64_t v = 0;

	for (unsigned int shift = 0; r->at < r->end && shift < 64; shift += 7) {
		unsigned char byte = (unsigned char)*r->at++;

		v |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return v;
	}
	r->bad = true;
	r->at = r->end;
	return 0;
}

static ut_u128 get_u128(struct reader *r)
{
	uint64_t low = get_u64(r);

	return (ut_u128)get_u64(r) << 64 | low;
}

static double get_double(struct reader *r)
{
	uint64_t bits = get_u64(r);
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

static uint32_t get_str(struct reader *r, struct ut_stats *s)
{
	uint64_t len = get_u64(r);
	uint32_t id;

	if (len > (size_t)(r->end - r->at)) {
		r->bad = true;
		r->at = r->end;
		return 0;
	}
	id = ut_strtab_intern(&s->strings, r->at, (size_t)len);
	r->at += len;
	return id;
}

static void get_key(struct reader *r, struct ut_stats *s, uint32_t key[UT_BY_COUNT])
{
	for (int i = 0; i < UT_BY_COUNT; i++)
		key[i] = get_str(r, s);
}

static void get_values(struct reader *r, struct ut_dist *d)
{
	uint64_t value = 0;

	d->values = ut_grow(NULL, (size_t)d->count, &d->cap, sizeof(*d->values));
	for (uint64_t i = 0; i < d->count; i++) {
		value += get_u64(r);
		d->values[i] = value;
	}
}

/* Steps are told by where the next one would be looked for, so the first is 1. */
static void get_steps(struct reader *r, struct ut_dist *d)
{
	uint64_t at = 0, sum = 0, n, count;

	d->powers = ut_make(UT_DIST_POWERS * sizeof(*d->powers));
	while (!r->bad && (n = get_u64(r))) {
		at += n < UT_DIST_POWERS * UT_DIST_STEPS ? n : UINT32_MAX;
		count = get_u64(r);
		if (at > UT_DIST_POWERS * UT_DIST_STEPS || !count ||
		    __builtin_add_overflow(sum, count, &sum))
			r->bad = true;
		else
			ut_dist_count(d, (uint32_t)at - 1, count);
	}
	r->bad |= sum != d->count;
}

static void get_dist(struct reader *r, struct ut_dist *d)
{
	d->count = get_u64(r);
	if (!d->count)
		return;
	d->min = get_u64(r);
	d->max = get_u64(r);
	d->total = get_u128(r);
	d->squares = get_u128(r);
	if (d->count > UT_DIST_EXACT)
		get_steps(r, d);
	else
		get_values(r, d);
}

static void get_group(struct reader *r, struct ut_stats *s)
{
	struct ut_dist dist = { 0 };
	struct ut_stats_group *g;
	uint32_t key[UT_BY_COUNT], number;

	get_key(r, s, key);
	number = ut_stats_group(s, key); /* may move the groups */
	g = &s->groups[number];
	g->instants += get_u64(r);
	g->unfinished += get_u64(r);
	g->aside += get_u64(r);
	g->self += get_u128(r);
	g->nested += get_u128(r);
	get_dist(r, &dist);
	if (!r->bad)
		ut_dist_merge(&g->dist, &dist);
	ut_dist_release(&dist);
}

static void get_counter(struct reader *r, struct ut_stats *s)
{
	struct ut_stats_counter c = { 0 };
	uint32_t key[UT_BY_COUNT], number;

	get_key(r, s, key);
	c.unit = get_str(r, s);
	c.count = get_u64(r);
	c.bad = get_u64(r);
	c.values = get_u64(r);
	c.min = get_double(r);
	c.max = get_double(r);
	c.last = get_double(r);
	c.last_ts = get_u64(r);
	c.weight = get_u128(r);
	for (int i = 0; i < UT_EXACT_WORDS; i++)
		c.sum.word[i] = get_u64(r);
	number = ut_stats_counter(s, key);
	if (!r->bad)
		ut_stats_merge_counter(s, &s->counters[number], &c);
}

int ut_stats_unpack(struct ut_stats *s, const char *data, size_t len, struct ut_err *err)
{
	struct reader r = { data, data + len, len < sizeof(magic) };
	uint64_t count;

	if (r.bad || memcmp(data, magic, sizeof(magic)) != 0)
		return ut_err_set(err, -EPROTO, "these are not packed statistics");
	r.at += sizeof(magic);
	if (get_u64(&r) != s->by)
		return ut_err_set(err, -EINVAL, "packed statistics of other dimensions");
	s->traces += get_u64(&r);
	s->processes += get_u64(&r);
	s->tracks += get_u64(&r);
	s->rows += get_u64(&r);
	count = get_u64(&r);
	for (uint64_t i = 0; i < count && !r.bad; i++)
		get_group(&r, s);
	count = get_u64(&r);
	for (uint64_t i = 0; i < count && !r.bad; i++)
		get_counter(&r, s);
	if (r.bad || r.at != r.end)
		return ut_err_set(err, -EPROTO, "packed statistics are damaged at byte %zu",
				  (size_t)(r.at - data));
	return 0;
}
