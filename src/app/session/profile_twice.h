/*
 * profile_twice.h - `unitrace profile-this`: a command twice, then the report of its ops.
 *
 * Reading what the device has noted slows the host down, so the device's times come from one run
 * and the host's from another, joined by op and the number of its call. tt-metal's profiler leaves
 * folders of logs, which tt joins; other programs we record ourselves, and ops joins them.
 */
#ifndef UT_SESSION_PROFILE_TWICE_H
#define UT_SESSION_PROFILE_TWICE_H

#include "base/err.h"
#include "session/profile_options.h"

struct ut_arena;

/* 0 and the command's status, or a failure of ours. */
int ut_profile(const struct ut_profile_opts *o, struct ut_arena *a, int *status,
	       struct ut_err *err) UT_MUST_CHECK;

#endif
