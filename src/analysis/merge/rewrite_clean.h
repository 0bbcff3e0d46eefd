/*
 * rewrite_clean.h - is a piece of JSON fit to be copied, and if not, what would be.
 */
#ifndef UT_MERGE_REWRITE_CLEAN_H
#define UT_MERGE_REWRITE_CLEAN_H

#include <stdbool.h>

#include "base/json.h"

struct ut_buf;

/* For a value without repairs (json.h): are its strings UTF-8, and its \u escapes complete? */
bool ut_rewrite_is_clean(struct ut_str text);

/*
 * The value as strict JSON; bad UTF-8 becomes U+FFFD. out is emptied first. The text lies in a
 * window of json.h, because a few bytes behind it are looked at.
 */
void ut_rewrite_clean(struct ut_str text, struct ut_buf *out);

/* Any bytes, such as a file name has, as a JSON string, added to out. */
void ut_rewrite_string(struct ut_str bytes, struct ut_buf *out);

#endif
