/*
 * memory_table.h - memory for people and programs: what to look at first, and a table.
 */
#ifndef UT_SAMPLE_MEMORY_TABLE_H
#define UT_SAMPLE_MEMORY_TABLE_H

#include "base/err.h"

struct ut_buf;
struct ut_memory_report;
struct ut_out;
struct ut_report_opts;

int ut_memory_check_sort(const char *sort, struct ut_err *err) UT_MUST_CHECK;

/* Sorted before. */
void ut_memory_print(struct ut_out *out, const struct ut_memory_report *r,
		     const struct ut_report_opts *opts);

/* One sentence; of several processes, about the one with the highest peak. */
void ut_memory_summary_text(struct ut_buf *b, const struct ut_memory_report *r);

#endif
