#include "base/idmap.h"

#include <assert.h>
#include <string.h>

#include "base/hashtab.h"

#define FIRST_SLOTS 16u

static size_t idmap_find(const struct ut_idmap *m, uint64_t key)
{
	size_t i = ut_idmap_home(m, key);

	while (m->slots[i].value && m->slots[i].key != key)
		i = (i + 1) & m->mask;
	return i;
}

static size_t idmap_size_of(const struct ut_idmap *m)
{
	return (m->mask + 1) * sizeof(*m->slots);
}

static void resize(struct ut_idmap *m, size_t count)
{
	struct ut_idmap old = *m;

	m->mask = count - 1;
	m->slots = ut_slots_make(m->arena, idmap_size_of(m));
	for (size_t i = 0; old.slots && i <= old.mask; i++) {
		if (old.slots[i].value)
			m->slots[idmap_find(m, old.slots[i].key)] = old.slots[i];
	}
	ut_slots_free(m->arena, old.slots, idmap_size_of(&old));
}

void ut_idmap_init(struct ut_idmap *m, struct ut_arena *arena)
{
	*m = (struct ut_idmap){ .arena = arena };
}

void ut_idmap_release(struct ut_idmap *m)
{
	ut_slots_free(m->arena, m->slots, idmap_size_of(m));
	*m = (struct ut_idmap){ .arena = m->arena };
}

void ut_idmap_put(struct ut_idmap *m, uint64_t key, uint32_t value)
{
	size_t i;

	assert(value);
	if (!m->slots || m->count * 2 > m->mask)
		resize(m, m->slots ? (m->mask + 1) * 2 : FIRST_SLOTS);
	i = idmap_find(m, key);
	m->count += !m->slots[i].value;
	m->slots[i] = (struct ut_idmap_slot){ key, value };
}

/* Those behind the hole that could not sit nearer to their home move up, so no search breaks. */
static void close_hole(struct ut_idmap *m, size_t hole)
{
	for (size_t i = (hole + 1) & m->mask; m->slots[i].value; i = (i + 1) & m->mask) {
		size_t wanted = ut_idmap_home(m, m->slots[i].key);

		if (((i - wanted) & m->mask) < ((i - hole) & m->mask))
			continue;
		m->slots[hole] = m->slots[i];
		hole = i;
	}
	m->slots[hole].value = 0;
}

uint32_t ut_idmap_take(struct ut_idmap *m, uint64_t key)
{
	size_t i;
	uint32_t value;

	if (!m->count)
		return 0;
	i = idmap_find(m, key);
	value = m->slots[i].value;
	if (value) {
		m->count--;
		close_hole(m, i);
	}
	return value;
}

/* A table that was large once is not wiped for a few entries. */
void ut_idmap_clear(struct ut_idmap *m)
{
	if (m->count * 8 < m->mask)
		ut_idmap_release(m);
	else if (m->count)
		memset(m->slots, 0, (m->mask + 1) * sizeof(*m->slots));
	m->count = 0;
}
