/*
 * table_diff.h - a difference (analyze/diff.h) as a report, and which rules it breaks.
 */
#ifndef UT_REPORT_TABLE_DIFF_H
#define UT_REPORT_TABLE_DIFF_H

#include <stddef.h>

#include "analyze/diff_rule.h"

struct ut_out;
struct ut_report_opts;

/* Does the table have the column that --sort names (NULL = none is named)? */
int ut_diff_check_sort(unsigned int by, bool by_runs, const char *sort,
		       struct ut_err *err) UT_MUST_CHECK;

/* The rows; people get a line for every failure, JSON a list of them. The order is checked. */
void ut_diff_print(struct ut_out *o, const struct ut_diff *d, const struct ut_report_opts *opts,
		   const struct ut_diff_failure *failures, size_t failure_count);

#endif
