/*
 * write_report.h - the report as files. The report must be in order.
 */
#ifndef UT_OPS_WRITE_REPORT_H
#define UT_OPS_WRITE_REPORT_H

struct ut_ops_report;
struct ut_out;

/* As Python's csv module writes: CRLF, quotes where they are needed. */
void ut_ops_write_csv(const struct ut_ops_report *r, struct ut_out *out);

/* An object per row; what a row does not have is left out, numbers are numbers. */
void ut_ops_write_json(const struct ut_ops_report *r, struct ut_out *out);

#endif
