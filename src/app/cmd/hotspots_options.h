/*
 * hotspots_options.h - the options of `unitrace hotspots`: those of the report, and those of
 * recording that make sense there.
 */
#ifndef UT_CMD_HOTSPOTS_OPTIONS_H
#define UT_CMD_HOTSPOTS_OPTIONS_H

#include <stdbool.h>

#include "analyze/filter.h"
#include "base/err.h"
#include "cmd/record_options.h"
#include "cmd/table_options.h"
#include "sample/hotspots.h"
#include "sample/threads_table.h"

struct ut_arena;
struct ut_opt;

/* What is printed; one of them. */
enum ut_hot_report {
	UT_HOT_ROWS,
	UT_HOT_TREE,
	UT_HOT_BOTTOM_UP,
	UT_HOT_CALLERS,
	UT_HOT_CALLEES,
	UT_HOT_ANNOTATE,
	UT_HOT_DIFF,
	UT_HOT_FOLDED,
	UT_HOT_THREADS,
};

struct ut_hotspots_opts {
	struct ut_table_opts table;
	const char *by; /* NULL = not given: functions, those of the program itself first */
	enum ut_hot_by how;
	bool tree, bottom_up, folded;
	const char *callers, *callees, *annotate, *show, *before;
	bool threads;                /* what threads did, instead of functions */
	enum ut_threads_table which; /* of those tables: this one */
	bool every;                  /* or all of them */
	enum ut_hot_report report;
	const char *percent; /* as written, and what it means */
	double least;
	struct ut_filter_opts filter;
	const char *window, *task, *function, *sampled;
	const char *picture; /* -o of a file that is a picture; NULL = none */
	bool debuginfod;
	struct ut_opt_list debug_folders;
	struct ut_record_opts record;
	bool help;
};

#define UT_HOTSPOTS_OPTS .percent = "1", .show = "source", .table = { UT_TABLE_OPTS }

/* Lives in the arena. */
const struct ut_opt *ut_hotspots_table(struct ut_arena *a, struct ut_hotspots_opts *o);

/* Checks what was given and settles what was not. May be called again with more. */
int ut_hotspots_finalize(struct ut_hotspots_opts *o, struct ut_arena *a,
			 struct ut_err *err) UT_MUST_CHECK;
/* Where names may be looked for, before the first is: once. */
int ut_hotspots_allow(const struct ut_hotspots_opts *o, struct ut_err *err) UT_MUST_CHECK;
void ut_hotspots_opts_release(struct ut_hotspots_opts *o);

#endif
