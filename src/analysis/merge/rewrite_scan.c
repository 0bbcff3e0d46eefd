/*
 * rewrite_scan.c - one pass over an event that is strict JSON, for what a copy has to change.
 *
 * Not base/json.h: what is copied by the byte needs to be found, not read, and this is what the
 * speed of `merge` rests on (docs/design/012-text-merge.md). What it does not like goes to json.h.
 */
#include "merge/rewrite_scan.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/json_scan.h"
#include "merge/rewrite_walk.h"

#define DEPTH 64 /* bits of the stack; deeper is for the slower reader */

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
static inline const char *rewrite_scan_string(const char *p, const char *end)
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
static inline const char *rewrite_scan_number(const char *p)
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

static inline const char *rewrite_scan_word(const char *p)
{
	if (!memcmp(p, "true", 4) || !memcmp(p, "null", 4))
		return p + 4;
	return !memcmp(p, "false", 5) ? p + 5 : NULL;
}

/* Whole numbers of a few digits are what lists are made of; the rest is for rewrite_scan_number().
 */
static inline const char *small_number(const char *p)
{
	const char *q = p + 1;

	while (ut_json_digit(*q))
		q++;
	if ((*q == ',' || *q == ']' || *q == '}') && (*p != '0' || q == p + 1))
		return q;
	return rewrite_scan_number(p);
}

static inline const char *scalar(const char *p, const char *end)
{
	if (*p == '"')
		return rewrite_scan_string(p + 1, end);
	if (ut_json_digit(*p))
		return small_number(p);
	return *p == '-' ? rewrite_scan_number(p) : rewrite_scan_word(p);
}

/* ---- keys ----------------------------------------------------------------------------------- */

/* In place of an offset into the event: of a member that nobody asks for. */
#define NOWHERE UINT8_MAX

/* Behind the key at p, if it is one of those that came behind the last; NULL: look for its end. */
static inline const char *known_key(struct ut_scan_keys *k, const char *p)
{
#ifdef __SSE2__
	__m128i x = _mm_loadu_si128((const __m128i *)(const void *)p);
	const struct ut_scan_key *last = &k->items[k->at];

	for (int way = 0; way < UT_SCAN_WAYS; way++) {
		const struct ut_scan_key *item = &k->items[last->next[way]];
		__m128i text = _mm_loadu_si128((const __m128i *)(const void *)item->text);
		int same = _mm_movemask_epi8(_mm_cmpeq_epi8(x, text));

		if ((same | item->unused) == 0xffff) {
			k->at = last->next[way];
			return p + item->len;
		}
	}
#else
	(void)k;
	(void)p;
#endif
	return NULL;
}

static uint8_t number_of_key(struct ut_scan_keys *k, const char *text, uint8_t len, uint8_t member)
{
	struct ut_scan_key *item;
	uint8_t i = 1;

	for (; i <= k->count; i++) {
		if (k->items[i].len == len && !memcmp(k->items[i].text, text, len))
			return i;
	}
	if (i == UT_SCAN_KEYS)
		return 0;
	k->count++;
	item = &k->items[i];
	memcpy(item->text, text, len);
	item->unused = (uint16_t)(UINT32_C(0xffff) << len);
	item->len = len;
	item->member = member;
	return i;
}

/* This key came behind the last one. */
static void learn_key(struct ut_scan_keys *k, const char *text, size_t len, uint8_t member)
{
	struct ut_scan_key *last = &k->items[k->at];
	uint8_t number =
		len <= sizeof(last->text) ? number_of_key(k, text, (uint8_t)len, member) : 0;

	if (!number)
		return;
	memmove(last->next + 1, last->next, UT_SCAN_WAYS - 1);
	last->next[0] = number;
	k->at = number;
}

static const char *key_slow(struct ut_scan_keys *k, const char *p, const char *end, uint8_t *member)
{
	struct ut_rewrite_walk_event e;
	const char *text = p, *close = *p == '"' ? rewrite_scan_string(p + 1, end) : NULL;
	const struct ut_str *to;

	if (!close)
		return NULL;
	to = ut_rewrite_walk_member(&e, text + 1, (size_t)(close - text - 2));
	*member = to ? (uint8_t)((const char *)to - (const char *)&e) : NOWHERE;
	p = blanks(close);
	if (*p != ':')
		return NULL;
	if (p == close)
		learn_key(k, text, (size_t)(p + 1 - text), *member);
	return blanks(p + 1);
}

/* Behind a key and its colon, at the value. */
static inline const char *key(struct ut_scan_keys *k, const char *p, const char *end,
			      uint8_t *member)
{
	const char *after = known_key(k, p);

	if (!after)
		return key_slow(k, p, end, member);
	*member = k->items[k->at].member;
	return blanks(after);
}

/* ---- values in values ----------------------------------------------------------------------- */

