/*
 * page_sheet.h - the rows of a report for its page, all of them, in little space.
 *
 * A row of a report is made of parts, and rows of one program share them (report.h); so does the
 * sheet. web/src/tools/ops_sheet.ts reads it:
 *
 *	rows, host, device     when each row is on the timeline, as steps; null = it is not
 *	parts                  per part of a row: which of the distinct ones, from 1, 0 = none;
 *	                       null = each row has its own
 *	columns                key, type, missing, steps: v holds differences
 *	cells                  per column, per part that has it: { part, at, v, words }
 *
 * v holds the cells of the distinct parts that have the column; at the steps from one of those to
 * the next, if not all have it; with words, v holds places in words. In lists of rows or parts,
 * [COUNT, VALUE] stands for a run of equal items (page_runs.h).
 */
#ifndef UT_OPS_PAGE_SHEET_H
#define UT_OPS_PAGE_SHEET_H

struct ut_ops_page_trace;
struct ut_ops_report;
struct ut_out;
struct ut_view;

/* Times are those of the view; of t, only its times and clock are looked at. */
void ut_ops_page_sheet_write(const struct ut_ops_report *r, const struct ut_ops_page_trace *t,
			     const struct ut_view *v, struct ut_out *out);

#endif
