/*
 * time_bounds.c - see time_bounds.h.
 *
 * A line is its offset at the origin and its slope. For a given slope the offset may be anywhere
 * between the highest lower bound and the lowest upper one, both slid along the slope to the
 * origin; how much room that leaves is a concave function of the slope, so its maximum is found by
 * narrowing, and so are the ends of what is possible at a time. Only the corners of the convex
 * hulls can touch a line.
 */
#include "clocks/time_bounds.h"

#include <math.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/sort.h"

#define STEPS      100 /* of narrowing: a factor of 10^17 */
#define MOST_CUTS  12
#define FEW_BOUNDS 8 /* on a side, in a piece of time that is not cut further */

/* ---- bounds -------------------------------------------------------------------------------- */

void ut_time_bounds_release(struct ut_time_bounds *b)
{
	free(b->lower);
	free(b->upper);
	*b = (struct ut_time_bounds){ 0 };
}

void ut_time_bounds_at_least(struct ut_time_bounds *b, int64_t at, int64_t offset)
{
	b->lower = ut_grow_raw(b->lower, b->lower_count + 1, &b->lower_cap, sizeof(*b->lower));
	b->lower[b->lower_count++] = (struct ut_time_bound){ at, offset };
}

void ut_time_bounds_at_most(struct ut_time_bounds *b, int64_t at, int64_t offset)
{
	b->upper = ut_grow_raw(b->upper, b->upper_count + 1, &b->upper_cap, sizeof(*b->upper));
	b->upper[b->upper_count++] = (struct ut_time_bound){ at, offset };
}

static int time_bounds_by_time(const void *a, const void *b)
{
	const struct ut_time_bound *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

/* ---- one line ------------------------------------------------------------------------------ */

struct corner {
	double at, offset; /* from the origin */
};

struct hull {
	struct corner *corners;
	size_t count, cap;
	int side; /* 1: lower bounds, of which the highest count; -1: upper ones */
};

/* Pieces of evidence of one stretch of time. */
struct piece {
	const struct ut_time_bound *lower, *upper;
	size_t lower_count, upper_count;
	int64_t from, to;
};

struct line {
	double slope, offset; /* at the origin */
};

struct fit {
	int64_t at, offset; /* the origin: all else is counted from there, to keep its digits */
	struct hull lower, upper;
	double first, last; /* slopes with room */
	struct line best;
	double room; /* half of the way from bound to bound */
};

static void add_corner(struct hull *h, double at, double offset)
{
	while (h->count > 1) {
		const struct corner *b = &h->corners[h->count - 1], *a = b - 1;
		double turn = (b->offset - a->offset) * (at - a->at) -
			      (offset - a->offset) * (b->at - a->at);

		if (turn * h->side > 0)
			break;
		h->count--;
	}
	h->corners = ut_grow_raw(h->corners, h->count + 1, &h->cap, sizeof(*h->corners));
	h->corners[h->count++] = (struct corner){ at, offset };
}

static void make_hull(struct fit *f, struct hull *h, const struct ut_time_bound *bounds, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		double at = (double)(bounds[i].at - f->at);
		double offset = (double)(bounds[i].offset - f->offset);

		/* Of several at one time only the narrowest counts. */
		if (h->count && h->corners[h->count - 1].at >= at) {
			if (h->side * (offset - h->corners[h->count - 1].offset) <= 0)
				continue;
			h->count--;
		}
		add_corner(h, at, offset);
	}
}

/* The bound that counts, slid to the origin. */
static double slid(const struct hull *h, double slope)
{
	double best = h->corners[0].offset - slope * h->corners[0].at;

	for (size_t i = 1; i < h->count; i++) {
		double here = h->corners[i].offset - slope * h->corners[i].at;

		best = h->side * (here - best) > 0 ? here : best;
	}
	return best;
}

static double room_at(const struct fit *f, double slope, double at)
{
	(void)at;
	return slid(&f->upper, slope) - slid(&f->lower, slope);
}

