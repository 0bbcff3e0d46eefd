/*
 * helper_thread.h - threads of ours in the program's process. No signal of the program's ever finds
 * one.
 *
 * A helper looks for complete commands a hundred times a second, so that programs that never look
 * lose nothing when they are killed. It sleeps when there is nothing to do.
 * docs/design/014-opencl-thread.md says why there is one.
 */
#ifndef UT_BACKEND_HELPER_THREAD_H
#define UT_BACKEND_HELPER_THREAD_H

#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Starts a thread that nobody waits for; name has 15 letters at the most. errno stays. */
bool ut_guest_thread(const char *name, size_t stack, void *(*run)(void *), void *arg);

/* Static, with the first four set. */
struct ut_helper {
	const char *name;
	void (*look)(void);        /* tells what is complete; not after the end */
	uint64_t (*waiting)(void); /* commands under way */
	void (*at_exit)(void);     /* the process ends */

	_Atomic bool ended; /* nobody asks the runtime any more */
	atomic_flag started;
	_Atomic bool runs, asleep;
	sem_t wake;
};

/* Something was submitted: started at the first call. */
void ut_helper_wake(struct ut_helper *h);

/*
 * The process ends: what is still under way gets a moment, then nobody looks any more. alone()
 * looks where there is no thread. How many commands are still under way.
 */
uint64_t ut_helper_end(struct ut_helper *h, void (*alone)(void));

/* In a forked child, which has no such thread yet. */
void ut_helper_forked(struct ut_helper *h);

#endif
