/*
 * session.h - the directory of one recording: its control file and one spool per process.
 *
 * Owner: the command that records. It lives until its contents are exported; after a crash of
 * everything it is what `unitrace export DIR` reads.
 */
#ifndef UT_LAUNCH_SESSION_H
#define UT_LAUNCH_SESSION_H

#include <stdbool.h>

#include "base/err.h"

struct ut_arena;
struct ut_control;

struct ut_session {
	char *dir; /* absolute */
	struct ut_control *control;
	int named_fd; /* -1 = no named session */
	char named_path[1024];
};

/*
 * Makes parent (and what is missing above it) and in it unitrace.APP.PID.session with a fresh
 * control file. A leftover of the same name is left alone: the new one gets -2, -3, ...
 */
int ut_session_create(struct ut_session *s, struct ut_arena *a, const char *parent, const char *app,
		      struct ut_err *err) UT_MUST_CHECK;

/* Moves the on/off word into the session called name; *reused says that others are in it. */
int ut_session_join(struct ut_session *s, const char *name, bool *reused,
		    struct ut_err *err) UT_MUST_CHECK;

/* Lets go of the control file and the name; the directory stays. Twice is fine. */
void ut_session_close(struct ut_session *s);

/* The same, and removes the directory. */
int ut_session_remove(struct ut_session *s, struct ut_err *err) UT_MUST_CHECK;

#endif
