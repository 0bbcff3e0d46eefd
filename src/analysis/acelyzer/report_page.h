/*
 * report_page.h - what the page of an analysis has besides the timeline: sheets for the tabs of
 * web/src/tools/analyze.tsx. Shared by the files report_html.c, page_*.c and nobody else.
 */
#ifndef UT_ACELYZER_REPORT_PAGE_H
#define UT_ACELYZER_REPORT_PAGE_H

#include "acelyzer/analysis_report.h"

struct ut_out;
struct ut_view;

struct ut_ace_page {
	const struct ut_ace_report *report;
	struct ut_view *view;
	int64_t shift; /* ns: from extra.zero to where the times of the page's store count from */
};

/* A moment of extra.h on the clock of the page. */
uint64_t ut_ace_page_time(const struct ut_ace_page *p, int64_t ns);

/* Attaches what there is; where there is nothing to show, there is no sheet, and no tab. */
void ut_ace_page_sheets(const struct ut_ace_page *p);

/* Sheets of how much can be trusted. */
void ut_ace_page_trust(const struct ut_ace_page *p);

/* The verdict, what else costs time, and every issue beside its remedy. */
void ut_ace_page_findings(const struct ut_ace_page *p);

/* json is taken over. */
void ut_ace_page_attach(const struct ut_ace_page *p, const char *name, struct ut_out *json);

#endif
