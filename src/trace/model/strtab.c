#include "model/strtab.h"

#include <string.h>

#include "base/arena.h"
#include "base/hash.h"

#define PAGE        256u  /* strings */
#define FIRST_PAGES 16u   /* that there is room for */
#define ROOM        8192u /* bytes for short texts, taken at a time */
#define SHORT       1024u /* bytes of a text; longer ones get a place of their own */

static const struct ut_str empty = { "", 0 };

/* A string of the file; whoever wrote that is not trusted. */
static struct ut_str mapped_string(const struct ut_strtab *t, uint32_t id)
{
	uint64_t start = t->starts[id - 1], end = t->starts[id];

	if (start >= end || end > t->text_size || t->text[end - 1])
		return empty;
	return (struct ut_str){ t->text + start, (size_t)(end - 1 - start) };
}

static inline struct ut_str *item_of(const struct ut_strtab *t, uint32_t id)
{
	uint32_t n = id - t->mapped - 1;

	return &t->pages[n / PAGE][n % PAGE];
}

static inline struct ut_str strtab_string_of(const struct ut_strtab *t, uint32_t id)
{
	return id > t->mapped ? *item_of(t, id) : mapped_string(t, id);
}

/* The string of these bytes; 0 = none. */
static uint32_t strtab_find(const struct ut_strtab *t, uint32_t hash, struct ut_str s)
{
	uint32_t at = hash, id;

	while ((id = ut_hashtab_next(&t->ids, hash, &at)) && !ut_str_eq(strtab_string_of(t, id), s))
		;
	return id;
}

void ut_strtab_init(struct ut_strtab *t, struct ut_arena *arena)
{
	*t = (struct ut_strtab){ .arena = arena, .ids.arena = arena };
}

void ut_strtab_set_arena(struct ut_strtab *t, struct ut_arena *arena)
{
	t->arena = t->ids.arena = arena;
}

void ut_strtab_map(struct ut_strtab *t, const uint64_t *starts, uint32_t count, const char *text,
		   uint64_t text_size)
{
	*t = (struct ut_strtab){ .arena = t->arena,
				 .ids.arena = t->arena,
				 .count = count,
				 .mapped = count,
				 .starts = starts,
				 .text = text,
				 .text_size = text_size };
}

/* Strings that were there before the table, when the first new one comes. */
static void index_known(struct ut_strtab *t)
{
	ut_hashtab_reserve(&t->ids, t->count);
	for (uint32_t id = 1; id <= t->count; id++) {
		struct ut_str s = strtab_string_of(t, id);
		uint32_t hash = (uint32_t)ut_hash_bytes(s.ptr, s.len);

		/* A file may hold a string twice; the first one is found. */
		if (!strtab_find(t, hash, s))
			ut_hashtab_add(&t->ids, hash, id);
	}
}

/* Short texts lie close together; the arena would align each. */
static const char *strtab_copy_text(struct ut_strtab *t, const char *s, size_t len)
{
	char *copy;

	if (len > SHORT)
		return ut_arena_copy(t->arena, s, len);
	if (len + 1 > t->room_left) {
		t->room = UT_NEW_N(t->arena, char, ROOM);
		t->room_left = ROOM;
	}
	copy = t->room;
	memcpy(copy, s, len);
	copy[len] = '\0';
	t->room += len + 1;
	t->room_left -= len + 1;
	return copy;
}

/* Where the next string is going to be kept. */
static struct ut_str *next_item(struct ut_strtab *t)
{
	uint32_t page = (t->count - t->mapped) / PAGE;
	struct ut_str **more;

	if (page == t->page_count) {
		t->page_count = page ? 2 * page : FIRST_PAGES;
		more = UT_NEW_ALONE(t->arena, struct ut_str *, t->page_count);
		for (uint32_t i = 0; i < page; i++)
			more[i] = t->pages[i];
		ut_arena_give_back(t->arena, t->pages);
		t->pages = more;
	}
	if (!t->pages[page])
		t->pages[page] = UT_NEW_N(t->arena, struct ut_str, PAGE);
	t->count++;
	return item_of(t, t->count);
}

uint32_t ut_strtab_intern(struct ut_strtab *t, const char *s, size_t len)
{
	uint32_t hash = (uint32_t)ut_hash_bytes(s, len), id;

	if (!len)
		return 0;
	if (!t->ids.slots)
		index_known(t);
	id = strtab_find(t, hash, (struct ut_str){ s, len });
	if (id)
		return id;
	*next_item(t) = (struct ut_str){ strtab_copy_text(t, s, len), len };
	ut_hashtab_add(&t->ids, hash, t->count);
	return t->count;
}

void ut_strtab_share(struct ut_strtab *t, const struct ut_strtab *from, struct ut_arena *arena)
{
	uint32_t count = from->count - from->mapped, pages = (count + PAGE - 1) / PAGE;

	*t = *from;
	t->arena = arena;
	t->ids = (struct ut_hashtab){ .arena = arena };
	t->room_left = 0;
	t->page_count = pages + 1;
	t->pages = UT_NEW_ALONE(arena, struct ut_str *, t->page_count);
	if (pages)
		memcpy(t->pages, from->pages, pages * sizeof(struct ut_str *));
	if (count % PAGE) { /* from goes on to fill this one */
		t->pages[pages - 1] = UT_NEW_N(arena, struct ut_str, PAGE);
		memcpy(t->pages[pages - 1], from->pages[pages - 1],
		       (count % PAGE) * sizeof(**t->pages));
	}
}

uint32_t ut_strtab_intern_z(struct ut_strtab *t, const char *s)
{
	return s ? ut_strtab_intern(t, s, strlen(s)) : 0;
}

struct ut_str ut_strtab_get(const struct ut_strtab *t, uint32_t id)
{
	return id && id <= t->count ? strtab_string_of(t, id) : empty;
}
