/*
 * log_compare.h - two logs side by side: what took how long before and after.
 */
#ifndef UT_TT_LOG_COMPARE_H
#define UT_TT_LOG_COMPARE_H

#include "tt/durations.h"

struct ut_out;

/*
 * A row per chip and rule that either log has results for. Both must be of the same family.
 */
void ut_tt_compare(const struct ut_tt_analysis *before, const struct ut_tt_analysis *after,
		   struct ut_out *out);

#endif
