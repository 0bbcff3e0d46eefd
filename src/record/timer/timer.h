/*
 * timer.h - a timer of CPU time for each thread, whose signal takes a sample. What the files of
 * this room tell each other.
 *
 * The signal is SIGURG: whoever resets all signals to what they were does not end the program with
 * it, since nothing happens then. The program's own use of it goes on (own_signal.c).
 */
#ifndef UT_TIMER_TIMER_H
#define UT_TIMER_TIMER_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "wire/timer_ring.h"

struct ut_control;

#define UT_TIMER_SIGNAL SIGURG

/* What all threads of the process share. */
struct ut_timer {
	struct ut_control *control; /* NULL: nothing is sampled here */
	_Atomic uint32_t *state;    /* the session's word: enum ut_state */
	bool begins_on;             /* PTI_ENABLE_COLLECTION=1 was there at the start */
	uint64_t period;            /* ns of CPU time */
	uint64_t start;             /* ns: when this program began */
	uint64_t used;              /* ns of CPU time that the first thread had used by then */
	char dir[4096];
	_Atomic(struct ut_timer_header *) ring; /* NULL until the first sample */
	uint32_t slots;                         /* in it */
	_Atomic bool making;                    /* a thread makes it, or has failed to */
	_Atomic uint32_t unarmed;               /* threads without a timer */
	_Atomic uint32_t ticking;               /* handlers that run */
	_Atomic uint64_t ended; /* ns of CPU time of threads that nobody was told of */
};

extern struct ut_timer ut_timer;

/* A thread that has a timer. */
struct ut_timer_thread {
	bool armed;
	bool locked_in;  /* under a filter that lets no handler return */
	bool may_delete; /* its timer: all filters that it has set allow that */
	int id;          /* the kernel's */
	uint32_t tid;
	uint64_t born; /* ns */
	/* Its stack, all of which can be read: a stack pointer elsewhere is a coroutine's, say. */
	uintptr_t low, high;
	void *signal_stack; /* that we gave it; NULL = it has one, or runs on its own */
};

extern _Thread_local struct ut_timer_thread ut_timer_me;

/* Gives the calling thread its timer. Its stack lies between the two; all of that can be read. */
void ut_timer_arm(uintptr_t low, uintptr_t high);
void ut_timer_disarm(void);

/* Is this process sampled? The first call finds out. */
bool ut_timer_on(void);

/* ---- tick.c -------------------------------------------------------------------------------- */

void ut_timer_tick(int sig, siginfo_t *info, void *context);
/* Returns when all handlers have returned that ran; not in one. */
void ut_timer_tick_wait(void);
/* How long the calling thread has run, ns; 0 = not known. */
uint64_t ut_timer_ran(void);
/* The calling thread ends: how long it ran is told, if there is somebody to tell. */
void ut_timer_end(void);

/* ---- python_now.c -------------------------------------------------------------------------- */

/* Looks for an interpreter that is there from the start; not in a handler. */
void ut_timer_python_find(void);
/* The Python functions that the calling thread runs; sp: where its stack ends at the inside. */
void ut_timer_python_take(struct ut_timer_python *to, uintptr_t sp);

/* ---- timer_file.c -------------------------------------------------------------------------- */

/* Makes the file and maps it; NULL if it cannot be had. */
struct ut_timer_header *ut_timer_file_make(void);

/* ---- own_signal.c -------------------------------------------------------------------------- */

/* Takes the signal; what the program had set for it is kept. */
bool ut_timer_signal_take(void);
/* No thread has a tick any more: the signal is ignored, as it is without a handler. */
void ut_timer_signal_give_back(void);
/* A signal that no timer of ours has sent. */
void ut_timer_signal_pass(int sig, siginfo_t *info, void *context);

/* ---- thread_start.c ------------------------------------------------------------------------ */

/* How long stacks are that nobody has chosen: asked while nothing else runs. */
void ut_timer_threads_init(void);

#endif
