/*
 * knock.h - has a collector found the session?
 *
 * The kernel tells whoever watches the control file when it is closed, and how it had been opened.
 * That works through mounts too, so it is the one sign of a process that sees the session directory
 * read-only and can leave no other.
 */
#ifndef UT_LAUNCH_KNOCK_H
#define UT_LAUNCH_KNOCK_H

enum ut_knock {
	UT_KNOCK_UNKNOWN, /* the kernel would not watch */
	UT_KNOCK_NONE,
	UT_KNOCK_READER, /* somebody could only read it */
	UT_KNOCK_WRITER, /* somebody could write to it */
};

/* The descriptor to ask; -1 if there is none. close() it. */
int ut_knock_watch(const char *session_dir);

/* What has happened since ut_knock_watch(): the highest of these. */
enum ut_knock ut_knock_heard(int fd);

#endif
