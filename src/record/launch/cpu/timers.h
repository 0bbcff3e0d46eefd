/*
 * timers.h - samples that programs take of themselves (wire/timer_ring.h), where the kernel takes
 * none: found in the session's directory, read and given back slot by slot.
 *
 * What a program has written is not trusted: sizes are checked, its file is read and never mapped.
 * What perf's records tell about processes is asked from /proc here. Owner: the sampler. One
 * thread.
 */
#ifndef UT_LAUNCH_CPU_TIMERS_H
#define UT_LAUNCH_CPU_TIMERS_H

#include <stddef.h>
#include <stdint.h>

#include "wire/timer_ring.h"

struct ut_taker;

/* The file of one program. */
struct ut_timers_ring {
	char *path;
	int fd;
	struct ut_timer_header header; /* as it was when it was found */
	uint32_t *states;
	uint64_t asked; /* when /proc was last asked about it, ns */
};

struct ut_timers {
	const char *dir;
	int watch; /* inotify; -1 = the directory is looked at now and then */
	struct ut_timers_ring *rings;
	size_t count, cap;
	uint32_t root;              /* pid; 0 = none, or it samples itself */
	uint64_t root_asked;        /* when /proc is asked about it the next time, ns */
	uint64_t looked;            /* when the directory was last looked at, ns */
	uint64_t programs;          /* how many have been sampled */
	uint64_t unarmed;           /* threads that got no timer */
	uint64_t blind;             /* when one last said nothing about Python, ns */
	struct ut_timer_slot *slot; /* the one at hand */
};

/* root: the program that the session starts, which may never sample itself; 0 = none. */
void ut_timers_open(struct ut_timers *t, const char *dir, uint32_t root);
void ut_timers_close(struct ut_timers *t); /* twice is fine */

/* Sleeps until a program has begun or wake can be read, at most ms. */
void ut_timers_wait(const struct ut_timers *t, int wake, int ms);

/* Takes all samples that are there; programs that have ended are let go. */
void ut_timers_drain(struct ut_timers *t, struct ut_taker *taker, uint64_t now);

/* The last ones: nothing more is read. */
void ut_timers_finish(struct ut_timers *t, struct ut_taker *taker, uint64_t now);

#endif
