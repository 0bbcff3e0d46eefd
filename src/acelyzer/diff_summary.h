/*
 * diff_summary.h - `unitrace diff` for two summaries of `analyze --json`.
 */
#ifndef UT_ACELYZER_DIFF_SUMMARY_H
#define UT_ACELYZER_DIFF_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct ut_diff_rules;

struct ut_diff_summary {
	const char *before, *after;
	bool by_rank, json;
	uint64_t rows, min_count;
};

/* What rules about summaries can be about; to be called before rules are added. */
void ut_diff_summary_metrics(struct ut_diff_rules *rules);

/* Reads, compares, prints; *failed: a rule is met. */
int ut_diff_summary(const struct ut_diff_summary *d, const struct ut_diff_rules *rules,
		    bool *failed, struct ut_err *err) UT_MUST_CHECK;

#endif
