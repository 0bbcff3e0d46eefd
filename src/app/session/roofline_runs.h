/*
 * roofline_runs.h - what `unitrace roofline` runs: the application, once for each group of metrics,
 * and the program that measures a device.
 *
 * Everything that they leave lies in a folder of its own below $TMPDIR, which the caller removes.
 */
#ifndef UT_SESSION_ROOFLINE_RUNS_H
#define UT_SESSION_ROOFLINE_RUNS_H

#include "base/err.h"
#include "base/str.h"

struct ut_arena;
struct ut_logger;

#define UT_ROOFLINE_GROUPS 2

struct ut_roofline_runs {
	const char *app;                        /* a file, or a line of words */
	const char *unitrace;                   /* who records it; NULL = we do */
	const char *groups[UT_ROOFLINE_GROUPS]; /* the second may be NULL: one run will do */
	const struct ut_logger *logger;
	/* Results, in the arena: names that the runs were given with -o. */
	const char *profiles[UT_ROOFLINE_GROUPS];
};

/* A folder for a while, in the arena; NULL and an error. */
const char *ut_roofline_folder(struct ut_arena *a, struct ut_err *err);
void ut_roofline_remove(const char *folder, const struct ut_logger *logger); /* NULL is fine */

/* An application that fails is told: what it has left until then may be of use. */
int ut_roofline_runs(struct ut_roofline_runs *r, struct ut_arena *a, const char *folder,
		     struct ut_err *err) UT_MUST_CHECK;

/* Builds the program in CUDA with nvcc, runs it, and gives what it prints. */
int ut_roofline_measure(struct ut_str program, struct ut_arena *a, const char *folder,
			const struct ut_logger *logger, struct ut_buf *printed,
			struct ut_err *err) UT_MUST_CHECK;

#endif
