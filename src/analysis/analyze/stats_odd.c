/*
 * stats_odd.c - async spans and counters: what needs to know an earlier row of the same track.
 */
#include "analyze/stats_walk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/idmap.h"
#include "model/counter.h"
#include "model/nesting.h"

/* A counter's value since ts. */
struct holds {
	uint64_t ts, val;
	uint32_t counter; /* its number in the statistics */
	uint8_t flags;
	bool known;
};

struct odd {
	struct ut_stats_walk *walk;
	struct ut_arena arena;
	struct ut_idmap numbers; /* type -> number of its group or counter on this track */
	struct ut_nesting pairs; /* of async spans; what is their group */
	/* Those of this track alone: a trace may have a track for each of very many counters. */
	struct holds *holds;
	size_t hold_count, hold_cap;
	struct ut_idmap held; /* number of a counter -> its place in holds, + 1 */
};

/* ---- async spans --------------------------------------------------------------------------- */

/* In what of a begin, beside its group: its end is that of its process. */
#define UNFINISHED (UINT64_C(1) << 32)

/* nested: the time is in the total of its group already. */
static void add_async(struct odd *o, const struct ut_begun *b, uint64_t end, bool nested)
{
	const struct ut_filter_view *v = o->walk->view;
	struct ut_stats_group *g = &o->walk->stats.groups[(uint32_t)b->what];
	uint64_t begin = b->ts;

	if (!(uint32_t)b->what || !ut_filter_wants_span(v, begin, end))
		return;
	g->unfinished += b->what >= UNFINISHED;
	if (v->clip) {
		begin = begin > v->from ? begin : v->from;
		end = end < v->to ? end : v->to;
	}
	ut_dist_add(&g->dist, end - begin);
	g->nested += nested ? end - begin : 0;
	g->aside++;
}

static void stats_odd_end_async(struct odd *o, uint64_t ts, uint64_t number, uint32_t name)
{
	for (uint32_t left = ut_nesting_end(&o->pairs, number, name); left; left--) {
		struct ut_begun b = ut_nesting_take(&o->pairs, number);

		add_async(o, &b, ts,
			  ut_nesting_has(&o->pairs, number, b.what) ||
				  ut_nesting_has(&o->pairs, number, b.what ^ UNFINISHED));
	}
}

/* ---- counters ------------------------------------------------------------------------------ */

static double stats_odd_number_of(const struct holds *h)
{
	double value;

	memcpy(&value, &h->val, sizeof(value));
	if (h->flags & UT_EV_DOUBLE)
		return value + 0.0; /* -0 is 0 */
	return h->flags & UT_EV_SIGNED ? (double)(int64_t)h->val : (double)h->val;
}

/* The value as one more that was seen at ts. */
static void stats_odd_add_value(struct ut_stats_counter *c, double value, uint64_t ts)
{
	c->min = c->values && c->min < value ? c->min : value;
	c->max = c->values && c->max > value ? c->max : value;
	if (!c->values || ts > c->last_ts || (ts == c->last_ts && value > c->last)) {
		c->last = value;
		c->last_ts = ts;
	}
	c->values++;
}

/* The value has held until now; counts as far as that is in the window. */
static void add_time(struct odd *o, struct ut_stats_counter *c, const struct holds *h,
		     uint64_t until)
{
	const struct ut_filter_view *v = o->walk->view;
	uint64_t from = h->ts > v->from ? h->ts : v->from;
	int64_t number = (int64_t)h->val;

	until = until < v->to ? until : v->to;
	if (!h->known || until <= from)
		return;
	if (h->ts < v->from)
		stats_odd_add_value(c, stats_odd_number_of(h), v->from);
	c->weight += until - from;
	if (h->flags & UT_EV_DOUBLE)
		ut_exact_add(&c->sum, stats_odd_number_of(h), until - from);
	else if (h->flags & UT_EV_SIGNED && number < 0)
		ut_exact_add_int(&c->sum, true, -(uint64_t)number, until - from);
	else
		ut_exact_add_int(&c->sum, false, h->val, until - from);
}

static uint32_t stats_odd_counter_of(struct odd *o, const struct ut_type *type)
{
	struct ut_stats_walk *w = o->walk;
	const struct ut_trace *t = &w->store->trace;
	uint32_t key[UT_BY_COUNT], i;

	ut_stats_walk_key(w, key);
	key[UT_BY_NAME] = ut_stats_walk_string(w, ut_counter_name(t, w->track, type));
	if (w->stats.by & 1u << UT_BY_CATEGORY)
		key[UT_BY_CATEGORY] = ut_stats_walk_string(w, type->cat);
	i = ut_stats_counter(&w->stats, key);
	if (t->tracks[w->track].unit && !w->stats.counters[i].unit)
		w->stats.counters[i].unit = ut_stats_walk_string(w, t->tracks[w->track].unit);
	return i;
}

