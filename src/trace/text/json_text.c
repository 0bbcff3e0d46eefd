#include "text/json_text.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/utf8.h"
#include "text/digits.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

void ut_double_digits(char to[UT_DOUBLE_ROOM], double value)
{
	char *comma;

	for (int digits = 15; digits <= 17; digits++) { /* 17 are always enough */
		snprintf(to, UT_DOUBLE_ROOM, "%.*g", digits, value);
		if (strtod(to, NULL) == value)
			break;
	}
	comma = strchr(to, ','); /* the user's locale has no say here */
	if (comma)
		*comma = '.';
}

/*
 * Most doubles that people record are decimals with few places. k / 10^6 is rounded correctly,
 * so if it gives the value back, k's digits are a spelling that reads back as the same double.
 */
static char *put_decimal(char *p, double value)
{
	double scaled = fabs(value) * 1e6;
	uint64_t k, part;

	if (!(scaled < 9007199254740992.0)) /* 2^53 */
		return NULL;
	k = (uint64_t)(scaled + 0.5);
	if ((double)k / 1e6 != fabs(value))
		return NULL;
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
	return p;
}

char *ut_json_double_put(char *p, double value)
{
	const char *word = isnan(value) ? "\"NaN\"" : value < 0 ? "\"-Infinity\"" : "\"Infinity\"";
	char text[UT_DOUBLE_ROOM], *end;

	if (!isnan(value) && !isinf(value)) {
		end = put_decimal(p, value);
		if (end)
			return end;
		ut_double_digits(text, value);
		word = text;
	}
	memcpy(p, word, strlen(word));
	return p + strlen(word);
}

void ut_json_text_double(struct ut_buf *b, double value)
{
	ut_buf_advance(b, ut_json_double_put(ut_buf_reserve(b, UT_JSON_DOUBLE_ROOM), value));
}

static bool json_text_is_plain(unsigned char c)
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
	for (; i < len && json_text_is_plain((unsigned char)s[i]); i++)
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

char *ut_json_chunk_put(char *p, const char *s, size_t len, size_t *done)
{
	size_t i = *done, end = len - i < UT_JSON_CHUNK ? len : i + UT_JSON_CHUNK;

	while (i < end) {
		size_t n = copy_plain(p, s + i, end - i);

		i += n;
		p += n;
		if (i < end)
			i += put_special(&p, s + i,
					 len - i); /* a character may lie across the end */
	}
	*done = i;
	return p;
}

void ut_json_text_str(struct ut_buf *b, const char *s, size_t len)
{
	ut_buf_char(b, '"');
	for (size_t done = 0; done < len;) {
		size_t left = len - done;
		char *p = ut_buf_reserve(b,
					 UT_JSON_ROOM(left < UT_JSON_CHUNK ? left : UT_JSON_CHUNK));

		ut_buf_advance(b, ut_json_chunk_put(p, s, len, &done));
	}
	ut_buf_char(b, '"');
}

/* The character that well-formed UTF-8 of len > 1 bytes stands for. */
static uint32_t character(const char *s, size_t len)
{
	uint32_t c = (unsigned char)s[0] & (0x7fu >> len);

	for (size_t i = 1; i < len; i++)
		c = c << 6 | ((unsigned char)s[i] & 63u);
	return c;
}

void ut_json_text_ascii(struct ut_buf *b, const char *s, size_t len)
{
	struct ut_buf utf8 = { 0 };
	bool ok;

	ut_json_text_str(&utf8, s, len);
	for (size_t i = 0, step; i < utf8.len; i += step) {
		uint32_t c;

		step = ut_utf8_step(utf8.data + i, utf8.len - i, &ok);
		if (step == 1) {
			ut_buf_char(b, utf8.data[i]);
			continue;
		}
		c = character(utf8.data + i, step);
		if (c < 0x10000) {
			ut_buf_fmt(b, "\\u%04x", c);
		} else {
			c -= 0x10000;
			ut_buf_fmt(b, "\\u%04x\\u%04x", 0xd800 + (c >> 10), 0xdc00 + (c & 0x3ff));
		}
	}
	ut_buf_release(&utf8);
}
