/*
 * roofline_table.h - a roofline as tables: ours, and the one that Intel's roofline.py prints.
 */
#ifndef UT_METRICS_ROOFLINE_TABLE_H
#define UT_METRICS_ROOFLINE_TABLE_H

#include "base/err.h"
#include "metrics/roofline.h"

struct ut_out;
struct ut_report_opts;

/* A row for each kernel: time, what it is bound by, how near to its roof, rates, intensities. */
int ut_roof_table(struct ut_out *out, const struct ut_report_opts *opts, const struct ut_roof *r,
		  struct ut_err *err) UT_MUST_CHECK;

/* A row for each kernel and level of memory: bytes, bandwidth, share of the most, hits. */
int ut_roof_levels(struct ut_out *out, const struct ut_report_opts *opts, const struct ut_roof *r,
		   struct ut_err *err) UT_MUST_CHECK;

/* Does the table of kernels, or that of levels, have the column that sort names? NULL is fine. */
int ut_roof_check_sort(bool levels, const char *sort, struct ut_err *err) UT_MUST_CHECK;

/*
 * The layout of roofline.py, with its sums below. Where that stops or prints what its titles do not
 * say, this does what they say: operations that are none of FP16_XMX count in the intensities, a
 * kernel without bytes has none of these, and totals are in TFlop.
 */
void ut_roof_compat(struct ut_out *out, const struct ut_roof *r);

#endif
