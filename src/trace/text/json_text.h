/*
 * json_text.h - strings and numbers as JSON, into a buffer; text/out.h has the same for files, by
 * the functions at the end.
 *
 * What is written is valid JSON for any input: bad UTF-8 becomes U+FFFD, numbers that JSON does not
 * have (NaN, infinities) become strings.
 */
#ifndef UT_TEXT_JSON_TEXT_H
#define UT_TEXT_JSON_TEXT_H

#include <stddef.h>

struct ut_buf;

#define UT_DOUBLE_ROOM 32

/* The shortest digits that read back as the same number, which is finite. */
void ut_double_digits(char to[UT_DOUBLE_ROOM], double value);

/* With its quotes. */
void ut_json_text_str(struct ut_buf *b, const char *s, size_t len);

/* The same in ASCII, as Python's json writes it: what is beyond it as \uXXXX. */
void ut_json_text_ascii(struct ut_buf *b, const char *s, size_t len);

/* A decimal where six places are enough (0.00001), the shortest digits otherwise. */
void ut_json_text_double(struct ut_buf *b, double value);

/* ---- straight into memory ---- */

/* Room for n bytes: an escape (\u001f) has six at most, and 16 are copied at once. */
#define UT_JSON_CHUNK      4096
#define UT_JSON_ROOM(n)    ((n)*6 + 16)
#define UT_JSON_CHUNK_ROOM UT_JSON_ROOM(UT_JSON_CHUNK)

/* The next piece of s, at most UT_JSON_CHUNK bytes from *done on, which it moves; returns its end.
 */
char *ut_json_chunk_put(char *p, const char *s, size_t len, size_t *done);

#define UT_JSON_DOUBLE_ROOM 48

/* At p, which has UT_JSON_DOUBLE_ROOM bytes; returns the end, no NUL. */
char *ut_json_double_put(char *p, double value);

#endif
