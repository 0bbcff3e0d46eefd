/*
 * gate.h - may this call record? One load and one compare when it may.
 *
 * The gate's word lies on a page that the kernel clears in a forked child, whichever way it was
 * forked, so a child notices at its first call that it needs a spool of its own. Its upper bits
 * are the writer's generation; the lowest says "open". Each thread keeps the word that means
 * "open, and I am attached": anything else leads to the slow path.
 *
 * A task that was begun while recording is always ended, also during a pause, and the end of one
 * that was begun during a pause is never recorded: each thread remembers one bit per open task
 * in its history (the innermost in bit 0; beyond 64 deep, "recorded" is assumed).
 */
#ifndef UT_COLLECT_GATE_H
#define UT_COLLECT_GATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "wire/writer.h"

struct ut_control;

enum ut_gate_bit {
	UT_GATE_OPEN = 1u << 0,
	UT_GATE_PAUSED = 1u << 1,     /* by __itt_pause or PTI_ENABLE_COLLECTION */
	UT_GATE_WAS_PAUSED = 1u << 2, /* histories are kept from now on */
	UT_GATE_STOPPED = 1u << 3,    /* for ever */
};

enum ut_gate_call {
	UT_CALL_OTHER,
	UT_CALL_BEGIN, /* of something that nests on its thread */
	UT_CALL_END,
	UT_CALL_LATE_END, /* of something known by its id: passes also during a pause */
};

union ut_gate_page {
	struct {
		_Atomic uint32_t word;
		_Atomic uint32_t owner; /* a thread is making, or has made, this process ready */
	};
	char page[4096];
};

extern union ut_gate_page ut_gate;
extern _Atomic uint32_t *ut_gate_state; /* the session's word: enum ut_state */
extern _Thread_local struct ut_tbuf ut_me;

/* Everything that is not "open and attached". errno is kept. */
bool ut_gate_slow(struct ut_tbuf *t, enum ut_gate_call call);

/*
 * The bits in which the gate's word differs from a thread's own, "open, and I am attached". One
 * load tells these cases apart; any other value is for the slow path.
 */
enum ut_gate_look {
	UT_LOOK_OPEN = 0,
	UT_LOOK_RESUMED = UT_GATE_WAS_PAUSED, /* open again after a pause: histories are kept */
	UT_LOOK_PAUSED = UT_GATE_OPEN | UT_GATE_PAUSED | UT_GATE_WAS_PAUSED,
};

static inline uint32_t ut_gate_look(const struct ut_tbuf *t)
{
	uint32_t look = atomic_load_explicit(&ut_gate.word, memory_order_acquire) ^ t->ready;

	__asm__("" : "+r"(look)); /* keeps the compiler from comparing the two words once more */
	return look;
}

/* The session is not paused or stopped from outside. */
static inline bool ut_gate_runs(void)
{
	return atomic_load_explicit(ut_gate_state, memory_order_relaxed) == 0;
}

static inline void ut_gate_push(struct ut_tbuf *t, bool recorded)
{
	t->history = t->history << 1 | recorded;
}

/* Was the begin that this end belongs to recorded? */
static inline bool ut_gate_pop(struct ut_tbuf *t)
{
	bool recorded = t->history & 1;

	t->history = t->history >> 1 | 1ull << 63;
	return recorded;
}

static inline bool ut_gate_passes(struct ut_tbuf *t, enum ut_gate_call call)
{
	return UT_LIKELY(ut_gate_look(t) == UT_LOOK_OPEN && ut_gate_runs()) ||
	       ut_gate_slow(t, call);
}

/*
 * Makes the collector ready in this process; the first call does the work. False when there is
 * nothing to record for: no session, not this process, no room. errno is kept.
 */
bool ut_gate_wake(void);

/* The session's settings; NULL before ut_gate_wake() or without a session. */
const struct ut_control *ut_gate_settings(void);

/* Do __itt_pause, __itt_resume and PTI_ENABLE_COLLECTION have an effect in this session? */
bool ut_gate_conditional(void);

/*
 * Was recording on at this time (ns, CLOCK_MONOTONIC)? For what is told of later than it happened.
 * A pause that another process asked for counts from when it is noticed here.
 */
bool ut_gate_was_on(uint64_t time);

/* __itt_pause/__itt_resume: stronger than the variable. */
void ut_gate_pause(bool paused);

/* PTI_ENABLE_COLLECTION has changed; NULL = unset. */
void ut_gate_variable(const char *value);

/* __itt_detach: this process records no more. */
void ut_gate_stop(void);

/* __itt_thread_ignore: the calling thread records no more. */
void ut_gate_ignore_thread(void);

#endif
