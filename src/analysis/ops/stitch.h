/*
 * stitch.h - two recordings of one program become one report.
 *
 * Rows, and what devices did, come from the recording with devices; the host's times from the one
 * without. A span of one is that of the other if it is the n-th of its name in its thread. Threads
 * are told apart by their process, by the name of their first span, and by which of those they are.
 */
#ifndef UT_OPS_STITCH_H
#define UT_OPS_STITCH_H

#include "base/arena.h"
#include "base/err.h"

struct ut_logger;

struct ut_stitch_runs {
	const char *devices; /* folder of the first run's traces */
	const char *host;    /* of the second run's; NULL: it has left none */
	const char *report;  /* path of the report's files without their suffix */
	const struct ut_logger *logger;
};

/* Writes the report: .csv, .json and .html. */
int ut_ops_stitch(const struct ut_stitch_runs *runs, struct ut_arena *a,
		  struct ut_err *err) UT_MUST_CHECK;

#endif
