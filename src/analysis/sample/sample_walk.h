/*
 * sample_walk.h - the samples of a store, one after the other: track by track, in order of time.
 */
#ifndef UT_SAMPLE_SAMPLE_WALK_H
#define UT_SAMPLE_SAMPLE_WALK_H

#include <stddef.h>
#include <stdint.h>

struct ut_filter;
struct ut_store;

/* Strings are those of the store. */
struct ut_sample_seen {
	uint32_t track;
	uint64_t ts, weight;
	uint32_t stack; /* 0 = none */
	uint32_t task;  /* name of the innermost task that was open on the thread; 0 = none */
	const uint32_t *tasks; /* names of all that were open, outermost first, task the last */
	size_t task_count;
};

struct ut_sample_walk {
	const struct ut_store *store;
	const struct ut_filter *filter; /* threads, processes, time; NULL = all */
	uint32_t event;                 /* name of what was sampled: see ut_sample_event() */
	uint64_t other;                 /* out: samples of other events */
	void (*each)(void *ctx, const struct ut_sample_seen *s);
	void *ctx;
};

/*
 * What a store has samples of, on threads (those of devices are somebody else's): the event of this
 * name, or for NULL that of CPU time, or else the most frequent one. A string of the store; 0 =
 * there are none.
 */
uint32_t ut_sample_event(const struct ut_store *store, const char *wanted);

/* The same for each event that there are samples of, once. */
void ut_sample_events(const struct ut_store *store, void (*each)(void *ctx, uint32_t event),
		      void *ctx);

void ut_sample_walk(struct ut_sample_walk *w);

/* What threads waited for: of each wait with a stack its kind, a string of the store, and ns. */
void ut_sample_walk_waits(const struct ut_store *store,
			  void (*each)(void *ctx, uint32_t kind, uint64_t ns), void *ctx);

#endif
