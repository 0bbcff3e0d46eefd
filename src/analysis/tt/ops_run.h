/*
 * ops_run.h - the work of `unitrace ops`: logs in, the files of a report out.
 */
#ifndef UT_TT_OPS_RUN_H
#define UT_TT_OPS_RUN_H

#include "base/arena.h"
#include "tt/ops_options.h"

struct ut_view;

/* Where the files of a report lie; in the arena that was given. */
struct ut_ops_files {
	const char *csv, *json;
	const char *page;     /* NULL = this build has none */
	const char *cores;    /* times per core; NULL = there are none */
	const char *tarball;  /* NULL = there is none */
	struct ut_view *view; /* of the report, if it is to be shown (webapp); the caller's */
};

int ut_ops_run(const struct ut_ops_opts *o, struct ut_arena *a, struct ut_ops_files *files,
	       struct ut_err *err) UT_MUST_CHECK;

#endif