static struct holds *held_by(struct odd *o, uint32_t counter)
{
	uint32_t place = ut_idmap_get(&o->held, counter);

	if (!place) {
		place = (uint32_t)++o->hold_count;
		o->holds = ut_grow(o->holds, place, &o->hold_cap, sizeof(*o->holds));
		ut_idmap_put(&o->held, counter, place);
	}
	return &o->holds[place - 1];
}

static void stats_odd_add_sample(struct odd *o, struct holds now)
{
	struct ut_stats_counter *c = &o->walk->stats.counters[now.counter];
	struct holds *h = held_by(o, now.counter);
	uint64_t ts = now.ts;

	add_time(o, c, h, ts);
	*h = now;
	h->known = isfinite(stats_odd_number_of(h));
	if (ut_counter_ends(now.val, now.flags) || !ut_filter_wants_timestamp(o->walk->view, ts))
		return;
	c->count++;
	c->bad += !h->known;
	if (h->known)
		stats_odd_add_value(c, stats_odd_number_of(h), ts);
}

/* ---- a track ------------------------------------------------------------------------------- */

/* The group or counter of a type that is wanted; 0 = it is not. */
static uint32_t number_for(struct odd *o, uint32_t number, const struct ut_type *type)
{
	uint32_t found = ut_idmap_get(&o->numbers, number);

	if (found)
		return found;
	if (!ut_filter_wants(o->walk->view, o->walk->track, number))
		return 0;
	found = type->kind == UT_KIND_COUNTER ? stats_odd_counter_of(o, type)
					      : ut_stats_walk_group(o->walk, type);
	ut_idmap_put(&o->numbers, number, found);
	return found;
}

static void odd_row(struct odd *o, uint32_t number, uint64_t ts, uint64_t val)
{
	const struct ut_type *type = ut_store_type(o->walk->store, number);
	uint64_t found;

	if (type->kind == UT_KIND_ASYNC_END)
		stats_odd_end_async(o, ts, val, type->name);
	if (type->kind != UT_KIND_ASYNC_BEGIN && type->kind != UT_KIND_COUNTER)
		return;
	found = number_for(o, number, type);
	if (type->kind == UT_KIND_ASYNC_BEGIN) { /* also of a type that is not asked for */
		found |= type->flags & UT_EV_UNFINISHED ? UNFINISHED : 0;
		ut_nesting_begin(&o->pairs, val,
				 (struct ut_begun){ .ts = ts, .what = found, .name = type->name });
	} else if (found) {
		stats_odd_add_sample(o, (struct holds){ .ts = ts,
							.val = val,
							.counter = (uint32_t)found,
							.flags = type->flags });
	}
}

/* What still goes on when the trace ends. */
static void stats_odd_finish(struct odd *o)
{
	const struct ut_rows *rows = &o->walk->store->rows[o->walk->track];
	struct ut_stats *s = &o->walk->stats;

	for (const struct ut_begun *b = NULL; (b = ut_nesting_next(&o->pairs, b));) {
		struct ut_begun open = *b;

		open.what |= UNFINISHED;
		add_async(o, &open, ut_async_until(rows, b->ts, UINT64_MAX), false);
	}
	for (size_t i = 0; i < o->hold_count; i++)
		add_time(o, &s->counters[o->holds[i].counter], &o->holds[i],
			 o->walk->store->trace.last);
}

void ut_stats_walk_odd(struct ut_stats_walk *w, uint32_t track)
{
	const struct ut_rows *rows = &w->store->rows[track];
	struct odd o = { .walk = w };

	ut_stats_walk_enter(w, track);
	ut_idmap_init(&o.numbers, &o.arena);
	ut_idmap_init(&o.held, &o.arena);
	for (size_t n = 0; n < ut_rows_blocks(rows); n++) {
		const struct ut_block *b = &rows->blocks[n];

		for (uint32_t i = 0; i < b->count; i++)
			odd_row(&o, b->type[i], b->ts[i], b->val[i]);
	}
	stats_odd_finish(&o);
	ut_nesting_release(&o.pairs);
	free(o.holds);
	ut_arena_release(&o.arena);
}
