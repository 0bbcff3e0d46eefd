/*
 * stats_exact.h - the exact sum of products value * weight, whatever their order.
 *
 * Sums of doubles depend on the order of their terms, and parts of a trace come back in any order.
 * So the sum is kept as one long whole number, in units of the smallest double: every product of a
 * double and a 64-bit weight fits without rounding, and 2^64 of them do not overflow it.
 */
#ifndef UT_ANALYZE_STATS_EXACT_H
#define UT_ANALYZE_STATS_EXACT_H

#include <stdbool.h>
#include <stdint.h>

#define UT_EXACT_WORDS 36 /* 1074 bits below the point, 1024 + 64 + 64 above, a sign */

/* Two's complement, the lowest word first. {0} is zero. */
struct ut_exact {
	uint64_t word[UT_EXACT_WORDS];
};

/* Infinities and NaN add nothing. */
void ut_exact_add(struct ut_exact *e, double value, uint64_t weight);

/* The same for whole numbers, of which a double would lose the last digits. */
void ut_exact_add_int(struct ut_exact *e, bool negative, uint64_t size, uint64_t weight);

void ut_exact_merge(struct ut_exact *to, const struct ut_exact *from);

/* Rounded once, here. */
long double ut_exact_value(const struct ut_exact *e);

#endif
