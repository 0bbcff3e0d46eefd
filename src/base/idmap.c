#include "base/idmap.h"

#include <assert.h>

#include "base/arena.h"

#define FIRST_SLOTS 64u

static size_t home(const struct ut_idmap *m, uint64_t key)
{
	return (size_t)((key * 0x9e3779b97f4a7c15ull) >> 32) & m->mask;
}

static size_t find(const struct ut_idmap *m, uint64_t key)
{
	size_t i = home(m, key);

	while (m->values[i] && m->keys[i] != key)
		i = (i + 1) & m->mask;
	return i;
}

static void resize(struct ut_idmap *m, size_t slots)
{
	struct ut_idmap old = *m;

	m->keys = UT_NEW_N(m->arena, uint64_t, slots);
	m->values = UT_NEW_N(m->arena, uint32_t, slots);
	m->mask = slots - 1;
	for (size_t i = 0; old.values && i <= old.mask; i++) {
		if (old.values[i]) {
			size_t to = find(m, old.keys[i]);

			m->keys[to] = old.keys[i];
			m->values[to] = old.values[i];
		}
	}
}

void ut_idmap_init(struct ut_idmap *m, struct ut_arena *arena)
{
	*m = (struct ut_idmap){ .arena = arena };
	resize(m, FIRST_SLOTS);
}

uint32_t ut_idmap_get(const struct ut_idmap *m, uint64_t key)
{
	return m->values[find(m, key)];
}

void ut_idmap_put(struct ut_idmap *m, uint64_t key, uint32_t value)
{
	size_t i;

	assert(value);
	if (m->count * 2 > m->mask)
		resize(m, (m->mask + 1) * 2);
	i = find(m, key);
	m->count += !m->values[i];
	m->keys[i] = key;
	m->values[i] = value;
}

/* Those behind the hole that could not sit nearer to their home move up, so no search breaks. */
static void close_hole(struct ut_idmap *m, size_t hole)
{
	for (size_t i = (hole + 1) & m->mask; m->values[i]; i = (i + 1) & m->mask) {
		size_t wanted = home(m, m->keys[i]);

		if (((i - wanted) & m->mask) < ((i - hole) & m->mask))
			continue;
		m->keys[hole] = m->keys[i];
		m->values[hole] = m->values[i];
		hole = i;
	}
	m->values[hole] = 0;
}

uint32_t ut_idmap_take(struct ut_idmap *m, uint64_t key)
{
	size_t i = find(m, key);
	uint32_t value = m->values[i];

	if (value) {
		m->count--;
		close_hole(m, i);
	}
	return value;
}
