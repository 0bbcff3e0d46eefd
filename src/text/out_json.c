/* out_json.c - the parts of JSON that are easy to get wrong: strings of any bytes, and doubles. */
#include "text/out.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "text/digits.h"
#include "text/json_text.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#define CHUNK      4096
#define MAX_ESCAPE 6 /* \u001f; U+FFFD and four-byte characters are shorter */

static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

/* Copies the bytes at s that stand for themselves, ASCII only, and returns how many. */
static size_t copy_plain(char *to, const char *s, size_t len)
{
	size_t i = 0;

#if defined(__SSE2__)
	for (; i + 16 <= len; i += 16) {
		__m128i v = _mm_loadu_si128((const __m128i *)(const void *)(s + i));
		/* as signed bytes, both control characters and 0x80..0xff are below 0x20 */
		__m128i bad = _mm_cmplt_epi8(v, _mm_set1_epi8(0x20));
		int mask;

		bad = _mm_or_si128(bad, _mm_cmpeq_epi8(v, _mm_set1_epi8('"')));
		bad = _mm_or_si128(bad, _mm_cmpeq_epi8(v, _mm_set1_epi8('\\')));
		_mm_storeu_si128((__m128i *)(void *)(to + i), v);
		mask = _mm_movemask_epi8(bad);
		if (mask)
			return i + (size_t)__builtin_ctz((unsigned int)mask);
	}
#endif
	for (; i < len && is_plain((unsigned char)s[i]); i++)
		to[i] = s[i];
	return i;
}

/* One byte that JSON wants escaped. */
static char *put_escape(char *p, unsigned char c)
{
	static const char hex[] = "0123456789abcdef";
	static const char named[] = "\"\"\\\\\bb\ff\nn\rr\tt"; /* pairs: byte, letter */

	*p++ = '\\';
	for (const char *n = named; *n; n += 2) {
		if ((unsigned char)*n == c) {
			*p++ = n[1];
			return p;
		}
	}
	memcpy(p, "u00", 3);
	p[3] = hex[c >> 4];
	p[4] = hex[c & 15];
	return p + 5;
}

/* One step at a byte that copy_plain() stopped at; returns how many bytes of s it took. */
static size_t put_special(char **to, const char *s, size_t len)
{
	unsigned char c = (unsigned char)*s;
	size_t n;
	bool ok;

	if (c < 0x80) {
		*to = put_escape(*to, c);
		return 1;
	}
	n = ut_utf8_step(s, len, &ok);
	memcpy(*to, ok ? s : UT_UTF8_BAD, ok ? n : 3);
	*to += ok ? n : 3;
	return n;
}

/* Escapes len bytes; a character that lies across their end is read up to s + left. */
static size_t put_chunk(struct ut_out *o, const char *s, size_t len, size_t left)
{
	char *p = ut_out_reserve(o, len * MAX_ESCAPE + 16);
	size_t i = 0;

	while (i < len) {
		size_t n = copy_plain(p, s + i, len - i);

		i += n;
		p += n;
		if (i < len)
			i += put_special(&p, s + i, left - i);
	}
	ut_out_advance(o, p);
	return i;
}

void ut_out_json_str(struct ut_out *o, const char *s, size_t len)
{
	size_t done = 0;

	ut_out_write(o, "\"", 1);
	while (done < len) {
		size_t left = len - done;

		done += put_chunk(o, s + done, left < CHUNK ? left : CHUNK, left);
	}
	ut_out_write(o, "\"", 1);
}

/*
 * Most doubles that people record are decimals with few places. k / 10^6 is rounded correctly,
 * so if it gives the value back, k's digits are a spelling that reads back as the same double.
 */
static bool put_decimal(struct ut_out *o, double value)
{
	double scaled = fabs(value) * 1e6;
	uint64_t k, part;
	char *p;

	if (!(scaled < 9007199254740992.0)) /* 2^53 */
		return false;
	k = (uint64_t)(scaled + 0.5);
	if ((double)k / 1e6 != fabs(value))
		return false;
	p = ut_out_reserve(o, 2 * UT_DIGITS_ROOM);
	if (signbit(value))
		*p++ = '-';
	p = ut_digits_u64(p, k / 1000000);
	part = k % 1000000;
	if (part) {
		p = ut_digits_eight(p, (uint32_t)part); /* two zeros, then the six places */
		p[-8] = '.';
		memmove(p - 7, p - 6, 6);
		p--;
		while (p[-1] == '0')
			p--;
	}
	ut_out_advance(o, p);
	return true;
}

void ut_out_json_double(struct ut_out *o, double value)
{
	char text[UT_DOUBLE_ROOM];

	if (isnan(value) || isinf(value)) {
		ut_out_text(o, isnan(value) ? "\"NaN\""
			       : value < 0  ? "\"-Infinity\""
					    : "\"Infinity\"");
		return;
	}
	if (put_decimal(o, value))
		return;
	ut_double_digits(text, value);
	ut_out_text(o, text);
}
