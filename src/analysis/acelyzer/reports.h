/*
 * reports.h - the reports of an analysis: --json, --html, --verify.
 */
#ifndef UT_ACELYZER_REPORTS_H
#define UT_ACELYZER_REPORTS_H

#include "acelyzer/analyze_setup.h"
#include "acelyzer/extra.h"

/* Is any report asked for? Otherwise nothing needs to be watched. */
bool ut_ace_reports(const struct ut_ace_report_wants *w);

/* Does a report go to standard output? Then nothing else may. */
bool ut_ace_report_speaks(const struct ut_ace_report_wants *w);

/*
 * Works out and writes what is asked for; other is the JSON object that says what made it. The
 * events must have been written: a bare --verify runs the analysis only now. *trusted is false if
 * a strict --verify fails. 0, or negative errno.
 */
int ut_ace_report_make(struct ut_ace_analysis *a, struct ut_ace_extra *x,
		       const struct ut_ace_setup *s, const char *other, bool *trusted,
		       struct ut_err *err) UT_MUST_CHECK;

#endif
