/*
 * small_map.h - from a 64-bit number to a small one, and quickly emptied: what a packet sequence
 * has interned is forgotten whenever its writer says so.
 *
 * {0} is an empty map. A value is never 0, since 0 means "not in the map". One owner, one thread.
 */
#ifndef UT_IMPORT_PERFETTO_SMALL_MAP_H
#define UT_IMPORT_PERFETTO_SMALL_MAP_H

#include <stddef.h>
#include <stdint.h>

struct ut_pf_slot {
	uint64_t key;
	uint32_t value; /* 0 = free */
};

struct ut_pf_map {
	struct ut_pf_slot *slots; /* open addressing, a power of two */
	size_t mask, count;
};

static inline size_t ut_pf_map_home(const struct ut_pf_map *m, uint64_t key)
{
	uint64_t hash = key * 0x9e3779b97f4a7c15u;

	return (size_t)(hash ^ hash >> 32) & m->mask;
}

static inline uint32_t ut_pf_map_get(const struct ut_pf_map *m, uint64_t key)
{
	size_t i;

	if (!m->count)
		return 0;
	i = ut_pf_map_home(m, key);
	while (m->slots[i].value && m->slots[i].key != key)
		i = (i + 1) & m->mask;
	return m->slots[i].value;
}

void ut_pf_map_put(struct ut_pf_map *m, uint64_t key, uint32_t value);
void ut_pf_map_clear(struct ut_pf_map *m);
void ut_pf_map_release(struct ut_pf_map *m);

#endif
