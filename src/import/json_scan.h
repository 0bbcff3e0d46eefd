/*
 * json_scan.h - the innermost loops of the JSON reader, inline because an importer spends half of
 * its time here. All of them rely on the quotes behind the window's end: they stop there at the
 * latest, and whoever calls them compares the result with the end.
 */
#ifndef UT_IMPORT_JSON_SCAN_H
#define UT_IMPORT_JSON_SCAN_H

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <string.h>

#include "import/json.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the first byte is the lowest");

#define UT_JSON_PAD 64 /* quotes behind the window */

/* Notes a repair at p. */
void ut_json_note(struct ut_json *j, enum ut_json_repair kind, const char *p);

/* Sets trouble UT_JSON_SHORT if p is at the end of the window, else UT_JSON_BAD; returns false. */
bool ut_json_stop(struct ut_json *j, const char *p, const char *why);

/* The rest of a string after something special; NULL if the window ends first. */
const char *ut_json_string_slow(struct ut_json *j, const char *p);

/* Is what follows the backslash at p an escape? Looks at up to 5 bytes. */
bool ut_json_escape_ok(const char *p);

/* Behind blanks and what is taken for them. */
const char *ut_json_blanks_slow(struct ut_json *j, const char *p);

/* Is text a number as JSON wants it? */
bool ut_json_strict_number(struct ut_json_span text);

/* Behind a number or a bare word that starts at p; NULL with trouble if it is neither. */
const char *ut_json_word(struct ut_json *j, const char *p);

static inline const char *ut_json_blanks(struct ut_json *j, const char *p)
{
	return (unsigned char)*p > ' ' ? p : ut_json_blanks_slow(j, p);
}

/* The first quote, backslash or control byte from p on. */
static inline const char *ut_json_special(const char *p)
{
#ifdef __SSE2__
	const __m128i quote = _mm_set1_epi8('"'), back = _mm_set1_epi8('\\'),
		      control = _mm_set1_epi8(0x1f);

	for (;; p += 16) {
		__m128i x = _mm_loadu_si128((const __m128i *)(const void *)p);
		__m128i hit = _mm_or_si128(_mm_cmpeq_epi8(x, quote), _mm_cmpeq_epi8(x, back));
		unsigned int mask;

		hit = _mm_or_si128(hit, _mm_cmpeq_epi8(_mm_min_epu8(x, control), x));
		mask = (unsigned int)_mm_movemask_epi8(hit);
		if (mask)
			return p + __builtin_ctz(mask);
	}
#else
	while (*p != '"' && *p != '\\' && (unsigned char)*p >= ' ')
		p++;
	return p;
#endif
}

/* The closing quote of the string whose text starts at p; NULL if the window ends first. */
static inline const char *ut_json_close(struct ut_json *j, const char *p)
{
	p = ut_json_special(p);
	if (*p == '"' && p < j->end)
		return p;
	return ut_json_string_slow(j, p);
}

static inline bool ut_json_digit(char c)
{
	return (unsigned char)(c - '0') < 10;
}

/*
 * The high bits of the bytes that are no digits: above '9', below '0' (which spoils only the bytes
 * behind it) or no ASCII. The lowest bit set is right.
 */
static inline uint64_t ut_json_no_digits(uint64_t x)
{
	return (x | (x + UINT64_C(0x4646464646464646)) | (x - UINT64_C(0x3030303030303030))) &
	       UINT64_C(0x8080808080808080);
}

/* The first byte from p on that is no digit. */
static inline const char *ut_json_digits(const char *p)
{
	uint64_t x, other;

	for (;; p += 8) {
		memcpy(&x, p, 8);
		other = ut_json_no_digits(x);
		if (other)
			return p + __builtin_ctzll(other) / 8;
	}
}

/*
 * The usual way to the next member: a comma unless fresh, a key, a colon, no blanks or one each.
 * NULL: ut_json_member() must look closer. Otherwise where the value starts; the cursor stays.
 */
static inline const char *ut_json_key(struct ut_json *j, const char *p, bool fresh,
				      struct ut_json_span *key)
{
	bool blank = false;

	if (!fresh) {
		if (*p != ',')
			return NULL;
		blank = p[1] == ' ';
		p += 1 + blank;
	}
	if (*p != '"')
		return NULL;
	key->at = ++p;
	p = ut_json_special(p);
	if (*p != '"' || p >= j->end || p[1] != ':')
		return NULL;
	key->len = (size_t)(p - key->at);
	if (p[2] == ' ') {
		blank = true;
		p++;
	}
	if (blank)
		j->plain = false;
	return p + 2;
}

/* Could a value start with this byte? If not, somebody has to look closer. */
static inline bool ut_json_starts(char c)
{
	return (unsigned char)c > ' ' && c != ',' && c != ']' && c != '}' && c != ':';
}

