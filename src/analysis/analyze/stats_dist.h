/*
 * stats_dist.h - how a set of durations is distributed: count, sum, extremes, quantiles.
 *
 * Up to UT_DIST_EXACT values are kept as they are. One more, and all of them are counted in a
 * log-linear histogram instead: UT_DIST_STEPS equal steps per power of two, so that a step is less
 * than 0.8 % wide and its middle less than 0.4 % away from any value in it; values below 256 stay
 * exact. Which of the two it is depends on the number of values alone, and everything in here is
 * an integer: parts that are merged in any order and any split give the same result.
 *
 * {0} is empty. Owner: whoever releases it. Not thread-safe.
 */
#ifndef UT_ANALYZE_STATS_DIST_H
#define UT_ANALYZE_STATS_DIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

__extension__ typedef unsigned __int128 ut_u128;

#define UT_U128_MAX (~(ut_u128)0)

#define UT_DIST_EXACT  4096u
#define UT_DIST_STEPS  128u
#define UT_DIST_POWERS 58u /* [0, 128), [128, 256), [256, 512), ... up to 2^64 */

struct ut_dist {
	uint64_t count, min, max;
	ut_u128 total;     /* never overflows: at most 2^64 values below 2^64 */
	ut_u128 squares;   /* sum of squares; stops at UT_U128_MAX */
	uint64_t *values;  /* all of them, while there are at most UT_DIST_EXACT */
	uint64_t **powers; /* afterwards: arrays of UT_DIST_STEPS counts, made at need */
	size_t cap;
};

/* A step of the histogram, or one value while they are kept: values in [low, high]. */
struct ut_dist_step {
	uint64_t low, high;
	uint64_t count;
	uint32_t at; /* of the next one; start with {0} */
};

void ut_dist_release(struct ut_dist *d);

/* Which step a value belongs to: power * UT_DIST_STEPS + step. */
static inline uint32_t ut_dist_index(uint64_t value)
{
	unsigned int shift = 56u - (unsigned int)__builtin_clzll(value | UT_DIST_STEPS);

	return shift * UT_DIST_STEPS + (uint32_t)(value >> shift);
}

/* The smallest value of a step; that of the step after the last one is 0. */
static inline uint64_t ut_dist_low(uint32_t index)
{
	uint32_t power = index / UT_DIST_STEPS, step = index % UT_DIST_STEPS;

	if (!power)
		return step;
	return power < UT_DIST_POWERS ? (uint64_t)(step + UT_DIST_STEPS) << (power - 1) : 0;
}

void ut_dist_add(struct ut_dist *d, uint64_t value);

/* The same for n values; several nanoseconds less for each. */
void ut_dist_add_many(struct ut_dist *d, const uint64_t *values, size_t n);

/* n times the value that stands for a step; it does not change sums and extremes. */
void ut_dist_count(struct ut_dist *d, uint32_t index, uint64_t n);

/* to += from; from stays as it is. */
void ut_dist_merge(struct ut_dist *to, const struct ut_dist *from);

/* Counts in steps even if the values could be kept: two of a kind can be compared. */
void ut_dist_spread(struct ut_dist *d);

/* Sorts the values that are kept; the functions below want it done since the last add. */
void ut_dist_finalize(struct ut_dist *d);

/*
 * The smallest value that at least per_mille of 1000 values do not exceed; the middle of its step
 * once they are counted in steps, but never outside [min, max]. Nothing gives 0.
 */
uint64_t ut_dist_quantile(const struct ut_dist *d, unsigned int per_mille);

/* The next step that is not empty, in order of values; false at the end. */
bool ut_dist_next(const struct ut_dist *d, struct ut_dist_step *step);

uint64_t ut_dist_mean(const struct ut_dist *d); /* cut off; 0 for nothing */
double ut_dist_stddev(const struct ut_dist *d); /* of the values themselves: divided by count */

#endif
