#include "model/types.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

void ut_types_init(struct ut_types *t)
{
	*t = (struct ut_types){ 0 };
	ut_types_intern(t, &(struct ut_type){ 0 });
}

void ut_types_release(struct ut_types *t)
{
	if (t->cap)
		free(t->items);
	ut_hashtab_release(&t->lookup);
	*t = (struct ut_types){ 0 };
}

/* For every event that is not of the type of the one before: no loop over bytes. */
static uint32_t types_hash_of(const struct ut_type *type)
{
	uint64_t hash = (uint64_t)type->cat << 32 | type->name;

	hash = (hash ^ (uint64_t)(type->kind << 8 | type->flags) << 44) * 0x9e3779b97f4a7c15u;
	return (uint32_t)(hash ^ hash >> 32);
}

/* Types that came with a file are looked up only if somebody asks. */
static void index_types(struct ut_types *t)
{
	ut_hashtab_reserve(&t->lookup, t->count);
	for (uint32_t n = 0; n < t->count; n++)
		ut_hashtab_add(&t->lookup, types_hash_of(&t->items[n]), n + 1);
}

uint32_t ut_types_intern(struct ut_types *t, const struct ut_type *type)
{
	const struct ut_type clean = {
		.name = type->name, .cat = type->cat, .kind = type->kind, .flags = type->flags
	};
	uint32_t hash = types_hash_of(&clean), at = hash, n;

	if (!t->lookup.slots)
		index_types(t);
	while ((n = ut_hashtab_next(&t->lookup, hash, &at))) {
		if (!memcmp(&t->items[n - 1], &clean, sizeof(clean)))
			return n - 1;
	}
	t->items = ut_grow(t->items, (size_t)t->count + 1, &t->cap, sizeof(*t->items));
	t->items[t->count] = clean;
	ut_hashtab_add(&t->lookup, hash, ++t->count);
	return t->count - 1;
}
