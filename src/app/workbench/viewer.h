/*
 * viewer.h - a process that shows a result: `unitrace view` of the traces in a folder, or of the
 * recording that is under way in it, at a socket of its own.
 *
 * It ends when its owner does, however that ends. One owner, one thread.
 */
#ifndef UT_WORKBENCH_VIEWER_H
#define UT_WORKBENCH_VIEWER_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

struct ut_viewer {
	pid_t pid;      /* 0 = there is none */
	int lifeline;   /* it ends when this is closed */
	int words;      /* a file in memory: what it says to its terminal */
	bool is_live;   /* it was given a recording that was under way */
	char path[108]; /* of its socket */
};

struct ut_viewer_opts {
	const char *program; /* our own executable */
	const char *path;    /* where its socket shall be; nothing is there yet */
	int folder, before;  /* of the result, and of the one to compare with; -1 = none */
	bool code;           /* source and machine code of this machine may be shown */
};

/* -ENODATA: there is no trace in the folder. */
int ut_viewer_start(struct ut_viewer *v, const struct ut_viewer_opts *o,
		    struct ut_err *err) UT_MUST_CHECK;

/* Ends it, waits for that, and forgets it. One that was never started is fine. */
void ut_viewer_end(struct ut_viewer *v);

/* Has it ended by itself? Then it is forgotten, and err has what it said last. */
bool ut_viewer_has_ended(struct ut_viewer *v, struct ut_err *err);

/* A connection, or why there is none. */
int ut_viewer_connect(const struct ut_viewer *v) UT_MUST_CHECK;

#endif
