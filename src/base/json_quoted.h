/*
 * json_quoted.h - texts that are numbers, told from the first byte behind their quote: some tools
 * write every number so. Only what we would spell the same way; all else is a text like any other.
 * They may read up to 8 bytes behind the text: the window is padded.
 */
#ifndef UT_BASE_JSON_QUOTED_H
#define UT_BASE_JSON_QUOTED_H

#include "base/json_digits.h"

/* Do the digits from first to p make up the whole text, and not too many of them? */
static inline bool ut_json_quoted_ends(const char *first, const char *p, const char *end,
				       unsigned int most)
{
	return *p == '"' && p < end && p > first && p - first <= most &&
	       (*first != '0' || p == first + 1);
}

/* Behind a decimal number and its quote; NULL if it is something else. end: of the window. */
static inline const char *ut_json_quoted(const char *p, const char *end, uint64_t *value)
{
	const char *first = p;
	unsigned int n;

	*value = 0;
	do
		p += n = ut_json_run(p, value);
	while (n == 8 && p - first <= 16);
	return ut_json_quoted_ends(first, p, end, 19) ? p + 1 : NULL;
}

/* The same for 0x and lower-case hex digits. */
static inline const char *ut_json_quoted_hex(const char *p, const char *end, uint64_t *value)
{
	const char *first = p + 2;

	*value = 0;
	if (p[0] != '0' || p[1] != 'x')
		return NULL;
	for (p = first; ut_json_digit(*p) || (*p >= 'a' && *p <= 'f'); p++)
		*value = *value << 4 | (unsigned int)(*p <= '9' ? *p - '0' : *p - 'a' + 10);
	return ut_json_quoted_ends(first, p, end, 16) ? p + 1 : NULL;
}

#endif
