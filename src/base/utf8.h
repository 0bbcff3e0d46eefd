/*
 * utf8.h - names come from other people's programs and may hold any bytes; most formats want
 * UTF-8. Well-formed is what Unicode table 3-7 says: no overlong forms, no surrogates, nothing
 * above U+10FFFF.
 */
#ifndef UT_BASE_UTF8_H
#define UT_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

#define UT_UTF8_BAD "\xef\xbf\xbd" /* U+FFFD stands for what cannot be read */

/*
 * The next step through len > 0 bytes: how many belong together. *ok says whether they are one
 * character; if not, one U+FFFD replaces them (the longest start of a character, as Unicode
 * recommends and Python does).
 */
size_t ut_utf8_step(const char *s, size_t len, bool *ok);

bool ut_utf8_valid(const char *s, size_t len);

/* A repaired copy without NUL at the end; to has room for 3 * len bytes. Returns its length. */
size_t ut_utf8_copy(char *to, const char *s, size_t len);

#endif
