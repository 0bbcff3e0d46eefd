/*
 * hotspots_table.h - profiles for people and programs: what to look at first, and tables. People
 * get short names, programs whole ones.
 */
#ifndef UT_SAMPLE_HOTSPOTS_TABLE_H
#define UT_SAMPLE_HOTSPOTS_TABLE_H

#include "base/err.h"

struct ut_call_tree;
struct ut_hotspots;
struct ut_out;
struct ut_prof;
struct ut_report_opts;

/* The first lines of a report: hot_summary.h, how busy CPUs were, and how much there was in a run
 * before, if there is one. */
void ut_prof_print_summary(struct ut_out *out, const struct ut_prof *p,
			   const struct ut_prof *before);

int ut_hotspots_check_sort(const char *sort, struct ut_err *err) UT_MUST_CHECK;
void ut_hotspots_print(struct ut_out *out, const struct ut_hotspots *h,
		       const struct ut_report_opts *report);

/* Nodes that take at least so many percent. People see the tree by indents, programs by depth and
 * number of the parent. */
int ut_call_tree_check_sort(const char *sort, struct ut_err *err) UT_MUST_CHECK;
void ut_call_tree_print(struct ut_out *out, const struct ut_call_tree *t, double least,
			const struct ut_report_opts *report);

/* Functions of two runs: what has become more, what less. The largest change first. */
int ut_prof_check_diff_sort(const char *sort, struct ut_err *err) UT_MUST_CHECK;
void ut_prof_print_diff(struct ut_out *out, const struct ut_prof *before,
			const struct ut_prof *after, const struct ut_report_opts *report);

#endif
