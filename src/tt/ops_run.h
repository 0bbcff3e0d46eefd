/*
 * ops_run.h - the work of `unitrace ops`: logs in, the files of a report out.
 */
#ifndef UT_TT_OPS_RUN_H
#define UT_TT_OPS_RUN_H

#include "base/arena.h"
#include "tt/ops_options.h"

/* Where the files of a report lie; in the arena that was given. */
struct ut_ops_files {
	const char *csv, *json, *page;
	const char *cores;   /* times per core; NULL = there are none */
	const char *tarball; /* NULL = there is none */
};

int ut_ops_run(const struct ut_ops_opts *o, struct ut_arena *a, struct ut_ops_files *files,
	       struct ut_err *err) UT_MUST_CHECK;

#endif
