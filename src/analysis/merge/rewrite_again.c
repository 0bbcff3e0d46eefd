#include "merge/rewrite_again.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/json_scan.h"
#include "merge/rewrite_walk.h"

#ifdef __SSE2__

/* Of 64 bytes, a bit each. */
struct marks {
	uint64_t quotes, brackets, colons;
	uint64_t stops; /* what ends a value: , ] } */
	bool escapes;   /* there is a backslash */
};

static inline uint64_t bits(__m128i hit, int at)
{
	return (uint64_t)(unsigned int)_mm_movemask_epi8(hit) << at;
}

/* The 16 bytes that start at p + at; returns its backslashes. */
static inline __m128i mark16(struct marks *m, const char *p, int at)
{
	__m128i x = _mm_loadu_si128((const __m128i *)(const void *)(p + at));
	__m128i y = _mm_or_si128(x, _mm_set1_epi8(0x20)); /* makes { of [ and } of ] */
	__m128i opens = _mm_cmpeq_epi8(y, _mm_set1_epi8('{'));
	__m128i closes = _mm_cmpeq_epi8(y, _mm_set1_epi8('}'));
	__m128i commas = _mm_cmpeq_epi8(x, _mm_set1_epi8(','));

	m->quotes |= bits(_mm_cmpeq_epi8(x, _mm_set1_epi8('"')), at);
	m->brackets |= bits(_mm_or_si128(opens, closes), at);
	m->colons |= bits(_mm_cmpeq_epi8(x, _mm_set1_epi8(':')), at);
	m->stops |= bits(_mm_or_si128(commas, closes), at);
	return _mm_cmpeq_epi8(x, _mm_set1_epi8('\\'));
}

/* No loop: compilers leave it one, and this is half of the work. */
static inline struct marks mark64(const char *p)
{
	struct marks m = { 0 };
	__m128i escapes = mark16(&m, p, 0);

	escapes = _mm_or_si128(escapes, mark16(&m, p, 16));
	escapes = _mm_or_si128(escapes, mark16(&m, p, 32));
	escapes = _mm_or_si128(escapes, mark16(&m, p, 48));
	m.escapes = _mm_movemask_epi8(escapes);
	return m;
}

/* Bit i: an odd number of quotes up to and with i, which is to say, inside a string. */
static inline uint64_t inside(uint64_t quotes)
{
	quotes ^= quotes << 1;
	quotes ^= quotes << 2;
	quotes ^= quotes << 4;
	quotes ^= quotes << 8;
	quotes ^= quotes << 16;
	return quotes ^ quotes << 32;
}

#define KEY(a, b, c, d)                                                                            \
	((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)

/* The member whose key ends in front of the colon, in an event that starts at start. */
static inline struct ut_str *member_at(struct ut_rewrite_walk_event *e, const char *start,
				       const char *colon)
{
	uint32_t tail;

	if (colon - start < 5)
		return NULL; /* shorter than any that matters */
	memcpy(&tail, colon - 4, sizeof(tail));
	switch (tail) {
	case KEY('"', 'p', 'h', '"'):
		return &e->ph;
	case KEY('"', 't', 's', '"'):
		return &e->ts;
	case KEY('"', 'i', 'd', '"'):
		return &e->id;
	case KEY('"', 's', 'f', '"'):
		return &e->sf;
	case KEY('p', 'i', 'd', '"'):
		return colon[-5] == '"' ? &e->pid : NULL;
	case KEY('d', 'u', 'r', '"'):
		return colon[-5] == '"' ? &e->dur : NULL;
	case KEY('i', 'd', '2', '"'):
		return colon[-5] == '"' ? &e->id2 : NULL;
	case KEY('_', 'i', 'd', '"'):
		return colon - start > 8 && !memcmp(colon - 9, "\"bind", 5) ? &e->bind_id : NULL;
	default:
		return NULL;
	}
}

/* Where a value ends that does not end in these 64 bytes. */
static const char *end_of_value(const char *p)
{
	if (*p == '"')
		return ut_json_special(p + 1) + 1;
	while (*p != ',' && *p != '}' && *p != '"') /* quotes stand behind the window */
		p++;
	return p;
}

/*
 * The value behind a colon, if it is of a member that matters. stops: where values end in the 64
 * bytes from block on, outside of strings. False: ask somebody else.
 */
static inline bool note_value(struct ut_rewrite_walk_event *e, const char *start, const char *block,
			      unsigned int colon, uint64_t stops)
{
	const char *p = block + colon, *q;
	struct ut_str *to = member_at(e, start, p);

	if (p[-1] != '"')
		return false;
	if (!to)
		return true;
	for (p++; (unsigned char)*p <= ' ';)
		p++;
	stops &= ~UINT64_C(0) << colon;
	q = stops ? block + __builtin_ctzll(stops) : end_of_value(p);
	if (q <= p || *p == '{' || *p == '[')
		return false; /* the file may have changed since the first look */
	while ((unsigned char)q[-1] <= ' ')
		q--;
	*to = (struct ut_str){ p, (size_t)(q - p) };
	return true;
}

/* The members in front of the next bracket, if the event itself is the innermost one. */
static inline bool note_values(struct ut_rewrite_walk_event *e, const char *start,
			       const char *block, uint64_t colons, uint64_t stops)
{
	for (; colons; colons &= colons - 1) {
		if (!note_value(e, start, block, (unsigned int)__builtin_ctzll(colons), stops))
			return false;
	}
	return true;
}

/* The window has 64 quotes behind its end, so 64 bytes may be read from any place in it. */
const char *ut_scan_again(const char *p, const char *end, struct ut_rewrite_walk_event *e)
{
	const char *start = p;
	uint64_t string_bits = 0; /* all ones while a string reaches over the edge */
	size_t depth = 0;

	ut_rewrite_walk_clear(e);
	for (; p < end; p += 64) {
		struct marks m = mark64(p);
		uint64_t strings = inside(m.quotes) ^ string_bits;
		uint64_t brackets = m.brackets & ~strings, colons = m.colons & ~strings;

		if (m.escapes)
			return NULL;
		string_bits = -(strings >> 63);
		for (;; brackets &= brackets - 1) {
			uint64_t before = (brackets & -brackets) - 1; /* all ones: no bracket */
			const char *at;

			if (depth == 1 &&
			    !note_values(e, start, p, colons & before, m.stops & ~strings))
				return NULL;
			if (!brackets)
				break;
			colons &= ~before;
			at = p + __builtin_ctzll(brackets);
			if ((*at | 0x20) == '{') {
				depth++;
			} else if (!--depth) {
				e->text = (struct ut_str){ start, (size_t)(at + 1 - start) };
				return at < end && (e->ph.len != 3 || e->ph.ptr[1] != 'M') ? at + 1
											   : NULL;
			}
		}
	}
	return NULL;
}

#else

const char *ut_scan_again(const char *p, const char *end, struct ut_rewrite_walk_event *e)
{
	(void)p;
	(void)end;
	(void)e;
	return NULL;
}

#endif
