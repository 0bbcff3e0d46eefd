/*
 * perfetto_text.h - JSON text under construction, for values that are nested.
 */
#ifndef UT_IMPORT_PERFETTO_TEXT_H
#define UT_IMPORT_PERFETTO_TEXT_H

#include <stddef.h>

struct ut_buf;

/* A string with its quotes, valid for any bytes: bad UTF-8 becomes U+FFFD. */
void ut_pf_text_string(struct ut_buf *b, const char *s, size_t len);

/* The shortest number that reads back as the same double, and as a double: 5 is 5.0. What JSON
 * cannot say (NaN, infinities) becomes a string. */
void ut_pf_text_double(struct ut_buf *b, double value);

#endif
