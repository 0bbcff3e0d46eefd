/*
 * kernel_table.h - groups of kernels with their verdicts, as a table (text/table_report.h).
 */
#ifndef UT_OPS_KERNEL_TABLE_H
#define UT_OPS_KERNEL_TABLE_H

#include "base/err.h"

struct ut_kernel_groups;
struct ut_out;
struct ut_report_opts;

/* -EINVAL: there is no column of that name to sort by. */
int ut_kernel_table_check(const char *sort, struct ut_err *err) UT_MUST_CHECK;

/* The groups are finished. */
void ut_kernel_table_print(struct ut_out *out, const struct ut_kernel_groups *g,
			   const struct ut_report_opts *opts);

#endif
