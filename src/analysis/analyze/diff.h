/*
 * diff.h - what has changed between two sets of runs: per name, and how sure it is that it has.
 *
 * Each side is one or more runs of a program; a run is one or more traces (its ranks), counted as
 * statistics. Counts and times are averages per run; quantiles are those of all runs of the side.
 * Owner: the caller. Not thread-safe.
 */
#ifndef UT_ANALYZE_DIFF_H
#define UT_ANALYZE_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/stats.h"

/* One run's part of a group. */
struct ut_diff_run {
	uint64_t count;
	double total; /* ns */
};

struct ut_diff_runs {
	struct ut_diff_run *items; /* by number of the group in the side's statistics */
	size_t count;
};

/* What was before, or after. */
struct ut_diff_side {
	struct ut_stats stats; /* of all runs */
	struct ut_diff_runs *runs;
	size_t run_count, run_cap;
};

void ut_diff_side_init(struct ut_diff_side *s, unsigned int by);
void ut_diff_side_release(struct ut_diff_side *s);
void ut_diff_side_add(struct ut_diff_side *s, const struct ut_stats *run);

/* metric, its word; the first three add up, the others are of single spans */
#define UT_DIFF_METRIC_LIST(X)                                                                     \
	X(COUNT, "count")                                                                          \
	X(TOTAL, "total")                                                                          \
	X(SELF, "self")                                                                            \
	X(MEAN, "mean")                                                                            \
	X(MIN, "min")                                                                              \
	X(P50, "p50")                                                                              \
	X(P90, "p90")                                                                              \
	X(P99, "p99")                                                                              \
	X(MAX, "max")

enum ut_diff_metric {
#define UT_DIFF_METRIC_ENUM(metric, word) UT_DIFF_METRIC_##metric,
	UT_DIFF_METRIC_LIST(UT_DIFF_METRIC_ENUM)
#undef UT_DIFF_METRIC_ENUM
	UT_DIFF_METRIC_COUNT_OF
};

extern const char *const ut_metric_words[UT_DIFF_METRIC_COUNT_OF];

/*
 * What is to be said about a change of durations. Several runs on a side: how sure it is that the
 * program has changed, by p of Welch's test of the means of the runs, adjusted for the number of
 * names. SURE: p < 0.001; LIKELY: p < 0.05. One run each: all calls of a run share what was special
 * about it (heat, neighbours, where its memory lay), so nothing can be said about the program, only
 * how far apart the calls of these two runs are. In 60 of 100 pairs of calls the one after is
 * longer, or shorter: LIKELY, which reads "apart" there; in 75: SURE, "far apart"; all else: NOISE,
 * "alike". So are calls that are far apart, but too few to be told from chance; these are "too
 * few".
 */
enum ut_significance {
	UT_SIGNIFICANCE_NOISE,
	UT_SIGNIFICANCE_LIKELY,
	UT_SIGNIFICANCE_SURE,
	UT_SIGNIFICANCES
};

extern const char *const ut_significance_words[UT_SIGNIFICANCES];
extern const char *const ut_apart_words[UT_SIGNIFICANCES]; /* the same for one run each */

struct ut_diff_row {
	const struct ut_stats_group *before, *after; /* NULL = not there */
	double old[UT_DIFF_METRIC_COUNT_OF];         /* ns, or a number; 0 where not there */
	double new[UT_DIFF_METRIC_COUNT_OF];
	double p;     /* by runs, or of the rank test; -1 = the name is new or has vanished */
	double above; /* how often a duration after exceeds one before, picked by chance */
	enum ut_significance significance;
	bool few; /* NOISE because there are too few calls */
};

struct ut_diff {
	struct ut_diff_side *before, *after;
	struct ut_diff_row *rows; /* the largest change of total first, then by texts */
	size_t count;
	bool by_runs; /* the runs are the sample; else there is one on each side */
};

/* Groups of which both sides have less than min_count spans are left out. Both sides stay. */
void ut_diff_make(struct ut_diff *d, struct ut_diff_side *before, struct ut_diff_side *after,
		  uint64_t min_count);
void ut_diff_release(struct ut_diff *d);

/* The statistics that hold the texts of a row, and its key. */
const struct ut_stats *ut_diff_texts(const struct ut_diff *d, const struct ut_diff_row *r,
				     const uint32_t **key);

#endif
