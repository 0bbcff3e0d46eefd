/*
 * analysis_report.h - what an analysis has found, for machines (JSON), for people (a page, a few
 * lines).
 *
 * All of them show the same numbers: those of extra.h, and what is worked out here for several of
 * them. docs/guides/analyze-report.md has the keys.
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

#define UT_ACE_STEP_BARS       1024u /* of a rank; of more steps, several are taken together */
#define UT_ACE_REPORT_MESSAGES 1000u

void ut_ace_report_json(struct ut_out *o, const struct ut_ace_report *r);
void ut_ace_report_text(struct ut_out *o, const struct ut_ace_report *r);

/* The viewer as one file, with the events of the analysis and tabs of ours. Errors stick to o. */
void ut_ace_report_html(struct ut_out *o, const struct ut_ace_report *r);

/* Parts of the JSON, each a member without the comma before it. */
void ut_ace_report_colls(struct ut_out *o, const struct ut_ace_report *r);
void ut_ace_report_power(struct ut_out *o, const struct ut_ace_report *r);
void ut_ace_report_verify(struct ut_out *o, const struct ut_ace_report *r);

/* ---- what several reports show --------------------------------------------------------------- */

/* Some steps of a rank, one after the other, added up. */
struct ut_ace_bar {
	size_t first, count;
	struct ut_ace_split sum;
	double energy; /* J */
};

/* The bar that begins with this step. Bars are so long that a rank has no more than most. */
struct ut_ace_bar ut_ace_step_bar(const struct ut_ace_extra_rank *k, size_t first, size_t most);

struct ut_ace_step_times {
	double mean; /* ns */
	int64_t median, min, max;
};

/* Of a rank that has steps. */
struct ut_ace_step_times ut_ace_step_times(const struct ut_ace_extra_rank *k);

/* All ranks together. */
void ut_ace_add_split(struct ut_ace_split *a, const struct ut_ace_split *b);

/* By place of the rank: time of all its kernels, us. The caller frees it. */
double *ut_ace_kernel_totals(const struct ut_ace_extra *x);

/* All collectives of one name. */
struct ut_ace_coll_row {
	uint32_t name, ranks, worst; /* worst: place of the rank that is last most often */
	uint64_t count, worst_count;
	double length, late, spread; /* sums, ns */
	int64_t longest, latest;
};

/* The latest first. The caller frees it. */
struct ut_ace_coll_row *ut_ace_coll_rows(const struct ut_ace_extra *x, size_t *count);

#define UT_ACE_HEAT_COLUMNS 48u

/* How much later than the first each rank came, ns, NAN where it took no part: a row for each rank;
 * columns, whose number is returned, are collectives in their order. The caller frees it. */
size_t ut_ace_late_heat(const struct ut_ace_extra *x, double **late);

#define UT_ACE_POWER_COLUMNS 120

/* When power is known of any rank; false = never. */
bool ut_ace_power_span(const struct ut_ace_extra *x, int64_t *begin, int64_t *end);
void ut_ace_power_curve(const struct ut_ace_extra_rank *k, int64_t begin, int64_t end,
			double watts[UT_ACE_POWER_COLUMNS]);
const char *ut_ace_no_power(void); /* why it is not known */

/* In percent of what an issue is counted in; NAN = of nothing that can be counted. */
double ut_ace_issue_share(const struct ut_ace_trust *t, enum ut_ace_base base, uint64_t count);

/* Numbers and names as JSON. */
void ut_ace_report_us(struct ut_out *o, const char *key, int64_t ns);
void ut_ace_report_num(struct ut_out *o, const char *key, double value);
void ut_ace_report_name(struct ut_out *o, const struct ut_ace_report *r, uint32_t name);

#endif
