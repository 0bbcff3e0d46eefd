/*
 * early.c - what is allocated before our constructor runs: by the loader, and by constructors of
 * libraries that come before us. It is kept here until somebody says what is wanted.
 *
 * A note is a row of words: how many, then what. The first is written when the room is taken, the
 * second when all others are there; so whoever reads steps over one that is not finished.
 */
#include "backend/memory/alloc_watch.h"
#include "backend/memory/own_pages.h"

#define ROOM (4u << 20) /* bytes; taken from the kernel, and used, only as far as needed */
#define HEAD 4u         /* words before the frames */
#define DONE 1u

static _Atomic(_Atomic uint64_t *) notes;
static _Atomic size_t used; /* words; may run past the end */
static _Atomic uint64_t lost;

static _Atomic uint64_t *early_room(void)
{
	_Atomic uint64_t *at = atomic_load(&notes), *none = NULL;

	if (at)
		return at;
	at = ut_memory_pages(ROOM);
	if (at && !atomic_compare_exchange_strong(&notes, &none, at)) {
		ut_memory_give_pages((void *)(uintptr_t)at, ROOM);
		at = none;
	}
	return at;
}

void ut_early_note(const void *block, size_t size, enum ut_memory_kind kind, const uint64_t *frames,
		   size_t count)
{
	_Atomic uint64_t *at = early_room();
	size_t words = HEAD + count, from = atomic_fetch_add(&used, words);

	if (!at || from + words > ROOM / sizeof(*at)) {
		atomic_fetch_add(&lost, 1);
		return;
	}
	at += from;
	atomic_store_explicit(&at[0], words, memory_order_relaxed);
	atomic_store_explicit(&at[2], (uint64_t)(uintptr_t)block, memory_order_relaxed);
	atomic_store_explicit(&at[3], size, memory_order_relaxed);
	for (size_t i = 0; i < count; i++)
		atomic_store_explicit(&at[HEAD + i], frames[i], memory_order_relaxed);
	atomic_store_explicit(&at[1], DONE | (uint64_t)kind << 8, memory_order_release);
}

uint64_t ut_early_send(void (*allocated)(uintptr_t block, size_t size, enum ut_memory_kind kind,
					 const uint64_t *frames, size_t count),
		       void (*freed)(uintptr_t block))
{
	_Atomic uint64_t *at = atomic_load(&notes);
	size_t words, end = ROOM / sizeof(*at);
	uint64_t state;

	for (size_t i = 0; at && i < end && (words = at[i]); i += words) {
		state = atomic_load_explicit(&at[i + 1], memory_order_acquire);
		if (!(state & DONE))
			continue;
		if (at[i + 3] == SIZE_MAX)
			freed(at[i + 2]);
		else
			allocated(at[i + 2], at[i + 3], (enum ut_memory_kind)(state >> 8),
				  (const uint64_t *)(uintptr_t)&at[i + HEAD], words - HEAD);
	}
	if (at)
		ut_memory_give_pages((void *)(uintptr_t)at, ROOM);
	return atomic_load(&lost);
}
