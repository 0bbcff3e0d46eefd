/*
 * profile_stitch.h - two recordings of one program become one report.
 *
 * Rows, and what devices did, come from the recording with devices; the host's times from the one
 * without. A span of one is that of the other if it is the n-th of its name in its thread. Threads
 * are told apart by their process, by the name of their first span, and by which of those they are.
 */
#ifndef UT_CMD_PROFILE_STITCH_H
#define UT_CMD_PROFILE_STITCH_H

#include "base/arena.h"
#include "base/err.h"
#include "cmd/profile_options.h"

struct ut_profile_traces {
	const char *devices; /* folder of the first run's traces */
	const char *host;    /* of the second run's; NULL: it has left none */
};

/* Writes the report and says where. */
int ut_profile_stitch(const struct ut_profile_opts *o, const struct ut_profile_traces *traces,
		      struct ut_arena *a, struct ut_err *err) UT_MUST_CHECK;

#endif
