/*
 * keeper.h - who keeps a run: a process of its own, which starts the recording, writes down what
 * the program says and how it goes, and does what it is told through a pipe in the result's folder.
 * It needs no server: a run goes on when that ends, and the next one finds it.
 *
 *     result.json   what to run: {"kind":"run", "words":[...], "directory":..., "variables":[...],
 *                   ...}; locked as long as the keeper lives
 *     state.json    how it goes
 *     keeper        the pipe: a word a line: pause, resume, stop, kill
 *
 * What shall run on another machine ("machine" in result.json) has a keeper there, and one here
 * that stays in touch with it (far_run.h).
 */
#ifndef UT_WORKBENCH_KEEPER_H
#define UT_WORKBENCH_KEEPER_H

#include <stdbool.h>

#include "base/err.h"

#define UT_KEEPER_PIPE "keeper"

/* Starts a keeper for the result in the folder at, whose result.json is written. program: our own
 * executable, which is started with the word "serve" and an option that leads to ut_keeper_run().
 * secret: a password for another machine, which is told to the keeper alone; NULL = none. */
int ut_keeper_start(int at, const char *program, const char *secret,
		    struct ut_err *err) UT_MUST_CHECK;

/* The same for a recording whose keeper was killed: what it left becomes files. */
int ut_keeper_recover(int at, const char *program, const char *secret,
		      struct ut_err *err) UT_MUST_CHECK;

/* Does somebody keep what is in this folder? */
bool ut_keeper_is_there(int at);

enum ut_keeper_word {
	UT_KEEPER_PAUSE,
	UT_KEEPER_RESUME,
	UT_KEEPER_STOP, /* the program ends, and its results are written */
	UT_KEEPER_KILL, /* everything ends at once */
};

/* -ESRCH: nobody keeps it any more. */
int ut_keeper_tell(int at, enum ut_keeper_word word, struct ut_err *err) UT_MUST_CHECK;

#define UT_KEEPER_SECRET_FD   4 /* where a keeper reads the password */
#define UT_KEEPER_SECRET_MOST 1024

/* In the process that was started, whose current folder is the result's. The exit status. */
int ut_keeper_run(const char *what);

#endif
