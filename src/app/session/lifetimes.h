/*
 * lifetimes.h - how long the processes of a session live, noted in their spools: what was open when
 * a process ended lasts until then, however it ended.
 *
 * Where the kernel has pidfd_open() and inotify, a thread hears of each end when it happens; else
 * an end is noticed at the next look. The program is not involved. Memory and work go with the
 * processes that run, not with all that there were. The functions are for one thread.
 */
#ifndef UT_SESSION_LIFETIMES_H
#define UT_SESSION_LIFETIMES_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ut_lifetime;

/* Embedded; {0} with the directory of the session. */
struct ut_lifetimes {
	const char *dir;
	struct ut_lifetime *items; /* of those that ran at the last look */
	size_t count, cap;
	int64_t scanned; /* ns since 1970: when the directory was read */
	uint32_t program;
	bool program_replaced; /* by one that does not record, when it ended */

	bool watched; /* by the thread; the lock is about everything above */
	pthread_t thread;
	pthread_mutex_t lock;
	int stop_fd, made_fd; /* an eventfd, and inotify's of the directory */
};

/* Starts the thread. To be called after the fork of the program, whose process this is. */
void ut_lifetimes_watch(struct ut_lifetimes *l, uint32_t program);

/* Notes the time in the spool of every process that runs, and which of them are gone. */
void ut_lifetimes_look(struct ut_lifetimes *l);

/* The program has just ended, with this status of waitpid(). */
void ut_lifetimes_ended(struct ut_lifetimes *l, uint32_t pid, int status);

void ut_lifetimes_release(struct ut_lifetimes *l);

#endif