/* The highest and the lowest that lines of a slope can be at a time. */
static double top_at(const struct fit *f, double slope, double at)
{
	return slid(&f->upper, slope) + slope * at;
}

static double bottom_at(const struct fit *f, double slope, double at)
{
	return -(slid(&f->lower, slope) + slope * at);
}

/* Where a concave function of the slope is highest. */
static double highest(const struct fit *f, double (*value)(const struct fit *, double, double),
		      double at)
{
	double lo = f->first, hi = f->last;

	for (int i = 0; i < STEPS && hi > lo; i++) {
		double a = lo + (hi - lo) / 3, b = hi - (hi - lo) / 3;

		if (value(f, a, at) < value(f, b, at))
			lo = a;
		else
			hi = b;
	}
	return (lo + hi) / 2;
}

/* From a slope with room towards one without: where it ends. */
static double edge(const struct fit *f, double with, double without)
{
	if (room_at(f, without, 0) >= 0)
		return without;
	for (int i = 0; i < STEPS; i++) {
		double mid = (with + without) / 2;

		if (room_at(f, mid, 0) >= 0)
			with = mid;
		else
			without = mid;
	}
	return with;
}

/* What is possible at a time, from the lowest to the highest. */
static void range_at(const struct fit *f, double at, double *low, double *high)
{
	*high = top_at(f, highest(f, top_at, at), at);
	*low = -bottom_at(f, highest(f, bottom_at, at), at);
}

struct ends {
	double add[2], error[2];
};

/*
 * Clocks run nearly alike: of the slopes that leave half as much room as the best one, that which
 * is nearest to none. Where time is long, all of them are the same.
 */
static double calm_slope(const struct fit *f)
{
	double with = f->best.slope, without = f->first > 0 ? f->first : f->last < 0 ? f->last : 0;

	if (room_at(f, without, 0) >= f->room)
		return without;
	for (int i = 0; i < STEPS; i++) {
		double mid = (with + without) / 2;

		if (room_at(f, mid, 0) >= f->room)
			with = mid;
		else
			without = mid;
	}
	return with;
}

/* The middle between the bounds, and how far what else is possible is from it. */
static struct ends middle(const struct fit *f, double from, double to)
{
	const double slope = calm_slope(f);
	const double offset = (slid(&f->upper, slope) + slid(&f->lower, slope)) / 2;
	struct ends e;

	for (int i = 0; i < 2; i++) {
		double at = i ? to : from, low, high;

		range_at(f, at, &low, &high);
		e.add[i] = offset + slope * at;
		e.error[i] = fmax(high - e.add[i], e.add[i] - low);
		e.error[i] = e.error[i] > 0 ? e.error[i] : 0;
	}
	return e;
}

static void fit_line(struct fit *f, const struct piece *p)
{
	*f = (struct fit){ .at = p->from + (p->to - p->from) / 2,
			   .offset = p->lower[0].offset,
			   .lower.side = 1,
			   .upper.side = -1,
			   .first = -UT_CLOCK_DRIFT_MOST,
			   .last = UT_CLOCK_DRIFT_MOST };
	make_hull(f, &f->lower, p->lower, p->lower_count);
	make_hull(f, &f->upper, p->upper, p->upper_count);
	f->best.slope = highest(f, room_at, 0);
	f->room = room_at(f, f->best.slope, 0) / 2;
	f->best.offset = slid(&f->lower, f->best.slope) + f->room;
	if (f->room < 0)
		return;
	f->first = edge(f, f->best.slope, f->first);
	f->last = edge(f, f->best.slope, f->last);
}

static void release_fit(struct fit *f)
{
	free(f->lower.corners);
	free(f->upper.corners);
}

/* ---- all of the time ----------------------------------------------------------------------- */

