/*
 * json_text.h - strings and numbers as JSON, into a buffer; text/out.h has the same for files.
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

void ut_json_text_double(struct ut_buf *b, double value);

#endif