/*
 * A short list of whole numbers, which shapes and sizes are: onto its closing bracket, if that is
 * among 16 bytes from its first value on. NULL: go through it value by value.
 */
static inline const char *number_list(const char *p)
{
#ifdef __SSE2__
	__m128i x = _mm_loadu_si128((const __m128i *)(const void *)p);
	__m128i low = _mm_sub_epi8(x, _mm_set1_epi8('0'));
	unsigned int digit = (unsigned int)_mm_movemask_epi8(
		_mm_cmpeq_epi8(_mm_min_epu8(low, _mm_set1_epi8(9)), low));
	unsigned int zero = (unsigned int)_mm_movemask_epi8(_mm_cmpeq_epi8(x, _mm_set1_epi8('0')));
	unsigned int comma = (unsigned int)_mm_movemask_epi8(_mm_cmpeq_epi8(x, _mm_set1_epi8(',')));
	unsigned int close = (unsigned int)_mm_movemask_epi8(_mm_cmpeq_epi8(x, _mm_set1_epi8(']')));
	unsigned int list = (close & -close) - 1; /* the bytes in front of the bracket */
	unsigned int first = digit & ~(digit << 1);

	digit &= list;
	comma &= list;
	if (close && (digit | comma) == list && (digit & 1) && !(comma & ~(digit >> 1)) &&
	    !(first & zero & digit >> 1))
		return p + __builtin_ctz(close);
#else
	(void)p;
#endif
	return NULL;
}

/* The brackets that are open, the innermost last: a bit per level, set for an object. */
struct nest {
	struct ut_scan_keys *keys;
	uint64_t objects;
	int depth;
};

static inline bool in_object(const struct nest *n)
{
	return n->objects & 1;
}

static inline char closing(const struct nest *n)
{
	return in_object(n) ? '}' : ']';
}

/* Into the bracket at p, to its first value, or, over all of them, onto its closing bracket. */
static inline const char *open_bracket(struct nest *n, const char *p, const char *end)
{
	const char *list_end;
	uint8_t member;

	if (++n->depth > DEPTH)
		return NULL;
	n->objects = n->objects << 1 | (*p == '{');
	p = blanks(p + 1);
	if (in_object(n) && *p != '}') {
		p = key(n->keys, p, end, &member);
		return p && *p != '}' ? p : NULL; /* a key wants a value */
	}
	if (in_object(n))
		return p;
	list_end = number_list(p);
	return list_end ? list_end : p;
}

/* Behind the brackets that close here, up to the outermost. */
static inline const char *close_brackets(struct nest *n, const char *p)
{
	while (*p == closing(n)) {
		n->objects >>= 1;
		p++;
		if (!--n->depth)
			return p;
		p = blanks(p);
	}
	return p;
}

/* Over a comma, to the next value. */
static inline const char *next_value(const struct nest *n, const char *p, const char *end)
{
	uint8_t member;

	if (*p != ',' || p >= end)
		return NULL;
	p = blanks(p + 1);
	return in_object(n) ? key(n->keys, p, end, &member) : p;
}

/* Behind the array or object at p; every byte of it is checked. */
static const char *nested(struct ut_scan_keys *keys, const char *p, const char *end)
{
	struct nest n = { .keys = keys };

	do {
		bool opens = *p == '{' || *p == '[';

		p = opens ? open_bracket(&n, p, end) : scalar(p, end);
		if (!p)
			return NULL;
		if (opens && *p != closing(&n))
			continue;
		p = close_brackets(&n, blanks(p));
		if (n.depth)
			p = next_value(&n, p, end);
	} while (p && n.depth);
	return p && p <= end ? p : NULL;
}

/* ---- the event ------------------------------------------------------------------------------ */

static inline const char *value(struct ut_scan_keys *keys, const char *p, const char *end)
{
	return *p != '{' && *p != '[' ? scalar(p, end) : nested(keys, p, end);
}

const char *ut_scan_event(const char *p, const char *end, struct ut_scan_keys *keys,
			  struct ut_rewrite_walk_event *e)
{
	const char *start = p;

	ut_rewrite_walk_clear(e);
	keys->at = 0;
	for (p = blanks(p + 1); *p != '}'; p = blanks(p + 1)) {
		uint8_t member;
		const char *from = key(keys, p, end, &member);

		if (!from)
			return NULL;
		p = value(keys, from, end);
		if (!p)
			return NULL;
		if (member != NOWHERE)
			*(struct ut_str *)(void *)((char *)e + member) =
				(struct ut_str){ from, (size_t)(p - from) };
		p = blanks(p);
		if (*p != ',')
			break;
		if (*blanks(p + 1) == '}')
			return NULL;
	}
	if (p >= end || *p != '}')
		return NULL;
	e->text = (struct ut_str){ start, (size_t)(p + 1 - start) };
	return p + 1;
}
