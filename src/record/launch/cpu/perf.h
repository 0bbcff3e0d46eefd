/*
 * perf.h - the kernel's samples of a process and all that it starts: perf_event_open(), one ring
 * per CPU, read without a system call.
 *
 * Two events share a ring, or three. One samples and can be switched off and on; another tells
 * what is mapped, which threads come and go and when they run, and stays on, so that a recording
 * that begins late knows where it is. The third samples where threads give up their CPU. Nothing of
 * this is in the sampled process.
 *
 * Owner: the caller. One thread, but for ut_perf_switch(), which any thread may call.
 */
#ifndef UT_LAUNCH_CPU_PERF_H
#define UT_LAUNCH_CPU_PERF_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/idmap.h"
#include "launch/cpu/perf_choice.h"

enum ut_stacks_by {
	UT_STACKS_NONE,
	UT_STACKS_FP,    /* the kernel follows frame pointers */
	UT_STACKS_DWARF, /* it copies registers and some of the stack */
	UT_STACKS_LBR,   /* the CPU remembers the last calls */
};

struct ut_perf_opts {
	pid_t pid;    /* -1: every process of the machine */
	bool at_exec; /* begin when the process executes a program; else at once */
	bool paused;  /* no samples until they are switched on */
	bool inherit; /* its children, too; its threads always */
	bool waits;   /* where threads begin to wait, too, if the kernel lets us */
	bool eager;   /* each sample shall be read at once, not when there are many */
	uint64_t hz;  /* samples in a second of CPU time */
	enum ut_perf_event event;
	enum ut_stacks_by stacks;
	uint32_t stack_bytes; /* UT_STACKS_DWARF: how much of it */
};

/* The events of a ring. */
enum ut_perf_kind {
	UT_PERF_WATCHER,
	UT_PERF_SAMPLER,
	UT_PERF_WAITS,
	UT_PERF_EVENTS
};

struct ut_perf_ring {
	int fd, sample_fd, wait_fd; /* of the events; -1 = none */
	struct perf_event_mmap_page *map;
	uint64_t from, to; /* what is being read */
	int cpu;
};

struct ut_perf {
	struct ut_perf_opts opts;
	struct ut_perf_ring *rings;
	size_t count;
	size_t ring_bytes;
	int *more; /* UT_PERF_EVENTS descriptors each: of other threads, which use the same rings */
	size_t more_count, more_cap;
	unsigned char *scratch; /* a record that wraps around */
	struct pollfd *polls;
	struct ut_perf_choice choice;
	bool kernel;           /* time in the kernel is sampled */
	bool switches;         /* it is told when threads run */
	bool waits;            /* where they begin to wait is sampled */
	struct ut_idmap kinds; /* number of an event -> enum ut_perf_kind + 1 */
};

/* A line for the user; returns rc. */
int ut_perf_explain(int rc, struct ut_err *err);

/* Would the kernel let us at all? 0, or as below. */
int ut_perf_ask(struct ut_err *err) UT_MUST_CHECK;

/* -EACCES, -EPERM: the kernel refuses; -ENOSYS, -ENOENT: it cannot. err has a line for the user. */
int ut_perf_open(struct ut_perf *p, const struct ut_perf_opts *opts,
		 struct ut_err *err) UT_MUST_CHECK;
void ut_perf_close(struct ut_perf *p); /* twice is fine */

/* One more thread, of a process that was running already: its events use the same rings. */
int ut_perf_add(struct ut_perf *p, pid_t tid) UT_MUST_CHECK;

void ut_perf_switch(struct ut_perf *p, bool on);

/* Sleeps until a ring fills up or wake can be read (-1 = nobody wakes), at most ms. */
void ut_perf_wait(const struct ut_perf *p, int wake, int ms);

/* Looks how far each ring is filled now. next() goes through one; forget() gives the room back. */
void ut_perf_look(struct ut_perf *p);
const struct perf_event_header *ut_perf_next(struct ut_perf *p, size_t ring, uint64_t *at);
void ut_perf_forget(struct ut_perf *p);

struct ut_timer_python;

#define UT_PERF_BRANCH 3u

/* A sample, taken apart; pointers into the record. */
struct ut_perf_sample {
	bool wait; /* the thread gives up its CPU here */
	uint64_t ip, time;
	uint64_t period; /* ns of CPU time that it stands for; 0 = not known */
	uint32_t pid, tid, cpu;
	const uint64_t *chain; /* addresses, innermost first, with marks PERF_CONTEXT_... */
	uint64_t chain_count;
	const uint64_t *branches; /* UT_PERF_BRANCH words each: from, to, flags; the latest first */
	uint64_t branch_count;
	const uint64_t *regs; /* UT_PERF_REGS of them in the order of their bits; NULL = none */
	const unsigned char *stack;
	uint64_t stack_bytes;
	const struct ut_timer_python *python; /* NULL: to be read from the process */
};

bool ut_perf_sample(const struct ut_perf *p, const struct perf_event_header *h,
		    struct ut_perf_sample *s);

/* The end of every other record. */
struct ut_perf_id {
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, reserved;
	uint64_t event; /* number of it */
};

bool ut_perf_id(const struct perf_event_header *h, struct ut_perf_id *id);

#endif
