/*
 * make_flex.h - flex traces for tests, span by span, on a device whose counter runs at 1000 MHz and
 * was 0 at 0 us: a microsecond is a thousand cycles.
 */
#ifndef UT_TESTS_AIU_MAKE_FLEX_H
#define UT_TESTS_AIU_MAKE_FLEX_H

#include <math.h>

#include "acelyzer/extra.h"
#include "base/str.h"

#define assert_near(x, y, by) assert_true(fabs((x) - (y)) <= (by))

struct flex_span {
	const char *name; /* " DmaI", " Cmpt Prep", " Cmpt Exec", " DmaO" say which stamps count */
	int rank;
	double from, to;   /* us */
	const char *group; /* CollGroup; NULL = none */
	const char *peer;
	double power; /* reading; 0 = none */
};

/* Adds the span to a list that ut_buf_text(b, "]") closes. */
void flex_add(struct ut_buf *b, const struct flex_span *s);

/*
 * Runs all stages over one file with these spans and then the extra, which the caller releases
 * before a. Ranks are not aligned: times stay as they are.
 */
void flex_run(struct ut_ace_analysis *a, struct ut_ace_extra *x, const struct flex_span *spans,
	      size_t n);
void flex_run_text(struct ut_ace_analysis *a, struct ut_ace_extra *x,
		   const struct ut_ace_opts *opts, const char *text);

#endif
