/*
 * table_stats.h - statistics (analyze/stats.h) as reports. People get units, programs ns.
 */
#ifndef UT_REPORT_TABLE_STATS_H
#define UT_REPORT_TABLE_STATS_H

#include <stdbool.h>
#include <stddef.h>

#include "analyze/stats.h"
#include "base/err.h"

struct ut_out;
struct ut_report_cell;
struct ut_report_column;
struct ut_report_opts;

enum ut_stats_what {
	UT_STATS_SPANS,
	UT_STATS_COUNTERS,
	UT_STATS_INSTANTS,
};

struct ut_stats_view {
	enum ut_stats_what what; /* JSON has all of them; order and pages are of this one */
	const char *histogram;   /* a pattern for names: text shows only these, JSON adds them */
};

/* Does the table have the column that --sort names (NULL = none is named)? */
int ut_stats_check_sort(unsigned int by, const struct ut_stats_view *v, const char *sort,
			struct ut_err *err) UT_MUST_CHECK;

/* sort has been checked; "name" is the order of all texts, whatever rows are about. */
void ut_stats_print(struct ut_out *o, struct ut_stats *s, const struct ut_stats_view *v,
		    const struct ut_report_opts *opts);

/* The columns for the dimensions in by, and what a row has there. How many there are. */
size_t ut_stats_key_columns(struct ut_report_column *to, unsigned int by);
size_t ut_stats_key_cells(struct ut_report_cell *to, const struct ut_stats *s, const uint32_t *key,
			  unsigned int by);

#endif
