/*
 * switcher.h - while a session is paused, or no process of it is on, nothing is sampled: a thread
 * waits for the words that say so (wire/control.h) and switches at once.
 *
 * Owner: the sampler, which is told from the switcher's thread whether to sample, and asks now and
 * then when the session itself was switched.
 */
#ifndef UT_LAUNCH_CPU_SWITCHER_H
#define UT_LAUNCH_CPU_SWITCHER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ut_control;

struct ut_switch {
	uint64_t time; /* ns, CLOCK_MONOTONIC */
	bool on;
};

struct ut_switcher {
	struct ut_control *control; /* NULL: always on */
	_Atomic uint32_t *state;
	bool variable_on; /* programs begin with PTI_ENABLE_COLLECTION=1 */
	void (*apply)(void *ctx, bool on);
	void *ctx;
	bool on;      /* samples are taken */
	bool running; /* the session is */
	pthread_t thread;
	bool started;
	_Atomic bool stop;
	pthread_mutex_t lock; /* of what follows */
	struct ut_switch *switches;
	size_t count, cap;
};

/* How things are now; apply is not called. */
void ut_switcher_init(struct ut_switcher *s, struct ut_control *control);

/* From now on apply(ctx, on) is called at each change, on a thread of its own. */
int ut_switcher_start(struct ut_switcher *s, void (*apply)(void *ctx, bool on), void *ctx);
void ut_switcher_stop(struct ut_switcher *s); /* twice is fine */

/* The next time that the session was paused or resumed; false: none since the last one. */
bool ut_switcher_next(struct ut_switcher *s, size_t *at, struct ut_switch *next);

#endif
