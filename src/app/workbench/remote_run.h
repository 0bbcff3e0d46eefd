/*
 * remote_run.h - a run on another machine, as it is kept here: the result's folder fills with what
 * our agent there tells, and looks like any other in the end.
 *
 *     far.json    {"folder":PATH, "run":NAME}: where it lies there, until everything has arrived
 *
 * A connection that is lost is made again a few times; the run goes on meanwhile. When nobody can
 * be reached the result says where it lies, and can be fetched later. While it lasts, the recording
 * is looked at where it is made, by a viewer there that the agent starts.
 */
#ifndef UT_WORKBENCH_REMOTE_RUN_H
#define UT_WORKBENCH_REMOTE_RUN_H

#include <stdbool.h>

struct ut_doc;

#define UT_REMOTE_PLACE_FILE "far.json"
#define UT_REMOTE_VIEWER     "viewer" /* a socket, while something is recorded there */

/* A connection to a viewer there, of the run whose folder this is. -ENOENT: nothing is recorded
 * there now. Who answers is the other machine: it is not to be trusted. */
int ut_remote_connect(int at);

/* In the process that keeps it, whose current folder is the result's. */
struct ut_remote_parts {
	int at, pipe, signals; /* the folder, the words, SIGTERM and SIGCHLD */
	const struct ut_doc *asked;
	bool is_new; /* false: it was started before, and is to be fetched */
};

/* The exit status. */
int ut_remote_run(const struct ut_remote_parts *parts);

#endif
