#include "model/types.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"

void ut_types_init(struct ut_types *t)
{
	*t = (struct ut_types){ 0 };
	ut_types_intern(t, &(struct ut_type){ 0 });
}

void ut_types_release(struct ut_types *t)
{
	if (t->cap)
		free(t->items);
	free(t->slots);
	*t = (struct ut_types){ 0 };
}

static uint32_t *slot_of(const struct ut_types *t, const struct ut_type *type)
{
	uint32_t i = (uint32_t)ut_hash_bytes(type, sizeof(*type)) & t->mask;

	while (t->slots[i] && memcmp(&t->items[t->slots[i] - 1], type, sizeof(*type)) != 0)
		i = (i + 1) & t->mask;
	return &t->slots[i];
}

static void grow_slots(struct ut_types *t)
{
	size_t size = t->mask ? 2 * ((size_t)t->mask + 1) : 256;

	free(t->slots);
	t->slots = ut_make(size * sizeof(*t->slots));
	t->mask = (uint32_t)(size - 1);
	for (uint32_t n = 0; n < t->count; n++)
		*slot_of(t, &t->items[n]) = n + 1;
}

uint32_t ut_types_intern(struct ut_types *t, const struct ut_type *type)
{
	const struct ut_type clean = {
		.name = type->name, .cat = type->cat, .kind = type->kind, .flags = type->flags
	};
	uint32_t *slot;

	if (2 * (size_t)t->count >= t->mask)
		grow_slots(t);
	slot = slot_of(t, &clean);
	if (!*slot) {
		t->items = ut_grow(t->items, (size_t)t->count + 1, &t->cap, sizeof(*t->items));
		t->items[t->count] = clean;
		*slot = ++t->count;
	}
	return *slot - 1;
}
