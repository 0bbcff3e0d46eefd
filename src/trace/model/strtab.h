/*
 * strtab.h - each distinct string once, known by a small number.
 *
 * Task names repeat millions of times; events carry a uint32_t instead. Ids are dense, start
 * at 1, and are never reused: id 0 means "no string", so a zeroed event is a valid event.
 *
 * Owner: the trace. The text lives in the arena given at init and stays put until the arena is
 * released, so a returned pointer may be kept as long as the trace. A table may begin with the
 * strings of a mapped file, which stay where they are. Not thread-safe.
 */
#ifndef UT_MODEL_STRTAB_H
#define UT_MODEL_STRTAB_H

#include <stddef.h>
#include <stdint.h>

#include "base/hashtab.h"
#include "base/str.h"

struct ut_arena;

struct ut_strtab {
	struct ut_arena *arena; /* not owned */
	struct ut_str **pages;  /* of the strings mapped + 1, mapped + 2, ... */
	uint32_t page_count;    /* that pages has room for */
	uint32_t count;         /* ids in use: 1..count */
	struct ut_hashtab ids;  /* by the text */
	char *room;             /* for short texts */
	size_t room_left;
	uint32_t mapped;        /* ids 1..mapped lie in a file */
	const uint64_t *starts; /* of them in text: starts[id - 1] to the NUL before starts[id] */
	const char *text;
	uint64_t text_size;
};

void ut_strtab_init(struct ut_strtab *t, struct ut_arena *arena);

/* The arena is somewhere else now, since whoever holds it and the table was moved. */
void ut_strtab_set_arena(struct ut_strtab *t, struct ut_arena *arena);

/* The id of these len bytes, adding them if new. Same bytes, same id; no bytes, id 0. */
uint32_t ut_strtab_intern(struct ut_strtab *t, const char *s, size_t len);

/* The same for a NUL-terminated string; NULL gives 0. */
uint32_t ut_strtab_intern_z(struct ut_strtab *t, const char *s);

/*
 * Makes the empty table t begin with count strings of a file: string id is the bytes of text from
 * starts[id - 1] to the NUL before starts[id], so there are count + 1 starts. They are used in
 * place and must stay as long as t. Takes no time; the first intern() reads them all once. Any
 * content is safe: a string that is not inside the text, or lacks its NUL, reads as empty.
 */
void ut_strtab_map(struct ut_strtab *t, const uint64_t *starts, uint32_t count, const char *text,
		   uint64_t text_size);

/*
 * t becomes a table of its own with the strings that from has now, whose texts it shares; more can
 * be added to either. from must not go before t.
 */
void ut_strtab_share(struct ut_strtab *t, const struct ut_strtab *from, struct ut_arena *arena);

/* The string behind id. An unknown id gives the empty string, never NULL. */
struct ut_str ut_strtab_get(const struct ut_strtab *t, uint32_t id);

#endif
