/*
 * log_compare.h - two logs side by side: what took how long before and after.
 */
#ifndef UT_TT_LOG_COMPARE_H
#define UT_TT_LOG_COMPARE_H

#include "base/err.h"
#include "tt/durations.h"

struct ut_out;
struct ut_report_opts;

/* Is there such a column to order by? NULL = none is named. */
int ut_tt_compare_check_sort(const char *sort, struct ut_err *err) UT_MUST_CHECK;

/*
 * A row per chip and rule that either log has results for. Both must be of the same family. The
 * order has been checked.
 */
void ut_tt_compare(const struct ut_tt_analysis *before, const struct ut_tt_analysis *after,
		   struct ut_out *out, const struct ut_report_opts *opts);

#endif
