/*
 * durations.h - how long it took: the rules of a setup over a log.
 *
 * Durations are whole cycles. A scope is what a rule looks at: a core, a chip, an op. Its results
 * are those of the rules that found something, in order of their names.
 */
#ifndef UT_TT_DURATIONS_H
#define UT_TT_DURATIONS_H

#include "tt/devlog.h"
#include "tt/log_ops.h"
#include "tt/setup.h"

#define UT_TT_NO_ROW UINT32_MAX

/*
 * One duration. Rows are UT_TT_NO_ROW where there are none: a sum, no launch yet. It is negative
 * where markers of an op were lost, and what is left of it is told with the next one.
 */
struct ut_tt_span {
	int64_t cycles;
	uint32_t start, end;
	uint32_t start_round, end_round; /* adjacent: the firmware start that came last */
};

struct ut_tt_stats {
	uint64_t count;
	int64_t max, min, sum, first;
	double average, median;
};

static inline uint64_t ut_tt_range(const struct ut_tt_stats *st)
{
	return (uint64_t)st->max - (uint64_t)st->min;
}

struct ut_tt_result {
	uint32_t rule;
	size_t span; /* the first of stats.count in analysis->spans */
	struct ut_tt_stats stats;
};

struct ut_tt_scope {
	size_t result, count;
};

/* The ops of one core that dispatches. */
struct ut_tt_dispatch {
	uint32_t core;
	struct ut_tt_ops ops;
	struct ut_tt_scope *scopes; /* per op */
};

/* An op on a core that dispatches, as a chip lists them. */
struct ut_tt_dispatch_op {
	uint32_t dispatch, op; /* op of analysis->dispatch[dispatch] */
};

struct ut_tt_chip_results {
	struct ut_tt_scope device;
	struct ut_tt_ops ops;
	struct ut_tt_scope *op_scopes;
	struct ut_tt_dispatch_op *dispatch_ops; /* by the time of their first row */
	size_t dispatch_count, dispatch_cap;
	/* over all scopes, per rule; count 0: nothing found. `first` says nothing here */
	struct ut_tt_stats summary[UT_TT_MAX_RULES];
};

struct ut_tt_analysis {
	struct ut_tt_log *log; /* not owned */
	struct ut_tt_setup setup;
	struct ut_tt_span *spans;
	size_t span_count, span_cap;
	struct ut_tt_result *results;
	size_t result_count, result_cap;
	struct ut_tt_scope *cores; /* per core */
	struct ut_tt_chip_results *chips;
	struct ut_tt_dispatch *dispatch;
	size_t dispatch_count, dispatch_cap;
};

/* All of it. Marks of log get their rules, and those on dispatching cores their names. */
void ut_tt_analyze(struct ut_tt_analysis *a, struct ut_tt_log *log,
		   const struct ut_tt_setup *setup);
void ut_tt_analysis_release(struct ut_tt_analysis *a);

/*
 * A launch of a core in a log of timer numbers begins with BRISC's firmware start: the number of
 * rows in by_core, from `at` on, up to the next one. Rows before the first begin no launch.
 */
bool ut_tt_begins_launch(const struct ut_tt_log *log, uint32_t row);

#endif
