#include "model/deferred_free.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "model/pages.h"

void ut_deferred_free_init(struct ut_deferred_free *a)
{
	*a = (struct ut_deferred_free){ 0 };
	pthread_mutex_init(&a->lock, NULL);
}

/* Frees what nobody from this ticket on may read. */
static void deferred_free_clear(struct ut_deferred_free *a, uint64_t first)
{
	size_t gone = 0;

	while (gone < a->count && a->items[gone].until < first)
		ut_pages_free(a->items[gone++].memory);
	a->count -= gone;
	if (gone && a->count)
		memmove(a->items, a->items + gone, a->count * sizeof(*a->items));
}

void ut_deferred_free_release(struct ut_deferred_free *a)
{
	deferred_free_clear(a, UINT64_MAX);
	free(a->items);
	free(a->readers);
	pthread_mutex_destroy(&a->lock);
	*a = (struct ut_deferred_free){ 0 };
}

uint64_t ut_deferred_free_enter(struct ut_deferred_free *a)
{
	uint64_t ticket;

	pthread_mutex_lock(&a->lock);
	ticket = ++a->last;
	a->readers = ut_grow(a->readers, a->reader_count + 1, &a->reader_cap, sizeof(*a->readers));
	a->readers[a->reader_count++] = ticket;
	pthread_mutex_unlock(&a->lock);
	return ticket;
}

void ut_deferred_free_leave(struct ut_deferred_free *a, uint64_t ticket)
{
	size_t at = 0;

	pthread_mutex_lock(&a->lock);
	while (at < a->reader_count && a->readers[at] != ticket)
		at++;
	if (at < a->reader_count) {
		a->reader_count--;
		memmove(a->readers + at, a->readers + at + 1,
			(a->reader_count - at) * sizeof(*a->readers));
	}
	deferred_free_clear(a, a->reader_count ? a->readers[0] : UINT64_MAX);
	pthread_mutex_unlock(&a->lock);
}

void ut_deferred_free_add(struct ut_deferred_free *a, void *memory)
{
	if (!memory)
		return;
	pthread_mutex_lock(&a->lock);
	if (a->reader_count) {
		a->items = ut_grow(a->items, a->count + 1, &a->cap, sizeof(*a->items));
		a->items[a->count++] = (struct ut_deferred_free_item){ memory, a->last };
		memory = NULL;
	}
	pthread_mutex_unlock(&a->lock);
	ut_pages_free(memory);
}
