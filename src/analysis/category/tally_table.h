/*
 * tally_table.h - a tally for readers: the original's JSON, and tables.
 */
#ifndef UT_CATEGORY_TALLY_TABLE_H
#define UT_CATEGORY_TALLY_TABLE_H

#include "category/tally.h"

struct ut_out;
struct ut_report_opts;

/* {"matmul_time": 1.5, "matmul_calls": 3.0, ...}, as Python's json module lays it out. */
void ut_tally_json(struct ut_out *out, const struct ut_tally_line *lines, size_t count);

/* A row for each category; shares are of the time of all work. */
int ut_tally_table(struct ut_out *out, const struct ut_report_opts *opts,
		   const struct ut_tally_line *lines, size_t count,
		   struct ut_err *err) UT_MUST_CHECK;

struct ut_tally_choice {
	const struct ut_schema *schema;
	enum ut_aggregate how;
	bool only_unknown; /* those that no rule knows */
};

/* A row for each name, with its category. */
int ut_tally_names(struct ut_out *out, const struct ut_report_opts *opts, const struct ut_tally *t,
		   const struct ut_tally_choice *choice, struct ut_err *err) UT_MUST_CHECK;

#endif
