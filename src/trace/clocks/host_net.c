/* host_net.c - see host_net.h. */
#include "clocks/host_net.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hashtab.h"
#include "clocks/net_parts.h"

#define NOBODY UINT32_MAX

struct ut_host_net *ut_host_net_new(const struct ut_net_clock *clocks, size_t count)
{
	struct ut_host_net *net = ut_make(sizeof(*net));

	net->clocks = ut_make((count + 1) * sizeof(*net->clocks));
	if (count)
		memcpy(net->clocks, clocks, count * sizeof(*clocks));
	net->evidence = ut_make((count + 1) * sizeof(*net->evidence));
	net->count = count;
	return net;
}

void ut_host_net_free(struct ut_host_net *net)
{
	if (!net)
		return;
	for (size_t i = 0; i < net->edge_count; i++) {
		ut_time_bounds_release(&net->edges[i].bounds);
		ut_time_map_release(&net->edges[i].map);
	}
	free(net->edges);
	ut_hashtab_release(&net->lookup);
	free(net->evidence);
	free(net->clocks);
	free(net);
}

/* ---- evidence ------------------------------------------------------------------------------ */

static uint32_t host_net_hash_of(uint32_t low, uint32_t high)
{
	uint64_t h = ((uint64_t)low << 32 | high) * UINT64_C(0x9e3779b97f4a7c15);

	return (uint32_t)(h >> 32);
}

static struct ut_net_edge *edge_of(struct ut_host_net *net, uint32_t low, uint32_t high)
{
	uint32_t hash = host_net_hash_of(low, high), at = hash, number;

	while ((number = ut_hashtab_next(&net->lookup, hash, &at)) &&
	       (net->edges[number - 1].low != low || net->edges[number - 1].high != high))
		;
	if (number)
		return &net->edges[number - 1];
	net->edges = ut_grow(net->edges, net->edge_count + 1, &net->edge_cap, sizeof(*net->edges));
	net->edges[net->edge_count++] = (struct ut_net_edge){ .low = low, .high = high };
	ut_hashtab_add(&net->lookup, hash, (uint32_t)net->edge_count);
	return &net->edges[net->edge_count - 1];
}

/* Times are those of clocks since some boot, or since 1970: differences of two fit. */
void ut_host_net_before(struct ut_host_net *net, uint32_t a, int64_t at_a, uint32_t b, int64_t at_b)
{
	int64_t apart;

	if (a == b || a >= net->count || b >= net->count ||
	    __builtin_sub_overflow(at_a, at_b, &apart))
		return;
	net->evidence[a]++;
	net->evidence[b]++;
	if (a < b)
		ut_time_bounds_at_least(&edge_of(net, a, b)->bounds, at_b, apart);
	else
		ut_time_bounds_at_most(&edge_of(net, b, a)->bounds, at_a, -apart);
}

void ut_host_net_measured(struct ut_host_net *net, uint32_t a, uint32_t b, int64_t at,
			  int64_t offset, uint64_t error)
{
	int64_t low, high;

	/* b showed between low and high when a showed at. */
	if (error > INT64_MAX / 4 || __builtin_add_overflow(at, offset, &high) ||
	    __builtin_sub_overflow(high, (int64_t)error, &low) ||
	    __builtin_add_overflow(high, (int64_t)error, &high))
		return;
	ut_host_net_before(net, b, low, a, at);
	ut_host_net_before(net, a, at, b, high);
}

/* ---- the tree ------------------------------------------------------------------------------ */

/* By the wall clocks, what has to be added to times of one for those of another. */
static int64_t by_wall_clock(const struct ut_host_net *net, uint32_t of, uint32_t to)
{
	const struct ut_net_clock *a = &net->clocks[of], *b = &net->clocks[to];

	return a->epoch && b->epoch ? a->epoch - b->epoch : 0;
}

static void fit_edges(struct ut_host_net *net)
{
	for (size_t i = 0; i < net->edge_count; i++) {
		struct ut_net_edge *e = &net->edges[i];
		const struct ut_net_clock *c = &net->clocks[e->high];

		e->fit = ut_time_bounds_fit(&e->bounds, c->first, c->last,
					    by_wall_clock(net, e->high, e->low), &e->map);
		e->error = ut_time_map_worst(&e->map);
	}
}

/* From the lower clock to the higher one: the same knots, seen from there. */
static void turn(const struct ut_time_map *m, struct ut_time_map *back)
{
	for (size_t i = 0; i < m->count; i++) {
		const struct ut_time_knot *k = &m->knots[i];

		ut_time_map_knot(back, k->at + k->add, -k->add, k->error);
	}
}

struct solving {
	struct ut_host_net *net;
	struct ut_net_result *result;
	bool *reached;
	/* edges of each clock: those of clock i are list[starts[i]] to list[starts[i + 1]] */
	uint32_t *list;
	size_t *starts;
	uint32_t *way; /* of clocks that are not reached yet: the best edge so far; NOBODY = none */
	uint64_t *cost; /* and its error, all the way from the root */
};

