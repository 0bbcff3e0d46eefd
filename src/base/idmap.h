/*
 * idmap.h - from one number to another: which row a name has, who is waiting for its other half.
 *
 * Open addressing as in table.h, which is for keys that lie elsewhere; here the key is in the slot.
 * A value is never 0, since 0 means "not in the map". {0} is an empty map on the heap, which
 * ut_idmap_release() frees; ut_idmap_init() makes one that lives in an arena. Running out of memory
 * aborts. Not thread-safe.
 */
#ifndef UT_BASE_IDMAP_H
#define UT_BASE_IDMAP_H

#include <stddef.h>
#include <stdint.h>

struct ut_arena;

struct ut_idmap_slot {
	uint64_t key;
	uint32_t value; /* 0 = free */
};

struct ut_idmap {
	struct ut_arena *arena; /* not owned; NULL = slots come from malloc() */
	struct ut_idmap_slot *slots;
	size_t mask, count;
};

void ut_idmap_init(struct ut_idmap *m, struct ut_arena *arena);
void ut_idmap_release(struct ut_idmap *m); /* empty and usable again */

static inline size_t ut_idmap_home(const struct ut_idmap *m, uint64_t key)
{
	uint64_t hash = key * 0x9e3779b97f4a7c15u;

	return (size_t)(hash ^ hash >> 32) & m->mask;
}

/* 0 = not there. */
static inline uint32_t ut_idmap_get(const struct ut_idmap *m, uint64_t key)
{
	size_t i;

	if (!m->count)
		return 0;
	i = ut_idmap_home(m, key);
	while (m->slots[i].value && m->slots[i].key != key)
		i = (i + 1) & m->mask;
	return m->slots[i].value;
}

void ut_idmap_put(struct ut_idmap *m, uint64_t key, uint32_t value);
uint32_t ut_idmap_take(struct ut_idmap *m, uint64_t key); /* get, and forget it */

/* Forgets all; it costs no more than filling the map did. */
void ut_idmap_clear(struct ut_idmap *m);

#endif
