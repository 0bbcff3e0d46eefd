/*
 * control_watch.h - whether a collector has opened the control file of a session.
 *
 * The kernel reports when the control file is closed, and how it had been opened.
 * That works through mounts too, so it is the one sign of a process that sees the session directory
 * read-only and can leave no other.
 */
#ifndef UT_LAUNCH_CONTROL_WATCH_H
#define UT_LAUNCH_CONTROL_WATCH_H

enum ut_control_access {
	UT_CONTROL_ACCESS_UNKNOWN, /* the kernel would not watch */
	UT_CONTROL_ACCESS_NONE,
	UT_CONTROL_ACCESS_READ,  /* somebody could only read it */
	UT_CONTROL_ACCESS_WRITE, /* somebody could write to it */
};

/* The descriptor to ask; -1 if there is none. close() it. */
int ut_control_watch(const char *session_dir);

/* What has happened since ut_control_watch(): the highest of these. */
enum ut_control_access ut_control_watch_result(int fd);

#endif
