/*
 * json_scan.h - the innermost loops of the JSON reader, inline because an importer spends half of
 * its time here. All of them rely on the quotes behind the window's end: they stop there at the
 * latest, and whoever calls them compares the result with the end.
 */
#ifndef UT_BASE_JSON_SCAN_H
#define UT_BASE_JSON_SCAN_H

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <string.h>

#include "base/json.h"
#include "base/json_digits.h"

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
bool ut_json_strict_number(struct ut_str text);

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

/*
 * The usual way to the next member: a comma unless fresh, a key, a colon, no blanks or one each.
 * NULL: ut_json_member() must look closer. Otherwise where the value starts; the cursor stays.
 */
static inline const char *ut_json_key(struct ut_json *j, const char *p, bool fresh,
				      struct ut_str *key)
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
	key->ptr = ++p;
	p = ut_json_special(p);
	if (*p != '"' || p >= j->end || p[1] != ':')
		return NULL;
	key->len = (size_t)(p - key->ptr);
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
static inline bool ut_json_next(struct ut_json *j, struct ut_str *key)
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
		p += 1 + (p[1] == ' ');
	else if (!j->fresh)
		return ut_json_element(j);
	if (!ut_json_starts(*p) || p >= j->end)
		return ut_json_element(j);
	j->fresh = false;
	j->at = p;
	return true;
}

/* ut_json_string() for those who have seen the quote. */
static inline bool ut_json_text(struct ut_json *j, struct ut_str *raw)
{
	const char *p = j->at + 1, *end = ut_json_close(j, p);

	if (!end)
		return false;
	raw->ptr = p;
	raw->len = (size_t)(end - p);
	j->at = end + 1;
	return true;
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
		if (ut_json_ends(*q))
			return q;
	}
	return ut_json_word(j, p);
}

#endif
