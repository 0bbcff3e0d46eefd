/*
 * gather.h - the second half of a session: its program has ended, and what its processes have left
 * becomes results.
 */
#ifndef UT_SESSION_GATHER_H
#define UT_SESSION_GATHER_H

#include <stdint.h>

#include "base/err.h"
#include "launch/control_watch.h"
#include "session/session_event.h"

struct ut_arena;
struct ut_growth;
struct ut_lifetimes;
struct ut_sampling;
struct ut_session;
struct ut_session_plan;

struct ut_gather {
	const struct ut_session_plan *plan;
	const struct ut_session_client *client;
	struct ut_session *session;
	struct ut_arena *arena;
	struct ut_growth *growth;
	struct ut_lifetimes *lifetimes; /* without a directory: there was no program */
	struct ut_sampling *sampling;
	uint32_t pid;                  /* of the program */
	int status;                    /* as waitpid() has it; 0 = it succeeded, or nobody knows */
	enum ut_control_access access; /* did a collector find the session? */
};

/*
 * Waits for children, writes everything, and removes the recording unless it is still needed: then
 * the events say where it is. A failure is told and returned.
 */
int ut_gather(const struct ut_gather *g, struct ut_err *err) UT_MUST_CHECK;

#endif
