#include "base/hashtab.h"

#include <assert.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/grow.h"

#define FIRST_SLOTS 64u
#define ALONE       65536u /* bytes: smaller slots stay in an arena, which has to look for them */
#define MAX_SLOTS   (1u << 31)

static void hashtab_put(const struct ut_hashtab *t, struct ut_hashtab_slot slot)
{
	uint32_t i = slot.hash & t->mask;

	while (t->slots[i].number)
		i = (i + 1) & t->mask;
	t->slots[i] = slot;
}

void *ut_slots_make(struct ut_arena *arena, size_t size)
{
	if (!arena)
		return ut_make(size);
	return size < ALONE ? ut_arena_alloc(arena, size, 1) : ut_arena_alloc_alone(arena, size, 1);
}

void ut_slots_free(struct ut_arena *arena, void *slots, size_t size)
{
	if (!arena)
		free(slots);
	else if (slots && size >= ALONE)
		ut_arena_give_back(arena, slots);
}

static size_t hashtab_size_of(const struct ut_hashtab *t)
{
	return ((size_t)t->mask + 1) * sizeof(*t->slots);
}

/* What is in the old slots is known to differ. */
static void resize(struct ut_hashtab *t, uint32_t count)
{
	struct ut_hashtab old = *t;

	t->mask = count - 1;
	t->slots = ut_slots_make(t->arena, hashtab_size_of(t));
	for (size_t i = 0; old.slots && i <= old.mask; i++) {
		if (old.slots[i].number)
			hashtab_put(t, old.slots[i]);
	}
	ut_slots_free(t->arena, old.slots, hashtab_size_of(&old));
}

void ut_hashtab_reserve(struct ut_hashtab *t, uint32_t count)
{
	uint32_t slots = t->slots ? t->mask + 1 : FIRST_SLOTS;

	while (slots / 4 * 3 <= count) {
		if (slots == MAX_SLOTS)
			abort(); /* 3 * 2^29 different items: memory was gone long before */
		slots *= 2;
	}
	if (!t->slots || slots > t->mask + 1)
		resize(t, slots);
}

void ut_hashtab_add(struct ut_hashtab *t, uint32_t hash, uint32_t number)
{
	assert(number);
	ut_hashtab_reserve(t, t->count + 1);
	hashtab_put(t, (struct ut_hashtab_slot){ hash, number });
	t->count++;
}

void ut_hashtab_release(struct ut_hashtab *t)
{
	ut_slots_free(t->arena, t->slots, hashtab_size_of(t));
	*t = (struct ut_hashtab){ .arena = t->arena };
}
