/*
 * table_diff.h - a difference (analyze/diff.h) as text or JSON, and which rules it breaks.
 */
#ifndef UT_EXPORT_TABLE_DIFF_H
#define UT_EXPORT_TABLE_DIFF_H

#include <stddef.h>

#include "analyze/diff_rule.h"

struct ut_out;

/* At most limit rows (0 = all), one line on the rest, and one for every failure. */
void ut_diff_text(struct ut_out *o, const struct ut_diff *d, size_t limit,
		  const struct ut_diff_failure *failures, size_t failure_count);

void ut_diff_json(struct ut_out *o, const struct ut_diff *d, const struct ut_diff_failure *failures,
		  size_t failure_count);

#endif
