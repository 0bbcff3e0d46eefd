/*
 * analysis_report.h - what an analysis has found, for machines (JSON), for people (a page, a few
 * lines).
 *
 * All of them show the same numbers: the page embeds the JSON, shortened so that its size does
 * not depend on the length of the trace. docs/guides/analyze-report.md has the keys.
 */
#ifndef UT_ACELYZER_ANALYSIS_REPORT_H
#define UT_ACELYZER_ANALYSIS_REPORT_H

#include "acelyzer/extra.h"

struct ut_out;

struct ut_ace_report {
	const struct ut_ace_analysis *a;
	const struct ut_ace_extra *x;
	const char *title;  /* of the page: the trace that was written */
	const char *source; /* JSON object: what made it */
};

/* How much of the lists is shown; 0 = all of it. */
struct ut_ace_report_limits {
	size_t kernels, colls, messages;
	size_t bars, all_bars; /* steps of a rank, and of all; what is more is taken together */
};

extern const struct ut_ace_report_limits ut_ace_report_all, ut_ace_report_page;

void ut_ace_report_json(struct ut_out *o, const struct ut_ace_report *r,
			const struct ut_ace_report_limits *limits);
void ut_ace_report_html(struct ut_out *o, const struct ut_ace_report *r);
void ut_ace_report_text(struct ut_out *o, const struct ut_ace_report *r);

/* Parts of the JSON, each a member without the comma before it. */
void ut_ace_report_steps(struct ut_out *o, const struct ut_ace_report *r,
			 const struct ut_ace_report_limits *limits);
void ut_ace_report_kernels(struct ut_out *o, const struct ut_ace_report *r, size_t most);
void ut_ace_report_colls(struct ut_out *o, const struct ut_ace_report *r, size_t most);
void ut_ace_report_power(struct ut_out *o, const struct ut_ace_report *r);
void ut_ace_report_verify(struct ut_out *o, const struct ut_ace_report *r, size_t messages);

/* Numbers and names as JSON. */
void ut_ace_report_us(struct ut_out *o, const char *key, int64_t ns);
void ut_ace_report_num(struct ut_out *o, const char *key, double value);
void ut_ace_report_name(struct ut_out *o, const struct ut_ace_report *r, uint32_t name);

#endif
