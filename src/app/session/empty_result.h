/*
 * empty_result.h - why a run has left nothing, and what to try.
 *
 * Says only what is known: from the settings of the session, from what its processes have left and
 * from the file of the program. Where nothing is known it says what to look at.
 */
#ifndef UT_SESSION_EMPTY_RESULT_H
#define UT_SESSION_EMPTY_RESULT_H

#include <stdbool.h>

#include "launch/control_watch.h"

struct ut_arena;
struct ut_control;
struct ut_outputs;
struct ut_session_client;
struct ut_session_plan;

struct ut_empty_result {
	const struct ut_session_plan *plan;
	const struct ut_session_client *client;
	struct ut_control *control;
	const char *session_dir;
	bool woken;                       /* the collector was called in some process */
	const struct ut_outputs *outputs; /* knows the domains that the filter kept out */
	enum ut_control_access access;
};

/* One or two events. */
void ut_empty_result_report(const struct ut_empty_result *n, struct ut_arena *a);

#endif
