#include "import/perfetto/small_map.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

#define FIRST_SLOTS 16u

static void insert(struct ut_pf_map *m, uint64_t key, uint32_t value)
{
	size_t i = ut_pf_map_home(m, key);

	while (m->slots[i].value && m->slots[i].key != key)
		i = (i + 1) & m->mask;
	m->count += !m->slots[i].value;
	m->slots[i] = (struct ut_pf_slot){ key, value };
}

static void widen(struct ut_pf_map *m)
{
	struct ut_pf_map old = *m;
	size_t size = old.slots ? (old.mask + 1) * 2 : FIRST_SLOTS;

	*m = (struct ut_pf_map){ .slots = ut_make(size * sizeof(*m->slots)), .mask = size - 1 };
	for (size_t i = 0; old.slots && i <= old.mask; i++) {
		if (old.slots[i].value)
			insert(m, old.slots[i].key, old.slots[i].value);
	}
	free(old.slots);
}

void ut_pf_map_put(struct ut_pf_map *m, uint64_t key, uint32_t value)
{
	if (!m->slots || 2 * m->count > m->mask)
		widen(m);
	insert(m, key, value);
}

/* Costs no more than filling it did: a table that was large once is not wiped for a few entries. */
void ut_pf_map_clear(struct ut_pf_map *m)
{
	if (m->count * 8 < m->mask)
		ut_pf_map_release(m);
	else if (m->count)
		memset(m->slots, 0, (m->mask + 1) * sizeof(*m->slots));
	m->count = 0;
}

void ut_pf_map_release(struct ut_pf_map *m)
{
	free(m->slots);
	*m = (struct ut_pf_map){ 0 };
}
