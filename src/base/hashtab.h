/*
 * hashtab.h - the one open-addressing table of the program: finds what an owner keeps in an array
 * of its own, by a hash of its key.
 *
 * The table holds the hash and a number (index + 1, usually) of each item, nothing of the item: the
 * owner says which of those with an equal hash is meant. Since the hash is kept, most others need
 * not be looked at, and growing asks nobody.
 *
 *	uint32_t at = hash, number;
 *
 *	while ((number = ut_hashtab_next(t, hash, &at)) && !same(&items[number - 1], key))
 *		;
 *	if (!number)
 *		... put the item into the array ..., ut_hashtab_add(t, hash, number);
 *
 * Keys that are numbers themselves: idmap.h. {0} is an empty table on the heap, which
 * ut_hashtab_release() frees; with an arena its slots live there. Running out of memory aborts. One
 * owner, one thread.
 */
#ifndef UT_BASE_HASHTAB_H
#define UT_BASE_HASHTAB_H

#include <stddef.h>
#include <stdint.h>

struct ut_arena;

struct ut_hashtab_slot {
	uint32_t hash, number; /* number 0 = free */
};

struct ut_hashtab {
	struct ut_arena *arena; /* not owned; NULL = slots come from malloc() */
	struct ut_hashtab_slot *slots;
	uint32_t mask, count; /* there is always a free slot */
};

/* The next item with this hash, 0 = none is left. *at is the hash at first, and then ours. */
static inline uint32_t ut_hashtab_next(const struct ut_hashtab *t, uint32_t hash, uint32_t *at)
{
	if (!t->slots)
		return 0;
	for (;;) {
		struct ut_hashtab_slot slot = t->slots[(*at)++ & t->mask];

		if (!slot.number || slot.hash == hash)
			return slot.number;
	}
}

/* One more, which was not found. number is not 0. */
void ut_hashtab_add(struct ut_hashtab *t, uint32_t hash, uint32_t number);

/* Room for count items in all, in one step. */
void ut_hashtab_reserve(struct ut_hashtab *t, uint32_t count);

/* Forgets everything; arena stays set. */
void ut_hashtab_release(struct ut_hashtab *t);

/* size zeroed bytes for slots, also of idmap.h: from the arena, or from malloc() if it is NULL. */
void *ut_slots_make(struct ut_arena *arena, size_t size);
void ut_slots_free(struct ut_arena *arena, void *slots, size_t size); /* NULL is fine */

#endif