static size_t first_from(const struct ut_time_bound *bounds, size_t count, int64_t at)
{
	size_t lo = 0, hi = count;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (bounds[mid].at < at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Two halves, each with enough on both sides; false if there are none. */
static bool time_bounds_cut(const struct piece *p, struct piece halves[2])
{
	int64_t mid = p->from + (p->to - p->from) / 2;
	size_t low = first_from(p->lower, p->lower_count, mid);
	size_t up = first_from(p->upper, p->upper_count, mid);

	halves[0] = (struct piece){ p->lower, p->upper, low, up, p->from, mid };
	halves[1] = (struct piece){ p->lower + low,      p->upper + up, p->lower_count - low,
				    p->upper_count - up, mid,           p->to };
	for (int i = 0; i < 2; i++) {
		if (halves[i].lower_count < FEW_BOUNDS || halves[i].upper_count < FEW_BOUNDS)
			return false;
	}
	return true;
}

/* A stretch behind those before: where two meet, the middle of what they say. */
static void append(struct ut_time_map *map, const struct piece *p, const struct fit *f,
		   const struct ends *e)
{
	const struct ut_time_knot *last = map->count ? &map->knots[map->count - 1] : NULL;
	int64_t add[2] = { f->offset + llround(e->add[0]), f->offset + llround(e->add[1]) };
	uint64_t error[2] = { (uint64_t)ceil(e->error[0]) + 1, (uint64_t)ceil(e->error[1]) + 1 };

	if (last && last->at == p->from) {
		int64_t apart = (last->add - add[0]) / 2;

		error[0] =
			(last->error > error[0] ? last->error : error[0]) + (uint64_t)llabs(apart);
		add[0] += apart;
	}
	ut_time_map_knot(map, p->from, add[0], error[0]);
	if (p->to > p->from)
		ut_time_map_knot(map, p->to, add[1], error[1]);
}

static enum ut_bounds_fit fit_piece(const struct piece *p, int cuts, struct ut_time_map *map)
{
	enum ut_bounds_fit worst = UT_FIT_GOOD;
	double from, to;
	struct piece halves[2];
	struct ends e;
	struct fit f;

	fit_line(&f, p);
	from = (double)(p->from - f.at);
	to = (double)(p->to - f.at);
	if (f.room < 0 && cuts < MOST_CUTS && time_bounds_cut(p, halves)) {
		release_fit(&f);
		for (int i = 0; i < 2; i++) {
			if (fit_piece(&halves[i], cuts + 1, map) == UT_FIT_CONTRARY)
				worst = UT_FIT_CONTRARY;
		}
		return worst;
	}
	if (f.room >= 0) {
		e = middle(&f, from, to);
	} else {
		worst = UT_FIT_CONTRARY;
		e = (struct ends){ { f.best.offset + f.best.slope * from,
				     f.best.offset + f.best.slope * to },
				   { -f.room, -f.room } };
	}
	append(map, p, &f, &e);
	release_fit(&f);
	return worst;
}

/* The guess, moved as little as the bounds of one side allow. */
static void stay_near(const struct ut_time_bounds *b, int64_t from, int64_t guess,
		      struct ut_time_map *map)
{
	for (size_t i = 0; i < b->lower_count; i++)
		guess = b->lower[i].offset > guess ? b->lower[i].offset : guess;
	for (size_t i = 0; i < b->upper_count; i++)
		guess = b->upper[i].offset < guess ? b->upper[i].offset : guess;
	ut_time_map_knot(map, from, guess, UT_TIME_UNKNOWN);
}

enum ut_bounds_fit ut_time_bounds_fit(struct ut_time_bounds *b, int64_t from, int64_t to,
				      int64_t guess, struct ut_time_map *map)
{
	struct piece p;

	ut_sort(b->lower, b->lower_count, sizeof(*b->lower), time_bounds_by_time);
	ut_sort(b->upper, b->upper_count, sizeof(*b->upper), time_bounds_by_time);
	p = (struct piece){ b->lower, b->upper, b->lower_count, b->upper_count, from, to };
	if (!b->lower_count || !b->upper_count) {
		stay_near(b, from, guess, map);
		return UT_FIT_NONE;
	}
	return fit_piece(&p, 0, map);
}
