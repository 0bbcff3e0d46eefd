/*
 * diff_test.h - could two sets of durations be from the same source? Tests of statistics.
 *
 * Each gives p: how often a difference at least as large would come about by chance alone. 1 when
 * there is too little to say anything.
 */
#ifndef UT_ANALYZE_DIFF_TEST_H
#define UT_ANALYZE_DIFF_TEST_H

#include <stddef.h>

struct ut_dist;

/*
 * Mann and Whitney's test of two distributions (settled, see stats_dist.h), by ranks, with ties,
 * two-sided. *above is how often a value of b, picked by chance, exceeds one of a: 0.5 = no shift.
 */
double ut_test_ranks(const struct ut_dist *a, const struct ut_dist *b, double *above);

/*
 * Welch's t test of two samples, two-sided: one value per run. With a single run on one side its
 * spread is taken to be that of the other side.
 */
double ut_test_welch(const double *a, size_t a_count, const double *b, size_t b_count);

/* p of Student's t distribution, two-sided. */
double ut_test_student(double t, double freedom);

/*
 * Many tests find something by chance: makes p, in place, the share of false ones to expect among
 * all that are at least as small (Benjamini and Hochberg). p < 0 is left out.
 */
void ut_test_adjust(double *p, size_t count);

#endif
