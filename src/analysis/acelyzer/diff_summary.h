/*
 * diff_summary.h - `unitrace diff` for two summaries of `analyze --json`.
 */
#ifndef UT_ACELYZER_DIFF_SUMMARY_H
#define UT_ACELYZER_DIFF_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "text/table_report.h"

struct ut_diff_rules;

struct ut_diff_summary {
	const char *before, *after;
	bool by_rank;
	struct ut_report_opts report;
	uint64_t min_count;
};

/* What rules about summaries can be about; to be called before rules are added. */
void ut_diff_summary_metrics(struct ut_diff_rules *rules);

/* Does what the format shows have the column that --sort names? */
int ut_diff_summary_check_sort(bool by_rank, const struct ut_report_opts *opts,
			       struct ut_err *err) UT_MUST_CHECK;

/* Reads, compares, prints; *failed: a rule is met. */
int ut_diff_summary(const struct ut_diff_summary *d, const struct ut_diff_rules *rules,
		    bool *failed, struct ut_err *err) UT_MUST_CHECK;

#endif
