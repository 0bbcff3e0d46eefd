/*
 * page_findings.h - what is worth a look in a report, in sentences: the evidence and the remedy
 * beside it. A list of Finding (web/src/source/contract.ts); the first one is the page's verdict.
 */
#ifndef UT_OPS_PAGE_FINDINGS_H
#define UT_OPS_PAGE_FINDINGS_H

struct ut_ops_page_trace;
struct ut_ops_report;
struct ut_out;
struct ut_view;

/* Times are those of the view, whose only trace is that of t. */
void ut_ops_page_findings_write(const struct ut_ops_report *r, const struct ut_ops_page_trace *t,
				const struct ut_view *v, struct ut_out *out);

#endif
