/*
 * time_bounds.h - how far one clock is ahead of another, between bounds.
 *
 * Each piece of evidence says that at some time of a clock the offset to another was at least, or
 * at most, so much. Clocks drift evenly for a while: of all straight lines that lie between the
 * bounds the middle is taken, and how far the outermost ones are from it is a bound of the error.
 * Where no line fits, because a rate has changed, time is cut into halves until one does.
 *
 * Owner: whoever releases it. {0} knows nothing.
 */
#ifndef UT_CLOCKS_TIME_BOUNDS_H
#define UT_CLOCKS_TIME_BOUNDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clocks/time_map.h"

/* The rates of two clocks do not differ by more: 500 ns in a ms, which is as fast as a clock is
 * ever made to run after another. */
#define UT_CLOCK_DRIFT_MOST 5e-4

struct ut_time_bound {
	int64_t at, offset; /* ns */
};

struct ut_time_bounds {
	struct ut_time_bound *lower, *upper;
	size_t lower_count, lower_cap, upper_count, upper_cap;
};

/* What came of it. */
enum ut_bounds_fit {
	UT_FIT_NONE,    /* there is no evidence on one of the sides: the guess, moved as little as
			   the other allows; its error is unknown */
	UT_FIT_GOOD,    /* within the bounds */
	UT_FIT_CONTRARY /* evidence contradicts itself: as little as possible is violated */
};

void ut_time_bounds_release(struct ut_time_bounds *b);
/* At this time the offset was not less, or not more. */
void ut_time_bounds_at_least(struct ut_time_bounds *b, int64_t at, int64_t offset);
void ut_time_bounds_at_most(struct ut_time_bounds *b, int64_t at, int64_t offset);

/*
 * The offset from one time to another, as a map without knots before. guess: what is believed
 * without evidence. Puts the bounds into order.
 */
enum ut_bounds_fit ut_time_bounds_fit(struct ut_time_bounds *b, int64_t from, int64_t to,
				      int64_t guess, struct ut_time_map *map);

#endif
