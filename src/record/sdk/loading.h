/*
 * loading.h - what gets the first call through fork, signals and small stacks.
 *
 * Loading a collector takes long and takes locks of the loader, so no lock of ours is held
 * meanwhile: several threads may load at once, and one of them, who holds the claim, binds.
 * What says who is at it lies on a page that the kernel clears in a forked child, whichever way it
 * was forked; fork() itself waits a moment for those who load. Nobody waits for ever.
 *
 * Threads: any; signal handlers, too. errno is kept.
 */
#ifndef UT_SDK_LOADING_H
#define UT_SDK_LOADING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Inside the library only: two programs' copies must not find each other's. */
#pragma GCC visibility push(hidden)

/*
 * The variable's value, NULL if it is unset or the program has other rights than its caller: such a
 * one loads nobody's library. Not secure_getenv(), which may be the program's own and call us.
 */
const char *ut_itt_env(const char *name);

enum ut_itt_claim {
	UT_ITT_BIND,     /* of the table of functions */
	UT_ITT_JIT_BIND, /* of the JIT interface */
	UT_ITT_CLAIMS,
};

/* A thread that loads. */
struct ut_itt_load {
	uint64_t signals; /* those that were blocked before */
	unsigned int slot;
};

enum ut_itt_may_load {
	UT_ITT_MAY_LOAD,
	UT_ITT_LOADS_ALREADY, /* this thread does: whoever it loads has called us */
	UT_ITT_NEVER,         /* forked while another thread was inside the loader */
};

/* Unless this says UT_ITT_MAY_LOAD, nothing has happened. Signals wait until the end. */
enum ut_itt_may_load ut_itt_load_begin(struct ut_itt_load *l);
/* Calls fn on a stack that is large enough for a loader. */
void ut_itt_load_run(void (*fn)(void *), void *arg);
void ut_itt_load_end(const struct ut_itt_load *l);

/* False: somebody else has it. */
bool ut_itt_claim(enum ut_itt_claim which);
void ut_itt_unclaim(enum ut_itt_claim which);
/* Does another thread bind functions into the table? */
bool ut_itt_bound_by_others(void);
/* Until nobody else has it. False: this thread has it, or it takes too long. */
bool ut_itt_claim_wait(enum ut_itt_claim which);

/*
 * The lock of the lists, held for moments, also twice by one thread; signals wait meanwhile. False:
 * it cannot be had.
 */
bool ut_itt_lock(uint64_t *signals);
void ut_itt_unlock(const uint64_t *signals);

#pragma GCC visibility pop

#endif
