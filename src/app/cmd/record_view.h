/*
 * record_view.h - `unitrace --view PROGRAM`: a viewer beside the recording, in a process of its
 * own, so that neither the launcher's signals nor the program are touched by it.
 */
#ifndef UT_CMD_RECORD_VIEW_H
#define UT_CMD_RECORD_VIEW_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "cmd/view_serve.h"

struct ut_record_view {
	bool on;
	struct ut_view_opts opts;
	pid_t pid;    /* of the viewer; 0 = it has not been started */
	int launcher; /* the launcher's end of a pair of sockets, while there is a viewer */
};

/* Before the program is started: -ENOTSUP if there is no viewer in this build. */
int ut_record_view_check(const struct ut_record_view *v, struct ut_err *err) UT_MUST_CHECK;

/* Called while there is one thread, with the directory that is recorded into. */
void ut_record_view_start(struct ut_record_view *v, const char *session);

/* All files of the session are written. Returns when the viewer has opened them: then they may be
 * removed. */
void ut_record_view_written(struct ut_record_view *v);

/* Waits until nobody looks any more. ran: the program has been there; else there is nothing to look
 * at. */
void ut_record_view_end(struct ut_record_view *v, bool ran);

#endif
