/*
 * arglists.h - the arguments of millions of events, packed.
 *
 * Most lists of a trace have one of a few shapes (keys and value types in order), so a list is
 * the number of its shape and then the values: one 32-bit word for a string, a bool or a small
 * integer, two for the rest. A list is known by the index of its first word; 0 = no arguments.
 * Words lie in chunks of UT_ARG_CHUNK words; no list spans two. Not thread-safe.
 */
#ifndef UT_MODEL_ARGLISTS_H
#define UT_MODEL_ARGLISTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hashtab.h"
#include "model/trace.h"

#define UT_ARG_CHUNK (1u << 18) /* words */
#define UT_ARG_MOST  65000u     /* arguments of one list; more are cut off */

/* How a value is stored; enum ut_arg_type plus the short forms. */
enum ut_arg_form {
	UT_FORM_SHORT = 0x10, /* added to UT_ARG_U64 or UT_ARG_I64: the value is one word */
};

/* One argument of a shape: its key, its form, its enum ut_arg_flag. */
struct ut_shape_arg {
	uint32_t key; /* string id */
	uint8_t form, flags;
	uint16_t reserved;
};

struct ut_shape {
	uint32_t first; /* index into shape_args */
	uint32_t count; /* arguments */
	uint32_t words; /* of a list, with the one that holds the shape's number */
};

struct ut_arglists {
	uint32_t **chunks; /* malloc'ed or in a file */
	size_t chunk_count, chunk_cap;
	uint32_t used;           /* words of the last chunk in use */
	uint32_t most;           /* words in the last chunk; the others are full-sized */
	struct ut_shape *shapes; /* shapes[0] is empty: "no list here", one word */
	struct ut_shape_arg *shape_args;
	uint32_t shape_count, shape_arg_count;
	size_t shape_cap, shape_arg_cap;
	struct ut_hashtab lookup; /* shapes by all that they are */
	uint32_t last; /* the shape that was used last: the next list probably has it, too */
};

void ut_arglists_init(struct ut_arglists *l);
void ut_arglists_release(struct ut_arglists *l);

/* Stores count arguments (no UT_ARG_END needed); the list's index, 0 for none. */
uint32_t ut_arglists_add(struct ut_arglists *l, const struct ut_arg *args, size_t count);

/*
 * The arguments of a list into out, at most cap of them. Returns how many there are; an index
 * that is not a list gives 0. Any index of a damaged file is safe.
 */
size_t ut_arglists_get(const struct ut_arglists *l, uint32_t list, struct ut_arg *out, size_t cap);

/* The shape of a list; NULL = the index is not one. */
const struct ut_shape *ut_arglists_shape(const struct ut_arglists *l, uint32_t list);

/*
 * What a begin (first) and its end (second) say together; where both have a key, the end counts.
 * Both are lists of from; the result is one of to, which may be the same. 0 for none.
 */
uint32_t ut_arglists_both(struct ut_arglists *to, const struct ut_arglists *from, uint32_t first,
			  uint32_t second);

/* Replaces every string id, of keys and values, by strings[id]. Only for lists that we made. */
void ut_arglists_rename(struct ut_arglists *l, const uint32_t *strings);

/*
 * Moves all lists of from behind those of l; from is released. What was list n of from is now
 * list n + the returned base. Their strings must have the ids of l's (ut_arglists_rename).
 */
uint32_t ut_arglists_join(struct ut_arglists *l, struct ut_arglists *from);

#endif
