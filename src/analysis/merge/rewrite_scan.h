/*
 * rewrite_scan.h - the way that almost all events take: strict JSON, looked at once.
 *
 * A gigabyte has five million events, and merging looks at each of them twice. This reader knows
 * only JSON as it should be; where it meets anything else, or the end of the window, it gives up,
 * and the caller takes the slower one (json.h), which repairs and explains.
 */
#ifndef UT_MERGE_REWRITE_SCAN_H
#define UT_MERGE_REWRITE_SCAN_H

#include <stdint.h>

struct ut_rewrite_walk_event;

#define UT_SCAN_KEYS 64
#define UT_SCAN_WAYS 3

/* A key as it stands in the text, with its quotes and its colon. */
struct ut_scan_key {
	char text[16];
	uint16_t unused;            /* a bit for each byte of text that is not part of it */
	uint8_t len;                /* bytes of text that are */
	uint8_t member;             /* of an event: see rewrite_scan.c */
	uint8_t next[UT_SCAN_WAYS]; /* keys that came behind it */
};

/*
 * Events repeat their keys in the same order. Where a key is the one that came the last times, its
 * end is known before it is looked for. {0} knows none. The first item is no key: it is where
 * events begin.
 */
struct ut_scan_keys {
	struct ut_scan_key items[UT_SCAN_KEYS];
	uint8_t count; /* of keys */
	uint8_t at;    /* the key that was met last */
};

/*
 * The object at p, which lies in a window of json.h that ends at end. Returns what follows behind
 * it; NULL: use the slower reader.
 */
const char *ut_scan_event(const char *p, const char *end, struct ut_scan_keys *keys,
			  struct ut_rewrite_walk_event *e);

#endif
