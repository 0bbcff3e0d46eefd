/*
 * summary_chart.h - `unitrace summary --chart`: the time of each category as bars, the longest
 * first.
 */
#ifndef UT_CMD_SUMMARY_CHART_H
#define UT_CMD_SUMMARY_CHART_H

#include <stddef.h>

#include "base/err.h"

struct ut_tally_line;

/* title: what was summed up. Lines stay as they are. */
int ut_summary_chart(const char *path, const char *title, const struct ut_tally_line *lines,
		     size_t count, struct ut_err *err) UT_MUST_CHECK;

#endif
