/*
 * progress.h - one line of state that says how far a long command has come.
 *
 * Nothing is told unless the logger shows states (base/logger.h) and the work has lasted a second;
 * then four times a second at most, by a thread of its own. The line goes away at the end. add() is
 * for any thread; importers may count straight into done.
 */
#ifndef UT_BASE_PROGRESS_H
#define UT_BASE_PROGRESS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct ut_logger;

struct ut_progress {
	_Atomic uint64_t done; /* bytes */
	uint64_t total;        /* bytes; 0 = unknown */
	const char *label;     /* not owned */
	const struct ut_logger *logger;
	bool running;
	bool stop; /* under lock */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
};

void ut_progress_start(struct ut_progress *p, const struct ut_logger *logger, const char *label,
		       uint64_t total);

static inline void ut_progress_add(struct ut_progress *p, uint64_t bytes)
{
	atomic_fetch_add_explicit(&p->done, bytes, memory_order_relaxed);
}

/* Twice is fine. */
void ut_progress_done(struct ut_progress *p);

/* The line for this state; returns buf. */
const char *ut_progress_text(char *buf, size_t size, const struct ut_progress *p, uint64_t done,
			     uint64_t elapsed_ns);

#endif
