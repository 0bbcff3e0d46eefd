/*
 * lifetimes.h - how long the processes of a session live, noted in their spools: what was open when
 * a process ended lasts until then, however it ended.
 *
 * Memory and work go with the processes that run, not with all that there were. One thread.
 */
#ifndef UT_SESSION_LIFETIMES_H
#define UT_SESSION_LIFETIMES_H

#include <stddef.h>
#include <stdint.h>

struct ut_lifetime;

/* Embedded; {0} with the directory of the session. */
struct ut_lifetimes {
	const char *dir;
	struct ut_lifetime *items; /* of those that ran at the last look */
	size_t count, cap;
	int64_t scanned; /* ns since 1970: when the directory was read */
};

/* Notes the time in the spool of every process that runs, and which of them are gone. */
void ut_lifetimes_look(struct ut_lifetimes *l);

/* The program has just ended, with this status of waitpid(). */
void ut_lifetimes_ended(struct ut_lifetimes *l, uint32_t pid, int status);

void ut_lifetimes_release(struct ut_lifetimes *l);

#endif
