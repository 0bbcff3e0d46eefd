/*
 * spawned.h - a program of the system's that we talk with: words, never a shell, and a pipe for
 * each of its three streams.
 *
 * What it writes to standard error is kept up to a bound, for the sentence that says what went
 * wrong. Any thread may start one; the rest is its owner's.
 */
#ifndef UT_WORKBENCH_SPAWNED_H
#define UT_WORKBENCH_SPAWNED_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"

#define UT_SPAWNED_SAID (16u << 10)

struct ut_spawned {
	pid_t pid; /* 0 = none, or it has been waited for */
	int in, out, err;
	int status;         /* as from waitpid(), once it has ended */
	struct ut_buf said; /* on standard error: the last of it */
};

#define UT_SPAWNED_NONE ((struct ut_spawned){ .in = -1, .out = -1, .err = -1, .status = -1 })

/* words are closed by NULL; the first is looked for in PATH. at: the folder it is started in.
 * settings: NAME=VALUE besides what we have ourselves, closed by NULL. */
int ut_spawned_start(struct ut_spawned *p, const char *const *words, int at,
		     const char *const *settings, struct ut_err *err) UT_MUST_CHECK;

/* Reads what it says on standard error, without waiting. */
void ut_spawned_listen(struct ut_spawned *p);

/* Reads both until it has ended or so many ms have passed: then it is ended, and -ETIMEDOUT. What
 * it wrote to standard output is added to text, up to a bound. */
int ut_spawned_finish(struct ut_spawned *p, struct ut_buf *text, int ms,
		      struct ut_err *err) UT_MUST_CHECK;

/* Ends it and forgets it. UT_SPAWNED_NONE is fine. */
void ut_spawned_release(struct ut_spawned *p);

#endif
