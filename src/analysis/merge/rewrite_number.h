/*
 * rewrite_number.h - arithmetic on numbers that stay text.
 *
 * A timestamp that passes through a double comes back with other digits, so merging adds to the
 * decimal digits themselves. Any thread; no allocation. Eight more bytes can be read behind every
 * text given here, as in a window of json.h.
 */
#ifndef UT_MERGE_REWRITE_NUMBER_H
#define UT_MERGE_REWRITE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"

#define UT_REWRITE_ROOM 64 /* bytes that one number may need */

/*
 * Adds shift_ns to a number of microseconds. Exact: as many decimals as text has, or as the shift
 * needs, if those are more (of more than 18 the rest is cut off). Quotes around the number stay.
 * Returns the length of what was put into out (UT_REWRITE_ROOM bytes), 0 if text is no number or
 * the result does not fit into ns, which *ns has, too, rounded.
 */
size_t ut_rewrite_shift(char *out, struct ut_str text, int64_t shift_ns, int64_t *ns);

/* A number of microseconds, quoted or not, in ns, rounded; false if it is none or does not fit. */
bool ut_rewrite_ns(struct ut_str text, int64_t *ns);

/* From here on readers that take numbers as doubles no longer tell neighbours apart. */
#define UT_REWRITE_ID_MOST (UINT64_C(1) << 53)

/* Numbers that pair events, 17, 17.0, "17", "0x11", below that; false if text is something else. */
bool ut_rewrite_id(struct ut_str text, uint64_t *value);

/* The same number plus add, written as text is: quotes, base and leading zeros stay. */
size_t ut_rewrite_add(char *out, struct ut_str text, uint64_t add);

/*
 * Any id but a text, as a text of its own, with its quotes: prefix and then the number, whole ones
 * in hex, so that ids that were equal are equal. Puts UT_REWRITE_ROOM bytes into out at most; 0:
 * the prefix is too long.
 */
size_t ut_rewrite_own(char *out, struct ut_str text, const char *prefix);

#endif
