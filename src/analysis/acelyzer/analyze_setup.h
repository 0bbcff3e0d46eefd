/*
 * analyze_setup.h - what an analysis was asked for, checked: which traces, which stages, which
 * results.
 */
#ifndef UT_ACELYZER_ANALYZE_SETUP_H
#define UT_ACELYZER_ANALYZE_SETUP_H

#include <stdbool.h>
#include <stddef.h>

#include "acelyzer/options.h"
#include "acelyzer/write_output.h"

enum ut_ace_verify {
	UT_ACE_VERIFY_NOT,
	UT_ACE_VERIFY_ONLY,   /* change nothing, but tell what an analysis could be trusted with */
	UT_ACE_VERIFY_REPORT, /* analyse, and tell how much of it can be trusted */
	UT_ACE_VERIFY_STRICT, /* ... and fail if that is too little */
};

/* Reports; "" = a name made from the output's. */
struct ut_ace_report_wants {
	const char *json, *html;
	const char *text; /* of a look at trust: where it goes */
	enum ut_ace_verify verify;
	double least; /* percent that must be trusted */
};

/* Checked. */
struct ut_ace_setup {
	struct ut_ace_opts opts;
	struct ut_ace_report_wants report;
	const char *input, *output, *logs, *format, *time_unit, *profile;
	const char *newer_because; /* the option that selected 1.2; NULL = none */
	enum ut_ace_layout layout;
	int level;
	bool tb, write_trace, intermediate;
	const char *soc_only;          /* --freq as it was written, if it has no core frequency */
	struct ut_ace_filter *filters; /* owned */
	size_t filter_count, filter_cap;
	const char *filter_lost; /* the pattern of a member that got another one; NULL = none */
	const char *filter_odd;  /* an entry of --event_filter that is no KEY:PATTERN */
};

#endif
