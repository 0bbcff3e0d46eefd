/*
 * sampler.h - samples a process and all that it starts, from outside, into the files of a session.
 *
 * A thread of its own reads what the kernel has sampled, finds out which code that was and writes
 * wire/cpu_file.h. The way in: open before the program starts, start when there is a process,
 * stop when nobody of the session is left or wanted.
 */
#ifndef UT_LAUNCH_CPU_SAMPLER_H
#define UT_LAUNCH_CPU_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "launch/cpu/perf.h"

struct ut_control;
struct ut_sampler;

struct ut_sampler_opts {
	const char *dir;  /* of the session; absolute */
	const char *name; /* of the program that is about to be executed */
	uint64_t hz;      /* samples in a second of CPU time */
	enum ut_perf_event event;
	enum ut_stacks_by stacks;
	uint32_t stack_bytes;
	bool children;
	bool waits;                 /* where threads wait, too */
	bool eager;                 /* probably Python, whose stacks have to be looked at soon */
	bool timers;                /* programs sample themselves: the kernel refuses to */
	struct ut_control *control; /* its word switches samples off and on */
};

struct ut_sampler_result {
	uint64_t samples;
	uint64_t programs; /* of timers: that have been sampled */
	uint64_t unarmed;  /* threads of theirs that could not be */
	uint64_t total;    /* ns of CPU time of all that was started; 0 = not known */
	uint64_t unwritten;
	uint64_t reading;    /* ns of CPU time that it took to read and walk them */
	int failure;         /* errno, or UT_SPOOL_RESERVE: why not all of them were written */
	bool no_waits;       /* where threads wait is not known, though it was asked for */
	bool no_lbr;         /* stacks were found in another way than was asked for */
	bool off;            /* when it ended nobody wanted samples */
	bool no_kernel;      /* time in the kernel has no samples: it did not let us */
	uint32_t old_python; /* 0x0308: functions of this version cannot be read; 0 = none */
};

/* at_exec: the process is about to execute the program; else it is running. NULL: see err. */
struct ut_sampler *ut_sampler_start(const struct ut_sampler_opts *opts, pid_t pid, bool at_exec,
				    struct ut_err *err);

/* Reads what is left and ends. */
void ut_sampler_stop(struct ut_sampler *s, struct ut_sampler_result *result);

#endif
