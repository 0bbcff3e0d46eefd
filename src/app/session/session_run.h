/*
 * session_run.h - the way into this room: a program runs, is waited for, and what it recorded
 * becomes files and tables.
 *
 *     struct ut_session_plan plan;         what shall happen: session_plan.h
 *     struct ut_session_client client;     who hears what happens: session_event.h
 *
 *     ut_session_check(&plan, &client, &err)           before anything runs
 *     ut_session_run(&plan, &client, &result, &err)    all of it
 *
 * Nothing here writes to a terminal or ends the process. One run at a time in a process: while the
 * program runs the signals of this process are the session's (launch/run.h).
 */
#ifndef UT_SESSION_SESSION_RUN_H
#define UT_SESSION_SESSION_RUN_H

#include <stdbool.h>

#include "base/err.h"
#include "session/session_event.h"
#include "session/session_plan.h"

struct ut_session_result {
	bool ran;       /* the program was started, and has ended */
	int status;     /* as from waitpid(), if it ran */
	int exec_errno; /* why it could not be started, if that is the reason */
};

/* Will the results find their places? -EINVAL: a name makes no sense; others: cannot be written. */
int ut_session_check(const struct ut_session_plan *plan, const struct ut_session_client *client,
		     struct ut_err *err) UT_MUST_CHECK;

/*
 * 0 also when the program could not be executed or has failed: see result. A failure is told as
 * UT_SESSION_EVENT_FAILED, at its place among the events, and returned. The recording outlives a
 * failure to write results.
 */
int ut_session_run(const struct ut_session_plan *plan, const struct ut_session_client *client,
		   struct ut_session_result *result, struct ut_err *err) UT_MUST_CHECK;

#endif
