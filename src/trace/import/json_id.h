/*
 * json_id.h - what the ids of events are: a number, in whatever spelling, or a text.
 *
 * Two ids are equal if they are the same number (5, 5.0, 5e0, "5", "0x5") or the same text. Decided
 * here, for everybody who pairs events or keeps pairs apart. Any thread; no allocation. Text lies
 * in a window of json.h or has a few bytes behind it, as there.
 */
#ifndef UT_IMPORT_JSON_ID_H
#define UT_IMPORT_JSON_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "text/json_text.h"

#define UT_ID_ROOM UT_DOUBLE_ROOM

/* The digits of a quoted id, without "0x"; of others, the text itself. */
struct ut_str ut_id_digits(struct ut_str id, bool *hex);

/* Is it a whole number from 0 to 2^64 - 1? As a string: digits, or hex ones behind "0x". */
bool ut_id_number(struct ut_str id, uint64_t *number);

/*
 * Any other number that is no string, in the one spelling of its value: -1 for -1.0, 0.5 for 5e-1.
 * Returns the length; 0: it is no number.
 */
size_t ut_id_spell(struct ut_str id, char room[UT_ID_ROOM]);

/*
 * One of the two ids in {"local": ID, "global": ID}; {NULL, 0}: it has none, or is no such thing.
 * Only for strict JSON.
 */
struct ut_str ut_id_inside(struct ut_str id2, const char *key);

/*
 * Does a flow (phase "s", "t" or "f", with its quotes) have an id that its other end, in another
 * file, may have as well? So we write it: an id, and {"global": ID} beside it, where ID is too
 * large to be a count, which is in every file, and none of the hashes that readers make of texts.
 */
bool ut_id_is_global(struct ut_str phase, struct ut_str id, struct ut_str id2);

#endif
