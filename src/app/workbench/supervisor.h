/*
 * supervisor.h - the supervisor of a run: a process of its own, which starts the recording, writes
 * down what the program says and how it goes, and does what it is told through a pipe in the
 * result's folder. It needs no server: a run goes on when that ends, and the next one finds it.
 *
 *     result.json   what to run: {"kind":"run", "words":[...], "directory":..., "variables":[...],
 *                   ...}; locked as long as the supervisor lives
 *     state.json    how it goes
 *     supervisor    the pipe: a word a line: pause, resume, stop, kill
 *
 * What shall run on another machine ("machine" in result.json) has a supervisor there, and one here
 * that stays in touch with it (remote_run.h).
 */
#ifndef UT_WORKBENCH_SUPERVISOR_H
#define UT_WORKBENCH_SUPERVISOR_H

#include <stdbool.h>

#include "base/err.h"

#define UT_SUPERVISOR_PIPE "supervisor"

/* Starts a supervisor for the result in the folder at, whose result.json is written. program: our
 * own executable, which is started with the word "serve" and an option that leads to
 * ut_supervisor_run(). secret: a password for another machine, which is told to the supervisor
 * alone; NULL = none. */
int ut_supervisor_start(int at, const char *program, const char *secret,
			struct ut_err *err) UT_MUST_CHECK;

/* The same for a recording whose supervisor was killed: what it left becomes files. */
int ut_supervisor_recover(int at, const char *program, const char *secret,
			  struct ut_err *err) UT_MUST_CHECK;

/* Does somebody keep what is in this folder? */
bool ut_supervisor_is_running(int at);

enum ut_supervisor_command {
	UT_SUPERVISOR_PAUSE,
	UT_SUPERVISOR_RESUME,
	UT_SUPERVISOR_STOP, /* the program ends, and its results are written */
	UT_SUPERVISOR_KILL, /* everything ends at once */
};

/* -ESRCH: nobody keeps it any more. */
int ut_supervisor_send(int at, enum ut_supervisor_command word, struct ut_err *err) UT_MUST_CHECK;

#define UT_SUPERVISOR_SECRET_FD  4 /* where a supervisor reads the password */
#define UT_SUPERVISOR_SECRET_MAX 1024

/* In the process that was started, whose current folder is the result's. The exit status. */
int ut_supervisor_run(const char *what);

#endif
