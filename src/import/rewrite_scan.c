#include "import/rewrite_scan.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "import/json_scan.h"
#include "import/rewrite_walk.h"

#define DEPTH 64 /* bits of the stack; deeper is for the patient reader */

static const char *more_blanks(const char *p)
{
	while (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r')
		p++;
	return p;
}

static inline const char *blanks(const char *p)
{
	return (unsigned char)*p > ' ' ? p : more_blanks(p);
}

static inline bool is_hex(char c)
{
	return ut_json_digit(c) || ((c | 32) >= 'a' && (c | 32) <= 'f');
}

/* Behind the string that p is inside of, at a place where something ended the plain text. */
static const char *string_slow(const char *p, const char *end)
{
	for (;; p = ut_json_special(p)) {
		if (p >= end)
			return NULL;
		if (*p == '"')
			return p + 1;
		if (*p != '\\' || end - p < 6)
			return NULL;
		if (p[1] == 'u') {
			if (!is_hex(p[2]) || !is_hex(p[3]) || !is_hex(p[4]) || !is_hex(p[5]))
				return NULL;
			p += 6;
		} else if (memchr("\"\\/bfnrt", p[1], 8)) {
			p += 2;
		} else {
			return NULL;
		}
	}
}

/* Behind the string whose text starts at p. The quotes behind the window stop the search. */
static inline const char *string(const char *p, const char *end)
{
	p = ut_json_special(p);
	return *p == '"' && p < end ? p + 1 : string_slow(p, end);
}

static const char *digits(const char *p)
{
	if (!ut_json_digit(*p))
		return NULL;
	while (ut_json_digit(*p))
		p++;
	return p;
}

static const char *number_slow(const char *p)
{
	p += *p == '-';
	if (*p == '0') {
		p++;
	} else {
		p = digits(p);
		if (!p)
			return NULL;
	}
	if (*p == '.') {
		p = digits(p + 1);
		if (!p)
			return NULL;
	}
	if ((*p | 32) == 'e') {
		p++;
		p += *p == '-' || *p == '+';
		p = digits(p);
	}
	return p;
}

/* Digits and at most one point among up to 15 bytes: no loop, and no branch that depends on them.
 */
static inline const char *number(const char *p)
{
#ifdef __SSE2__
	__m128i x = _mm_loadu_si128((const __m128i *)(const void *)p);
	__m128i low = _mm_sub_epi8(x, _mm_set1_epi8('0'));
	unsigned int digit = (unsigned int)_mm_movemask_epi8(
		_mm_cmpeq_epi8(_mm_min_epu8(low, _mm_set1_epi8(9)), low));
	unsigned int point = (unsigned int)_mm_movemask_epi8(_mm_cmpeq_epi8(x, _mm_set1_epi8('.')));
	unsigned int n = (unsigned int)__builtin_ctz(~(digit | point));
	unsigned int points = point & ((1u << n) - 1);
	bool one = !(points & (points - 1));
	bool zero = *p == '0' && n > 1 && !(points & 2);

	if (n < 16 && (digit & 1) && one && !zero && digit >> (n - 1) & 1 && (p[n] | 32) != 'e')
		return p + n;
#endif
	return number_slow(p);
}

static inline const char *word(const char *p)
{
	if (!memcmp(p, "true", 4) || !memcmp(p, "null", 4))
		return p + 4;
	return !memcmp(p, "false", 5) ? p + 5 : NULL;
}

static inline const char *scalar(const char *p, const char *end)
{
	if (*p == '"')
		return string(p + 1, end);
	if (ut_json_digit(*p) && (p[1] == ',' || p[1] == ']')) /* shapes of tensors, mostly */
		return p + 1;
	return ut_json_digit(*p) || *p == '-' ? number(p) : word(p);
}

/* Behind a key and its colon, at the value. */
static inline const char *key(const char *p, const char *end)
{
	if (*p != '"')
		return NULL;
	p = string(p + 1, end);
	if (!p)
		return NULL;
	p = blanks(p);
	return *p == ':' ? blanks(p + 1) : NULL;
}

/* To the next value inside brackets; *depth falls with those that close. NULL: not strict. */
static inline const char *next_value(const char *p, const char *end, uint64_t objects, int *depth)
{
	for (; *depth; p++) {
		bool object = objects >> (*depth - 1) & 1;

		p = blanks(p);
		if (*p == ',') {
			p = blanks(p + 1);
			return object ? key(p, end) : p;
		}
		if (*p != (object ? '}' : ']'))
			return NULL;
		--*depth;
	}
	return p;
}

/* Behind the array or object at p; every byte of it is checked. */
static const char *nested(const char *p, const char *end)
{
	uint64_t objects = 0; /* a bit per level */
	int depth = 0;

	do {
		if (*p == '{' || *p == '[') {
			bool object = *p == '{';

			if (depth == DEPTH)
				return NULL;
			objects &= ~(UINT64_C(1) << depth);
			objects |= (uint64_t)object << depth;
			depth++;
			p = blanks(p + 1);
			if (*p != (object ? '}' : ']')) {
				p = object ? key(p, end) : p;
				continue;
			}
		} else {
			p = scalar(p, end);
			if (!p)
				return NULL;
		}
		p = next_value(p, end, objects, &depth);
	} while (p && p < end && depth);
	return p && p <= end ? p : NULL;
}

/* ---- nested values that are known to be good ------------------------------------------------ */

#ifdef __SSE2__

/* Of 64 bytes, a bit each. */
struct marks {
	uint64_t quotes, escapes, open, close;
};

static inline struct marks mark64(const char *p)
{
	const __m128i quote = _mm_set1_epi8('"'), back = _mm_set1_epi8('\\');
	const __m128i open = _mm_set1_epi8('{'), close = _mm_set1_epi8('}');
	const __m128i bit = _mm_set1_epi8(0x20); /* makes { of [ and } of ] */
	struct marks m = { 0 };

	for (int i = 0; i < 4; i++) {
		__m128i x = _mm_loadu_si128((const __m128i *)(const void *)(p + 16 * i));
		__m128i y = _mm_or_si128(x, bit);

#define BITS(v) ((uint64_t)(unsigned int)_mm_movemask_epi8(v) << 16 * i)
		m.quotes |= BITS(_mm_cmpeq_epi8(x, quote));
		m.escapes |= BITS(_mm_cmpeq_epi8(x, back));
		m.open |= BITS(_mm_cmpeq_epi8(y, open));
		m.close |= BITS(_mm_cmpeq_epi8(y, close));
#undef BITS
	}
	return m;
}

/* Bit i: an odd number of quotes up to and with i, which is to say, inside a string. */
static inline uint64_t inside(uint64_t quotes)
{
	for (int i = 1; i < 64; i *= 2)
		quotes ^= quotes << i;
	return quotes;
}

/* limits: the window has 64 quotes behind its end, so 64 bytes may be read from any place in it */
static const char *matching(const char *p, const char *end)
{
	uint64_t string_bits = 0; /* all ones while a string reaches over the edge */
	size_t depth = 0;

	for (; p < end; p += 64) {
		struct marks m = mark64(p);
		uint64_t strings, brackets;

		if (m.escapes)
			return NULL;
		strings = inside(m.quotes) ^ string_bits;
		string_bits = (uint64_t)((int64_t)strings >> 63);
		for (brackets = (m.open | m.close) & ~strings; brackets; brackets &= brackets - 1) {
			int i = __builtin_ctzll(brackets);

			if (m.open >> i & 1)
				depth++;
			else if (!--depth)
				return p + i < end ? p + i + 1 : NULL;
		}
	}
	return NULL;
}

#else

static const char *matching(const char *p, const char *end)
{
	return nested(p, end);
}

#endif

/* ---- the event ------------------------------------------------------------------------------ */

static inline const char *value(const char *p, const char *end, bool trusted)
{
	const char *after;

	if (*p != '{' && *p != '[')
		return scalar(p, end);
	after = trusted ? matching(p, end) : NULL;
	return after ? after : nested(p, end);
}

const char *ut_scan_event(const char *p, const char *end, bool trusted, struct ut_walk_event *e)
{
	const char *start = p;

	*e = (struct ut_walk_event){ 0 };
	for (p = blanks(p + 1); *p != '}'; p = blanks(p + 1)) {
		const char *name = p + 1, *close = *p == '"' ? string(name, end) : NULL;
		struct ut_json_span *to;

		if (!close)
			return NULL;
		p = blanks(close);
		if (*p != ':')
			return NULL;
		p = blanks(p + 1);
		to = ut_walk_member(e, name, (size_t)(close - 1 - name));
		name = p;
		p = value(p, end, trusted);
		if (!p)
			return NULL;
		if (to)
			*to = (struct ut_json_span){ name, (size_t)(p - name) };
		p = blanks(p);
		if (*p != ',')
			break;
		if (*blanks(p + 1) == '}')
			return NULL;
	}
	if (p >= end || *p != '}')
		return NULL;
	e->text = (struct ut_json_span){ start, (size_t)(p + 1 - start) };
	return p + 1;
}
