/*
 * profile_run.h - one run of the command that `unitrace profile-this` measures.
 */
#ifndef UT_SESSION_PROFILE_RUN_H
#define UT_SESSION_PROFILE_RUN_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"
#include "session/profile_options.h"

struct ut_profile_run {
	bool device;       /* the first run: with device profiling */
	const char *trace; /* our collector writes here; NULL: it is not there */
};

/* *status is the command's own, as shells tell it. Its environment is ours, but for the switches.
 */
int ut_profile_run(const struct ut_profile_opts *o, const struct ut_profile_run *run,
		   struct ut_arena *a, int *status, struct ut_err *err) UT_MUST_CHECK;

/* Starts a program and waits for it; the first word is its path. */
int ut_profile_spawn(const char *const *argv, char *const *env, int *status,
		     struct ut_err *err) UT_MUST_CHECK;

#endif