static void list_edges(struct solving *s)
{
	const struct ut_host_net *net = s->net;

	for (size_t i = 0; i < net->edge_count; i++) {
		s->starts[net->edges[i].low + 1]++;
		s->starts[net->edges[i].high + 1]++;
	}
	for (size_t i = 0; i < net->count; i++)
		s->starts[i + 1] += s->starts[i];
	for (uint32_t i = 0; i < net->edge_count; i++) {
		s->list[s->starts[net->edges[i].low]++] = i;
		s->list[s->starts[net->edges[i].high]++] = i;
	}
	for (size_t i = net->count; i > 0; i--)
		s->starts[i] = s->starts[i - 1];
	s->starts[0] = 0;
}

static uint32_t other_end(const struct ut_net_edge *e, uint32_t clock)
{
	return e->low == clock ? e->high : e->low;
}

/* A clock is reached: its edges may be better ways to others. */
static void find_context(struct solving *s, uint32_t clock, uint64_t cost)
{
	s->reached[clock] = true;
	s->cost[clock] = cost;
	for (size_t i = s->starts[clock]; i < s->starts[clock + 1]; i++) {
		const struct ut_net_edge *e = &s->net->edges[s->list[i]];
		uint32_t there = other_end(e, clock);
		uint64_t sum = e->error > UINT64_MAX - cost ? UINT64_MAX : e->error + cost;

		if (s->reached[there] || (s->way[there] != NOBODY && sum >= s->cost[there]))
			continue;
		s->way[there] = s->list[i];
		s->cost[there] = sum;
	}
}

static uint32_t nearest(const struct solving *s)
{
	uint32_t best = NOBODY;

	for (uint32_t i = 0; i < s->net->count; i++) {
		if (!s->reached[i] && s->way[i] != NOBODY &&
		    (best == NOBODY || s->cost[i] < s->cost[best]))
			best = i;
	}
	return best;
}

/* Goes one edge further from a clock that is reached. */
static void host_net_step(struct solving *s, uint32_t clock)
{
	const struct ut_net_edge *e = &s->net->edges[s->way[clock]];
	uint32_t before = other_end(e, clock);
	const struct ut_net_found *from = &s->result->clocks[before];
	struct ut_net_found *found = &s->result->clocks[clock];
	struct ut_time_map own = { 0 };

	if (e->high == clock)
		ut_time_map_chain(&e->map, &from->map, &found->map);
	else {
		turn(&e->map, &own);
		ut_time_map_chain(&own, &from->map, &found->map);
		ut_time_map_release(&own);
	}
	found->proven = from->proven && e->fit != UT_FIT_NONE;
	found->contrary = from->contrary || e->fit == UT_FIT_CONTRARY;
}

static uint32_t find_root(const struct ut_host_net *net)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < net->count; i++)
		best = net->evidence[i] > net->evidence[best] ? i : best;
	return best;
}

static void reach_all(struct solving *s)
{
	uint32_t next;

	find_context(s, s->result->root, 0);
	while ((next = nearest(s)) != NOBODY) {
		host_net_step(s, next);
		find_context(s, next, s->cost[next]);
	}
}

void ut_host_net_solve(struct ut_host_net *net, struct ut_net_result *result)
{
	struct solving s = { .net = net, .result = result };

	*result = (struct ut_net_result){ .count = net->count };
	result->clocks = ut_make((net->count + 1) * sizeof(*result->clocks));
	if (!net->count)
		return;
	result->root = find_root(net);
	s.reached = ut_make(net->count * sizeof(*s.reached));
	s.list = ut_make((2 * net->edge_count + 1) * sizeof(*s.list));
	s.starts = ut_make((net->count + 2) * sizeof(*s.starts));
	s.way = ut_make(net->count * sizeof(*s.way));
	s.cost = ut_make(net->count * sizeof(*s.cost));
	memset(s.way, 0xff, net->count * sizeof(*s.way));
	fit_edges(net);
	list_edges(&s);
	result->clocks[result->root].proven = true;
	ut_time_map_knot(&result->clocks[result->root].map, net->clocks[result->root].first, 0, 0);
	reach_all(&s);
	ut_net_balance(net, result);
	for (uint32_t i = 0; i < net->count; i++) {
		result->clocks[i].evidence = net->evidence[i];
		if (!s.reached[i])
			ut_time_map_knot(&result->clocks[i].map, net->clocks[i].first,
					 by_wall_clock(net, i, result->root), UT_TIME_UNKNOWN);
	}
	free(s.cost);
	free(s.way);
	free(s.starts);
	free(s.list);
	free(s.reached);
}

void ut_net_result_release(struct ut_net_result *result)
{
	for (size_t i = 0; i < result->count; i++)
		ut_time_map_release(&result->clocks[i].map);
	free(result->clocks);
	*result = (struct ut_net_result){ 0 };
}
