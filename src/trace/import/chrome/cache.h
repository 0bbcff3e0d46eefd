/*
 * cache.h - inside the Chrome importer: small tables that remember what was looked up.
 */
#ifndef UT_IMPORT_CHROME_CACHE_H
#define UT_IMPORT_CHROME_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hashtab.h"

/* A small cache from raw text to string id; see place.c. */
struct ut_chrome_text {
	uint64_t head, tail; /* its first and last bytes */
	const char *raw;     /* the whole, if that is not enough */
	uint32_t len, id;
	char *own; /* raw, where the string itself looks different */
	size_t own_cap;
};

#define UT_STEP_WAYS  4 /* keys that are remembered to follow another */
#define UT_STEP_WORDS 4 /* words of text; longer ones are scanned */

/* A key with what stands around it; see step.h. */
struct ut_chrome_step {
	uint64_t text[UT_STEP_WORDS], mask[UT_STEP_WORDS]; /* the mask covers the bytes in use */
	uint32_t key;                                      /* string id */
	uint8_t len;                                       /* bytes; 0 = fits nothing */
	bool fresh;                                        /* the first in its object */
	uint8_t member;                                    /* of an event: see event_text.c */
	uint8_t next[UT_STEP_WAYS];
};

/* Where the first member of an event and of its arguments is looked for, and all others. */
enum {
	UT_STEP_NONE,
	UT_STEP_EVENT,
	UT_STEP_ARGS,
	UT_STEP_FIRST,
	UT_STEPS = 128,
};

#define UT_CHROME_CACHED 8192u /* texts or types, at most */
#define UT_CHROME_SEATS  256u

struct ut_chrome_type {
	uint32_t name, cat, number;
	uint8_t kind, flags;
	bool known;
};

/* pid and tid of events that came lately, and their track. */
struct ut_chrome_seat {
	uint64_t pid, tid;
	uint32_t pid_text, tid_text;
	uint32_t track;
	bool known;
};

/* From what identifies a process or a track to its index. */
struct ut_chrome_place {
	uint64_t key[3];
	uint32_t index; /* + 1; 0 = not known yet */
};

struct ut_chrome_places {
	struct ut_chrome_place *items;
	size_t count, cap;
	struct ut_hashtab lookup; /* index into items + 1 */
};

#endif