/* ut_json_member() for those in a hurry. */
static inline bool ut_json_next(struct ut_json *j, struct ut_json_span *key)
{
	const char *p = ut_json_key(j, j->at, j->fresh, key);

	if (!p || !ut_json_starts(*p) || p >= j->end)
		return ut_json_member(j, key);
	j->fresh = false;
	j->at = p;
	return true;
}

/* ut_json_element() for those in a hurry. */
static inline bool ut_json_item(struct ut_json *j)
{
	const char *p = j->at;

	if (!j->fresh && *p == ',')
		p++;
	else if (!j->fresh)
		return ut_json_element(j);
	if (!ut_json_starts(*p) || p >= j->end)
		return ut_json_element(j);
	j->fresh = false;
	j->at = p;
	return true;
}

/* ut_json_string() for those who have seen the quote. */
static inline bool ut_json_text(struct ut_json *j, struct ut_json_span *raw)
{
	const char *p = j->at + 1, *end = ut_json_close(j, p);

	if (!end)
		return false;
	raw->at = p;
	raw->len = (size_t)(end - p);
	j->at = end + 1;
	return true;
}

/*
 * Up to eight digits at p at once, without a loop: how many there are, and value with them behind
 * its own. The digits are moved to the end of the word, as if zeros stood in front of them, and
 * added up in pairs, fours and eight.
 */
static inline unsigned int ut_json_run(const char *p, uint64_t *value)
{
	static const uint32_t power[] = { 1,      10,      100,      1000,     10000,
					  100000, 1000000, 10000000, 100000000 };
	uint64_t x, other;
	unsigned int n;

	memcpy(&x, p, 8);
	other = ut_json_no_digits(x);
	n = other ? (unsigned int)__builtin_ctzll(other) / 8 : 8;
	if (!n)
		return 0;
	x <<= 64 - 8 * n;
	x = (x & UINT64_C(0x0f0f0f0f0f0f0f0f)) * 2561 >> 8;
	x = (x & UINT64_C(0x00ff00ff00ff00ff)) * 6553601 >> 16;
	x = (x & UINT64_C(0x0000ffff0000ffff)) * UINT64_C(42949672960001) >> 32;
	*value = *value * power[n] + x;
	return n;
}

/* May this byte follow a number? Blanks may, too, but they are rare enough for a closer look. */
static inline bool ut_json_ends(char c)
{
	return c == ',' || c == '}' || c == ']';
}

/* Behind a whole number of up to 8 digits, which most are; NULL if it is something else. */
static inline const char *ut_json_small(const char *p, uint64_t *value)
{
	unsigned int n;

	*value = 0;
	n = ut_json_run(p, value);
	if (!n || !ut_json_ends(p[n]) || (*p == '0' && n > 1))
		return NULL;
	return p + n;
}

/* A decimal number of a usual kind: digits / 10^decimals. */
struct ut_json_decimal {
	uint64_t digits;
	unsigned int decimals;
	bool negative, point;
};

/*
 * Behind the number at p if it has at most 18 digits, no exponent, and a delimiter follows; NULL:
 * ut_json_skip() and ut_json_number() or ut_json_scaled() must look closer.
 */
static inline const char *ut_json_decimal(const char *p, struct ut_json_decimal *d)
{
	const char *first, *dot;
	uint64_t v = 0;
	unsigned int n;

	d->negative = *p == '-';
	first = p += d->negative;
	do
		p += n = ut_json_run(p, &v);
	while (n == 8 && p - first <= 16);
	if (p == first || (*first == '0' && p > first + 1))
		return NULL;
	d->point = *p == '.';
	d->decimals = 0;
	if (d->point) {
		dot = ++p;
		do
			p += n = ut_json_run(p, &v);
		while (n == 8 && p - first <= 16);
		d->decimals = (unsigned int)(p - dot);
		if (!d->decimals)
			return NULL;
	}
	d->digits = v;
	/* what has more digits may have overflowed */
	if (p - first > 18 + d->point)
		return NULL;
	return ut_json_ends(*p) || *p == ' ' || *p == '\n' ? p : NULL;
}

/* Behind any value that is neither an array nor an object; NULL with trouble set. */
static inline const char *ut_json_scalar(struct ut_json *j, const char *p)
{
	if (*p == '"' && p < j->end) {
		p = ut_json_close(j, p + 1);
		return p ? p + 1 : NULL;
	}
	if (ut_json_digit(*p)) { /* most of the rest */
		const char *q = ut_json_digits(p);

		if (*p == '0' && q > p + 1)
			return ut_json_word(j, p);
		if (*q == '.' && ut_json_digit(q[1]))
			q = ut_json_digits(q + 2);
		if (*q == ',' || *q == '}' || *q == ']')
			return q;
	}
	return ut_json_word(j, p);
}

#endif
