/* time_map.c - see time_map.h. */
#include "clocks/time_map.h"

#include <stdlib.h>

#include "base/grow.h"

#define NEAR 10000 /* ns */

/* Products of two times. */
__extension__ typedef __int128 wide;

static int64_t saturated(wide value)
{
	if (value > INT64_MAX)
		return INT64_MAX;
	return value < INT64_MIN ? INT64_MIN : (int64_t)value;
}

static uint64_t plus(uint64_t a, uint64_t b)
{
	return a > UT_TIME_UNKNOWN - b ? UT_TIME_UNKNOWN : a + b;
}

void ut_time_map_knot(struct ut_time_map *m, int64_t at, int64_t add, uint64_t error)
{
	while (m->count && m->knots[m->count - 1].at >= at)
		m->count--;
	m->knots = ut_grow(m->knots, m->count + 1, &m->cap, sizeof(*m->knots));
	m->knots[m->count++] = (struct ut_time_knot){ at, add, error };
}

void ut_time_map_release(struct ut_time_map *m)
{
	free(m->knots);
	*m = (struct ut_time_map){ 0 };
}

/* The knot at or before a time, but never the last of several. */
static size_t knot_at(const struct ut_time_map *m, int64_t at)
{
	size_t lo = 0, hi = m->count - 1;

	while (hi - lo > 1) {
		size_t mid = (lo + hi) / 2;

		if (m->knots[mid].at <= at)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

/* Rounded towards 0, for any signs: the divisor is positive. */
static int64_t between(const struct ut_time_knot *a, const struct ut_time_knot *b, int64_t at)
{
	wide rise = (wide)b->add - a->add, run = (wide)b->at - a->at;

	return saturated((wide)a->add + rise * ((wide)at - a->at) / run);
}

int64_t ut_time_map_add(const struct ut_time_map *m, int64_t at)
{
	size_t i;

	if (m->count < 2)
		return m->count ? m->knots[0].add : 0;
	i = knot_at(m, at);
	return between(&m->knots[i], &m->knots[i + 1], at);
}

int64_t ut_time_map_to(const struct ut_time_map *m, int64_t at)
{
	return saturated((wide)at + ut_time_map_add(m, at));
}

int64_t ut_time_map_from(const struct ut_time_map *m, int64_t to)
{
	int64_t at = saturated((wide)to - ut_time_map_add(m, to));

	/* Clocks differ by less than a thousandth: each step gains three digits. */
	for (int i = 0; i < 8; i++)
		at = saturated((wide)to - ut_time_map_add(m, at));
	return at;
}

uint64_t ut_time_map_error(const struct ut_time_map *m, int64_t at)
{
	const struct ut_time_knot *k;

	if (m->count < 2)
		return m->count ? m->knots[0].error : 0;
	k = &m->knots[knot_at(m, at)];
	return k[0].error > k[1].error ? k[0].error : k[1].error;
}

uint64_t ut_time_map_worst(const struct ut_time_map *m)
{
	uint64_t worst = 0;

	for (size_t i = 0; i < m->count; i++)
		worst = m->knots[i].error > worst ? m->knots[i].error : worst;
	return worst;
}

bool ut_time_map_is_shift(const struct ut_time_map *m)
{
	for (size_t i = 1; i < m->count; i++) {
		if (m->knots[i].add != m->knots[0].add)
			return false;
	}
	return true;
}

int64_t ut_time_map_drift(const struct ut_time_map *m)
{
	const struct ut_time_knot *a = m->knots, *b = m->knots + m->count - 1;

	if (m->count < 2)
		return 0;
	return saturated(((wide)b->add - a->add) * 1000000000 / ((wide)b->at - a->at));
}

/* What both add up to at a time of the first, as a knot. */
static void chain_knot(const struct ut_time_map *first, const struct ut_time_map *then, int64_t at,
		       struct ut_time_map *both)
{
	int64_t middle = ut_time_map_to(first, at);

	ut_time_map_knot(both, at, saturated((wide)middle + ut_time_map_add(then, middle) - at),
			 plus(ut_time_map_error(first, at), ut_time_map_error(then, middle)));
}

/* Knots of then between two of first; not too near, where a rounded ns would be a slope. */
static void chain_inner(const struct ut_time_map *first, const struct ut_time_map *then, size_t i,
			struct ut_time_map *both)
{
	for (size_t k = 0; k < then->count; k++) {
		int64_t at = ut_time_map_from(first, then->knots[k].at);

		if (at > both->knots[both->count - 1].at + NEAR &&
		    at < first->knots[i + 1].at - NEAR)
			chain_knot(first, then, at, both);
	}
}

void ut_time_map_chain(const struct ut_time_map *first, const struct ut_time_map *then,
		       struct ut_time_map *both)
{
	for (size_t i = 0; i < first->count; i++) {
		chain_knot(first, then, first->knots[i].at, both);
		if (i + 1 < first->count && then->count > 1)
			chain_inner(first, then, i, both);
	}
	for (size_t k = 0; first->count < 2 && k < then->count; k++)
		chain_knot(first, then, ut_time_map_from(first, then->knots[k].at), both);
}

void ut_time_map_shift(struct ut_time_map *m, int64_t by)
{
	if (!m->count && by)
		ut_time_map_knot(m, 0, 0, 0);
	for (size_t i = 0; i < m->count; i++)
		m->knots[i].add = saturated((wide)m->knots[i].add + by);
}
