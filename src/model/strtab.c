#include "model/strtab.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/hash.h"

#define FIRST_SLOTS 256u
#define MAX_SLOTS   (1u << 31)

static const struct ut_str empty = { "", 0 };

/* A string of the file; whoever wrote that is not trusted. */
static struct ut_str mapped_string(const struct ut_strtab *t, uint32_t id)
{
	uint64_t start = t->starts[id - 1], end = t->starts[id];

	if (start >= end || end > t->text_size || t->text[end - 1])
		return empty;
	return (struct ut_str){ t->text + start, (size_t)(end - 1 - start) };
}

static inline struct ut_str string_of(const struct ut_strtab *t, uint32_t id)
{
	return id > t->mapped ? t->items[id - t->mapped] : mapped_string(t, id);
}

/* The slot that holds these bytes, or the empty one where they belong. */
static uint32_t *find_slot(const struct ut_strtab *t, const char *s, size_t len)
{
	uint32_t i = (uint32_t)ut_hash_bytes(s, len) & t->slot_mask;

	for (; t->slots[i]; i = (i + 1) & t->slot_mask) {
		struct ut_str item = string_of(t, t->slots[i]);

		if (item.len == len && !memcmp(item.ptr, s, len))
			break;
	}
	return &t->slots[i];
}

/* The old arrays stay in the arena: each is half of the next, so they add up to one more. */
static void grow(struct ut_strtab *t, uint32_t nslots)
{
	struct ut_str *items = UT_NEW_N(t->arena, struct ut_str, nslots / 2 - t->mapped + 1);

	if (t->items)
		memcpy(items, t->items, (t->count - t->mapped + 1u) * sizeof(*items));
	items[0] = empty;
	t->items = items;
	t->slots = UT_NEW_N(t->arena, uint32_t, nslots);
	t->slot_mask = nslots - 1;
	for (uint32_t id = 1; id <= t->count; id++) {
		struct ut_str s = string_of(t, id);
		uint32_t *slot = find_slot(t, s.ptr, s.len);

		/* A file may hold a string twice; the first one is found. */
		if (!*slot)
			*slot = id;
	}
}

void ut_strtab_init(struct ut_strtab *t, struct ut_arena *arena)
{
	*t = (struct ut_strtab){ .arena = arena };
	grow(t, FIRST_SLOTS);
}

void ut_strtab_map(struct ut_strtab *t, const uint64_t *starts, uint32_t count, const char *text,
		   uint64_t text_size)
{
	*t = (struct ut_strtab){ .arena = t->arena,
				 .count = count,
				 .mapped = count,
				 .starts = starts,
				 .text = text,
				 .text_size = text_size };
}

/* Slots for the strings of the file, at least twice as many as there are. */
static void index_mapped(struct ut_strtab *t)
{
	uint32_t nslots = FIRST_SLOTS;

	while (nslots / 2 <= t->mapped && nslots < MAX_SLOTS)
		nslots *= 2;
	grow(t, nslots);
}

uint32_t ut_strtab_intern(struct ut_strtab *t, const char *s, size_t len)
{
	uint32_t *slot;

	if (!len)
		return 0;
	if (!t->slots)
		index_mapped(t);
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
	t->items[t->count - t->mapped] = (struct ut_str){ ut_arena_copy(t->arena, s, len), len };
	return t->count;
}

uint32_t ut_strtab_intern_z(struct ut_strtab *t, const char *s)
{
	return s ? ut_strtab_intern(t, s, strlen(s)) : 0;
}

struct ut_str ut_strtab_get(const struct ut_strtab *t, uint32_t id)
{
	return id && id <= t->count ? string_of(t, id) : empty;
}
