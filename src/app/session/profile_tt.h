/*
 * profile_tt.h - the part of `unitrace profile-this` that knows tt-metal: is its profiler there,
 * where has it left logs, do the logs of both runs belong together.
 */
#ifndef UT_SESSION_PROFILE_TT_H
#define UT_SESSION_PROFILE_TT_H

#include <stdbool.h>
#include <time.h>

#include "base/arena.h"
#include "base/err.h"
#include "session/profile_options.h"

#define UT_PROFILE_NOT_BUILT                                                                       \
	"tt-metal must be built with its profiler: make build ENABLE_PROFILER=1"

/* Will the command use tt-metal, by what is known before it runs? */
bool ut_profile_tt_expected(const struct ut_profile_opts *o);

/* -ENOTSUP if tt-metal was built without its profiler. What cannot be asked is taken to be there.
 */
int ut_profile_tt_probe(const struct ut_profile_opts *o, struct ut_arena *a,
			struct ut_err *err) UT_MUST_CHECK;

/* Forgets the folders of earlier runs: the second run notes its own. */
void ut_profile_tt_forget(const struct ut_profile_opts *o, struct ut_arena *a);

/* A report for each folder that the command has named for its logs; began: when it first ran. */
int ut_profile_tt_report(const struct ut_profile_opts *o, time_t began, struct ut_arena *a,
			 struct ut_err *err) UT_MUST_CHECK;

#endif
