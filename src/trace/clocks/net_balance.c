/*
 * net_balance.c - see net_parts.h.
 *
 * With the rates of the tree each piece of evidence, a before b, says how far a may move later
 * against b: by no more than there is between the two. How far each clock can move at most, and at
 * least, are shortest ways from the root through these; both are solutions, and so is their middle.
 */
#include <math.h>
#include <stdlib.h>

#include "base/grow.h"
#include "clocks/net_parts.h"

#define MOST_ROUNDS 200

/* Clock to may not move later than clock from by more than room, which may be negative. */
struct limit {
	uint32_t from, to;
	double room;
};

struct limits {
	struct limit *items;
	size_t count;
};

static double on_root(const struct ut_net_result *r, uint32_t clock, int64_t at)
{
	return (double)ut_time_map_to(&r->clocks[clock].map, at);
}

/* What lies between two events, the first on the lower clock of the edge, at the least. */
static double least_gap(const struct ut_net_edge *e, const struct ut_net_result *r, bool low_first)
{
	const struct ut_time_bound *b = low_first ? e->bounds.lower : e->bounds.upper;
	size_t count = low_first ? e->bounds.lower_count : e->bounds.upper_count;
	double least = HUGE_VAL;

	for (size_t i = 0; i < count; i++) {
		double low = on_root(r, e->low, b[i].at + b[i].offset);
		double high = on_root(r, e->high, b[i].at);
		double gap = low_first ? high - low : low - high;

		least = gap < least ? gap : least;
	}
	return least;
}

static void add_limit(struct limits *l, uint32_t from, uint32_t to, double room)
{
	if (room < HUGE_VAL)
		l->items[l->count++] = (struct limit){ from, to, room };
}

/* How far each clock can move later at most (1) or has to at least (-1); false: no solution. */
static bool furthest(const struct limits *l, uint32_t root, int sign, double *move, size_t count)
{
	bool changed = true;

	for (size_t i = 0; i < count; i++)
		move[i] = sign > 0 ? HUGE_VAL : -HUGE_VAL;
	move[root] = 0;
	for (int round = 0; changed && round < MOST_ROUNDS; round++) {
		changed = false;
		for (size_t i = 0; i < l->count; i++) {
			const struct limit *k = &l->items[i];
			uint32_t from = sign > 0 ? k->from : k->to;
			uint32_t to = sign > 0 ? k->to : k->from;
			double here = move[from] + sign * k->room;

			if (isinf(move[from]) || sign * (here - move[to]) >= 0)
				continue;
			move[to] = here;
			changed = true;
		}
	}
	return !changed && move[root] >= 0 && move[root] <= 0;
}

static void move_clock(struct ut_net_found *found, double by)
{
	uint64_t more = (uint64_t)llround(fabs(by)) + 1;

	ut_time_map_shift(&found->map, llround(by));
	for (size_t i = 0; i < found->map.count; i++) {
		struct ut_time_knot *k = &found->map.knots[i];

		k->error = k->error > UT_TIME_UNKNOWN - more ? UT_TIME_UNKNOWN : k->error + more;
	}
}

void ut_net_balance(const struct ut_host_net *net, struct ut_net_result *result)
{
	double *most = ut_make((net->count + 1) * sizeof(*most));
	double *least = ut_make((net->count + 1) * sizeof(*least));
	struct limits l = { 0 };

	l.items = ut_make((2 * net->edge_count + 1) * sizeof(*l.items));
	for (size_t i = 0; i < net->edge_count; i++) {
		const struct ut_net_edge *e = &net->edges[i];

		/* the first of the two may come later by what is between them */
		add_limit(&l, e->high, e->low, least_gap(e, result, true));
		add_limit(&l, e->low, e->high, least_gap(e, result, false));
	}
	if (furthest(&l, result->root, 1, most, net->count) &&
	    furthest(&l, result->root, -1, least, net->count)) {
		for (uint32_t i = 0; i < net->count; i++) {
			double by = (most[i] + least[i]) / 2;

			/* a clock in the middle already stays */
			if (i != result->root && isfinite(by) && fabs(by) >= 1)
				move_clock(&result->clocks[i], by);
		}
	}
	free(l.items);
	free(most);
	free(least);
}
