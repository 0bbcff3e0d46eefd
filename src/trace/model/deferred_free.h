/*
 * deferred_free.h - memory that has been replaced, kept for as long as somebody may still read it.
 *
 * One thread fills something that others look at in the state it had when they came. What it
 * replaces meanwhile goes to this list, and is freed when all who came before that have left.
 * ut_deferred_free_enter() and ut_deferred_free_add() are called by the filler,
 * ut_deferred_free_leave() by any thread.
 */
#ifndef UT_MODEL_DEFERRED_FREE_H
#define UT_MODEL_DEFERRED_FREE_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

struct ut_deferred_free_item {
	void *memory;
	uint64_t until; /* ticket of the last one who may read it */
};

struct ut_deferred_free {
	pthread_mutex_t lock;
	struct ut_deferred_free_item *items; /* in order of until */
	size_t count, cap;
	uint64_t *readers; /* tickets, in order */
	size_t reader_count, reader_cap;
	uint64_t last; /* ticket given */
};

void ut_deferred_free_init(struct ut_deferred_free *a);
void ut_deferred_free_release(struct ut_deferred_free *a); /* nobody reads any more */

/* Somebody begins to read; the ticket is handed in when it is over. */
uint64_t ut_deferred_free_enter(struct ut_deferred_free *a);
void ut_deferred_free_leave(struct ut_deferred_free *a, uint64_t ticket);

/* Who comes from now on does not see this any more. For ut_pages_free(); NULL is fine. */
void ut_deferred_free_add(struct ut_deferred_free *a, void *memory);

#endif
