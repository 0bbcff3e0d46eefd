/*
 * viewers.h - results that are looked at: a process each, which is `unitrace view` of the traces in
 * the result's folder, reached through a socket of its own.
 *
 * A trace that takes all memory, or that nobody can read, ends its viewer and not the server;
 * memory comes back when nobody has asked for a while. Viewers end when the server does, however it
 * ends. Any thread.
 */
#ifndef UT_SITE_VIEWERS_H
#define UT_SITE_VIEWERS_H

#include <stdbool.h>

#include "base/err.h"

struct ut_data_dir;
struct ut_viewers;

#define UT_VIEWERS_MOST 12u /* at a time; the one that was asked least lately makes room */
#define UT_VIEWERS_IDLE 900 /* s without a question */

/* program: our own executable, which outlives it; so does the data directory. code: whoever looks
 * may see source and machine code of this machine, since he may run programs here. */
int ut_viewers_open(struct ut_viewers **v, const struct ut_data_dir *data_dir, const char *program,
		    bool code, struct ut_err *err) UT_MUST_CHECK;
void ut_viewers_close(struct ut_viewers *v); /* NULL is fine */

/* What is looked at: a result, and one that it is compared with. */
struct ut_viewed {
	const char *project, *result;
	const char *before_project, *before_result; /* NULL = none */
};

/*
 * A connection to its viewer, which is started if there is none: speak HTTP. -ENODATA: there is no
 * trace in the folder. Others: it cannot be started; or it has ended, and err has its last words.
 */
int ut_viewers_connect(struct ut_viewers *v, const struct ut_viewed *what,
		       struct ut_err *err) UT_MUST_CHECK;

/* It broke off. -ECONNREFUSED: it has ended, and err has its last words. -EAGAIN: ask again: it was
 * that of a recording, which has become files meanwhile, or another one has taken its place. */
int ut_viewers_farewell(struct ut_viewers *v, const struct ut_viewed *what,
			struct ut_err *err) UT_MUST_CHECK;

/* The result has changed or is about to go: its viewers end. result NULL: all of the project. */
void ut_viewers_drop(struct ut_viewers *v, const char *project, const char *result);

/* Ends those that nobody asks, and those of runs that have ended since; forgets those that ended by
 * themselves. Call it every few seconds. */
void ut_viewers_tidy(struct ut_viewers *v);

#endif
