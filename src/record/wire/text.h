/*
 * text.h - puts short texts together in a given buffer, without stdio or malloc.
 *
 * Always NUL-terminated; what does not fit is cut, and said so. Any thread, one owner.
 */
#ifndef UT_WIRE_TEXT_H
#define UT_WIRE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ut_text {
	char *buf;
	size_t cap; /* with the NUL; at least 1 */
	size_t len;
	bool cut;
};

struct ut_text ut_text_init(char *buf, size_t cap);
void ut_text_bytes(struct ut_text *t, const char *s, size_t len);
void ut_text_str(struct ut_text *t, const char *s); /* NULL is "(null)" */
void ut_text_u64(struct ut_text *t, uint64_t value);
void ut_text_i64(struct ut_text *t, int64_t value);
void ut_text_hex(struct ut_text *t, uint64_t value);
/* As %.*f prints it, at most 9 decimals; numbers past 2^63 are printed with an exponent. */
void ut_text_double(struct ut_text *t, double value, unsigned int decimals);

#endif
