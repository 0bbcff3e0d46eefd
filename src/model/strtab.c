#include "model/strtab.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/hash.h"

#define FIRST_SLOTS 256u
#define MAX_SLOTS   (1u << 31)

static const struct ut_str empty = { "", 0 };

/* The slot that holds these bytes, or the empty one where they belong. */
static uint32_t *find_slot(const struct ut_strtab *t, const char *s, size_t len)
{
	uint32_t i = (uint32_t)ut_hash_bytes(s, len) & t->slot_mask;

	for (;; i = (i + 1) & t->slot_mask) {
		const struct ut_str *item = &t->items[t->slots[i]];

		if (!t->slots[i] || (item->len == len && !memcmp(item->ptr, s, len)))
			return &t->slots[i];
	}
}

/* The old arrays stay in the arena: each is half of the next, so they add up to one more. */
static void grow(struct ut_strtab *t, uint32_t nslots)
{
	struct ut_str *items = UT_NEW_N(t->arena, struct ut_str, nslots / 2 + 1);

	if (t->items)
		memcpy(items, t->items, (t->count + 1u) * sizeof(*items));
	items[0] = empty;
	t->items = items;
	t->slots = UT_NEW_N(t->arena, uint32_t, nslots);
	t->slot_mask = nslots - 1;
	for (uint32_t id = 1; id <= t->count; id++)
		*find_slot(t, items[id].ptr, items[id].len) = id;
}

void ut_strtab_init(struct ut_strtab *t, struct ut_arena *arena)
{
	*t = (struct ut_strtab){ .arena = arena };
	grow(t, FIRST_SLOTS);
}

uint32_t ut_strtab_intern(struct ut_strtab *t, const char *s, size_t len)
{
	uint32_t *slot;

	if (!len)
		return 0;
	slot = find_slot(t, s, len);
	if (*slot)
		return *slot;
	if (t->count >= (t->slot_mask + 1) / 2) {
		if (t->slot_mask + 1 >= MAX_SLOTS)
			abort(); /* 2^30 different strings: memory was gone long before */
		grow(t, (t->slot_mask + 1) * 2);
		slot = find_slot(t, s, len);
	}
	*slot = ++t->count;
	t->items[t->count] = (struct ut_str){ ut_arena_copy(t->arena, s, len), len };
	return t->count;
}

uint32_t ut_strtab_intern_z(struct ut_strtab *t, const char *s)
{
	return s ? ut_strtab_intern(t, s, strlen(s)) : 0;
}

struct ut_str ut_strtab_get(const struct ut_strtab *t, uint32_t id)
{
	return id && id <= t->count ? t->items[id] : empty;
}
