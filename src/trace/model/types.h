/*
 * types.h - what events have in common: name, category, kind and flags, as one small number.
 *
 * A trace has millions of events and a few thousand types. Type 0 is a span without a name.
 * Not thread-safe.
 */
#ifndef UT_MODEL_TYPES_H
#define UT_MODEL_TYPES_H

#include <stddef.h>
#include <stdint.h>

#include "base/hashtab.h"

struct ut_type {
	uint32_t name, cat; /* string ids */
	uint8_t kind;       /* enum ut_kind, or one of enum ut_raw_kind while building */
	uint8_t flags;      /* enum ut_event_flag */
	uint16_t reserved;
};

struct ut_types {
	struct ut_type *items; /* malloc'ed, or in the file that the trace was opened from */
	uint32_t count;
	size_t cap;               /* 0 = items are not ours */
	struct ut_hashtab lookup; /* number + 1, by all that a type is */
};

void ut_types_init(struct ut_types *t);
void ut_types_release(struct ut_types *t);

/* The number of a type, adding it if it is new. */
uint32_t ut_types_intern(struct ut_types *t, const struct ut_type *type);

/* An unknown number gives type 0. */
static inline const struct ut_type *ut_types_get(const struct ut_types *t, uint32_t number)
{
	return &t->items[number < t->count ? number : 0];
}

#endif
