/*
 * peer_clock.h - compares the clock of this host with that of another host of the job, from before
 * the program starts until after it has ended.
 *
 * The launchers of a job meet in a folder that all of them see, where results go. The first one
 * there leaves a file that says where it can be asked for the time; it is the reference. Of each
 * other host one launcher asks it, at the start, now and then, and at the end: a small packet there
 * and back, of which half the time that it took is the bound of the error. The program is not
 * touched, nobody waits for anybody, and where no answer comes there are no samples.
 *
 * A thread of its own does all of it; what it finds is in wire/host_clock.h.
 */
#ifndef UT_LAUNCH_PEER_CLOCK_H
#define UT_LAUNCH_PEER_CLOCK_H

#include <stdint.h>

struct ut_peer_clock;

struct ut_peer_clock_opts {
	const char *folder;    /* that the launchers of all hosts see */
	const char *session;   /* folder for the samples */
	uint64_t job;          /* the same in all launchers; 0 = unknown */
	const char *boot_id;   /* NULL = that of this host */
	uint64_t (*now)(void); /* NULL = CLOCK_MONOTONIC, ns */
	uint64_t every;        /* ns between two looks; 0 = what is usual */
};

/* NULL: it could not be started, and there is nothing to stop. */
struct ut_peer_clock *ut_peer_clock_start(const struct ut_peer_clock_opts *opts);

/* Takes a last look, which takes some ms, and ends. NULL is fine. */
void ut_peer_clock_stop(struct ut_peer_clock *p);

#endif
