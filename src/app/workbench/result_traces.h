/*
 * result_traces.h - which files of a result a viewer is shown, by their names: all that are not
 * ours. What is no trace after all it passes over and says so.
 */
#ifndef UT_WORKBENCH_RESULT_TRACES_H
#define UT_WORKBENCH_RESULT_TRACES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct ut_arena;

struct ut_result_traces {
	const char **names; /* "./run.utr", ...: never an option, sorted as people count */
	size_t count;
	const char *session; /* "./x.session": a recording that has not become files; NULL = none */
};

/* Of the folder at. In the arena. */
int ut_result_traces_find(int at, struct ut_arena *a, struct ut_result_traces *t,
			  struct ut_err *err) UT_MUST_CHECK;

/* May this file of a result be a trace? Ours, tables and pictures are none; an upload is never
 * ours, whatever it is called. */
bool ut_result_traces_fit(const char *name, bool is_upload);

#endif
