/*
 * event_file.h - what a session tells, as lines of JSON in a file: for programs that start us and
 * want to know how it goes, and for a log of the recording.
 *
 *     {"time":1794912422.552,"kind":"ended","status":0,"path":"/x/unitrace.app.1.session"}
 *
 * Lines are added to what is there, each in one piece, so ranks of a job may share a file. How far
 * the writing is comes once a second at most. Nothing else depends on the file: what cannot be
 * written is not told.
 */
#ifndef UT_SESSION_EVENT_FILE_H
#define UT_SESSION_EVENT_FILE_H

#include "base/err.h"
#include "session/session_event.h"

struct ut_event_file {
	int fd;          /* -1 = none */
	double progress; /* when it was told last, s */
};

int ut_event_file_open(struct ut_event_file *f, const char *path, struct ut_err *err) UT_MUST_CHECK;
void ut_event_file_close(struct ut_event_file *f);
void ut_event_file_write(struct ut_event_file *f, const struct ut_session_event *event);

/* The kind as a word: "starting", "ended", ... */
const char *ut_session_event_name(enum ut_session_event_kind kind);

#endif
