/*
 * attic.h - memory that has been replaced, kept for as long as somebody may still read it.
 *
 * One thread fills something that others look at in the state it had when they came. What it
 * replaces meanwhile goes to the attic, and is freed when all who came before that have left.
 * ut_attic_enter() and ut_attic_put() are called by the filler, ut_attic_leave() by any thread.
 */
#ifndef UT_MODEL_ATTIC_H
#define UT_MODEL_ATTIC_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

struct ut_attic_item {
	void *memory;
	uint64_t until; /* ticket of the last one who may read it */
};

struct ut_attic {
	pthread_mutex_t lock;
	struct ut_attic_item *items; /* in order of until */
	size_t count, cap;
	uint64_t *readers; /* tickets, in order */
	size_t reader_count, reader_cap;
	uint64_t last; /* ticket given */
};

void ut_attic_init(struct ut_attic *a);
void ut_attic_release(struct ut_attic *a); /* nobody reads any more */

/* Somebody begins to read; the ticket is handed in when it is over. */
uint64_t ut_attic_enter(struct ut_attic *a);
void ut_attic_leave(struct ut_attic *a, uint64_t ticket);

/* Who comes from now on does not see this any more. For ut_pages_free(); NULL is fine. */
void ut_attic_put(struct ut_attic *a, void *memory);

#endif
