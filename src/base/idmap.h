/*
 * idmap.h - from one number to another: which row a name has, who is waiting for its other half.
 *
 * Open addressing in an arena; growing leaves the smaller tables there. A value is never 0,
 * since 0 means "not in the map". Not thread-safe.
 */
#ifndef UT_BASE_IDMAP_H
#define UT_BASE_IDMAP_H

#include <stddef.h>
#include <stdint.h>

struct ut_arena;

struct ut_idmap {
	struct ut_arena *arena; /* not owned */
	uint64_t *keys;
	uint32_t *values; /* 0 = the slot is free */
	size_t mask, count;
};

void ut_idmap_init(struct ut_idmap *m, struct ut_arena *arena);

uint32_t ut_idmap_get(const struct ut_idmap *m, uint64_t key); /* 0 = not there */
void ut_idmap_put(struct ut_idmap *m, uint64_t key, uint32_t value);
uint32_t ut_idmap_take(struct ut_idmap *m, uint64_t key); /* get, and forget it */

#endif
