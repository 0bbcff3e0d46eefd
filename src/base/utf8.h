/*
 * utf8.h - names come from other people's programs and may hold any bytes; most formats want
 * UTF-8. Well-formed is what Unicode table 3-7 says: no overlong forms, no surrogates, nothing
 * above U+10FFFF.
 */
#ifndef UT_BASE_UTF8_H
#define UT_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/*
 * One character, as it is, into up to 4 bytes; how many they are. Here, because backends take
 * headers of this room only.
 */
static inline size_t ut_utf8_put(char to[4], uint32_t c)
{
	if (c < 0x80) {
		to[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		to[0] = (char)(0xc0 | c >> 6);
		to[1] = (char)(0x80 | (c & 63));
		return 2;
	}
	if (c < 0x10000) {
		to[0] = (char)(0xe0 | c >> 12);
		to[1] = (char)(0x80 | (c >> 6 & 63));
		to[2] = (char)(0x80 | (c & 63));
		return 3;
	}
	to[0] = (char)(0xf0 | (c >> 18 & 7));
	to[1] = (char)(0x80 | (c >> 12 & 63));
	to[2] = (char)(0x80 | (c >> 6 & 63));
	to[3] = (char)(0x80 | (c & 63));
	return 4;
}

#endif
