/*
 * json.c - the window, the cursor, and stepping over values.
 */
#include "base/json.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/big.h"
#include "base/grow.h"
#include "base/json_scan.h"

#define WINDOW (1u << 20) /* bytes; enough for thousands of events, small enough for a cache */

static void json_place(struct ut_json *j, size_t have)
{
	j->at = j->buf;
	j->mark = j->buf;
	j->end = j->buf + have;
	memset(j->buf + have, '"', UT_JSON_PAD);
}

void ut_json_init_window(struct ut_json *j, ut_json_read *read, void *ctx, size_t window)
{
	*j = (struct ut_json){ .read = read, .ctx = ctx, .fresh = true, .cap = window };
	j->buf = ut_ace_big_make(j->cap + UT_JSON_PAD, 1);
	json_place(j, 0);
	ut_json_mark(j);
}

void ut_json_init(struct ut_json *j, ut_json_read *read, void *ctx, uint64_t base)
{
	ut_json_init_window(j, read, ctx, WINDOW);
	j->base = base;
}

void ut_json_init_text(struct ut_json *j, const char *text, size_t len)
{
	*j = (struct ut_json){ .eof = true, .fresh = true, .cap = len };
	j->buf = ut_make(len + UT_JSON_PAD);
	memcpy(j->buf, text, len);
	json_place(j, len);
	ut_json_mark(j);
}

void ut_json_seek(struct ut_json *j, uint64_t base)
{
	j->base = base;
	j->eof = false;
	json_place(j, 0);
	ut_json_mark(j);
}

void ut_json_release(struct ut_json *j)
{
	free(j->buf);
	j->buf = NULL;
}

void ut_json_note(struct ut_json *j, enum ut_json_repair kind, const char *p)
{
	struct ut_json_note *note = &j->repairs[kind];
	uint64_t offset = ut_json_offset(j, p);

	j->plain = false;
	if (offset < note->next)
		return;
	if (!note->count++)
		note->first = offset;
	note->next = offset + 1;
}

bool ut_json_stop(struct ut_json *j, const char *p, const char *why)
{
	j->trouble = p < j->end ? UT_JSON_BAD : UT_JSON_SHORT;
	j->why = p < j->end ? why : "the input ends inside a value";
	j->where = ut_json_offset(j, p < j->end ? p : j->end);
	return false;
}

/* Room for more text behind what is kept; the window doubles if half of it is kept. */
static bool json_make_room(struct ut_json *j)
{
	size_t keep = (size_t)(j->end - j->mark);
	char *bigger;

	if (keep <= j->cap / 2) {
		memmove(j->buf, j->mark, keep);
	} else if (j->cap < UT_JSON_MOST) {
		bigger = ut_ace_big_make(j->cap * 2 + UT_JSON_PAD, 1);
		memcpy(bigger, j->mark, keep);
		j->base += (uint64_t)(j->mark - j->buf);
		free(j->buf);
		j->buf = bigger;
		j->mark = bigger;
		j->cap *= 2;
	} else if (keep < j->cap) {
		memmove(j->buf, j->mark, keep);
	} else {
		j->trouble = UT_JSON_BAD;
		j->why = "a value of more than 64 MiB";
		j->where = ut_json_offset(j, j->mark);
		return false;
	}
	j->base += (uint64_t)(j->mark - j->buf);
	json_place(j, keep);
	return true;
}

/*
 * Fills half of the window before it returns: text that is read twice must stay rare. One that
 * cannot grow is filled to its end, or its last bytes would come by halves, with all before them
 * read again each time.
 */
static void json_fill(struct ut_json *j)
{
	size_t have = (size_t)(j->end - j->buf), half = have + (j->cap - have + 1) / 2;
	size_t goal = j->cap < UT_JSON_MOST ? half : j->cap;

	while (have < goal) {
		ssize_t n = j->read(j->ctx, j->buf + have, j->cap - have, &j->err);

		if (n < 0) {
			j->trouble = UT_JSON_FAILED;
			return;
		}
		if (!n) {
			j->eof = true;
			break;
		}
		have += (size_t)n;
	}
	json_place(j, have);
}

bool ut_json_again(struct ut_json *j)
{
	if (j->trouble != UT_JSON_SHORT || j->eof)
		return false;
	if (!json_make_room(j))
		return false;
	json_fill(j);
	if (j->trouble == UT_JSON_FAILED)
		return false;
	j->fresh = j->mark_fresh;
	j->trouble = UT_JSON_NONE;
	return true;
}

int ut_json_error(const struct ut_json *j, const char *path, struct ut_err *err)
{
	if (j->trouble == UT_JSON_FAILED)
		return ut_err_set(err, j->err.code ? j->err.code : -EIO, "%s", j->err.text);
	return ut_err_set(err, -EPROTO, "%s: offset %" PRIu64 ": %s", path, j->where,
			  j->why ? j->why : "no JSON");
}

/* The first byte from p on that is no blank; indented files are full of them. */
static const char *pass_blanks(const char *p)
{
#ifdef __SSE2__
	const __m128i space = _mm_set1_epi8(' '), line = _mm_set1_epi8('\n'),
		      tab = _mm_set1_epi8('\t'), back = _mm_set1_epi8('\r');

	for (;; p += 16) {
		__m128i x = _mm_loadu_si128((const __m128i *)(const void *)p);
		__m128i blank = _mm_or_si128(_mm_cmpeq_epi8(x, space), _mm_cmpeq_epi8(x, line));
		unsigned int mask;

		blank = _mm_or_si128(blank, _mm_cmpeq_epi8(x, tab));
		blank = _mm_or_si128(blank, _mm_cmpeq_epi8(x, back));
		mask = (unsigned int)_mm_movemask_epi8(blank) ^ 0xffff;
		if (mask)
			return p + __builtin_ctz(mask);
	}
#else
	while (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r')
		p++;
	return p;
#endif
}

const char *ut_json_blanks_slow(struct ut_json *j, const char *p)
{
	j->plain = false;
	for (;; p++) {
		p = pass_blanks(p);
		if ((unsigned char)*p > ' ')
			return p;
		ut_json_note(j, *p ? UT_JSON_CONTROL : UT_JSON_ZERO, p);
	}
}

/* Does the window end before it is clear what follows the backslash at p? */
static bool is_cut_escape(const struct ut_json *j, const char *p)
{
	const char *q = p + 2;

	while (q < j->end && q < p + 6 && isxdigit((unsigned char)*q))
		q++;
	return p + 1 >= j->end || (p[1] == 'u' && q >= j->end && q < p + 6);
}

static bool is_surrogate(const char *p, char first, char last)
{
	char c = (char)(p[3] | 32);

	return p[1] == 'u' && (p[2] | 32) == 'd' && c >= first && c <= last && ut_json_escape_ok(p);
}

/* Behind the escape at p; two halves of a surrogate pair are one. */
static const char *pass_escape(struct ut_json *j, const char *p)
{
	bool high = is_surrogate(p, '8', '9') || is_surrogate(p, 'a', 'b');

	if (high && is_surrogate(p + 6, 'c', 'f') && p[6] == '\\')
		return p + 12;
	/* the other half may lie behind the window, if the string does not end before */
	if ((high && (j->eof || j->end - p >= 12 || memchr(p, '"', (size_t)(j->end - p)))) ||
	    is_surrogate(p, 'c', 'f'))
		ut_json_note(j, UT_JSON_SURROGATE, p);
	return p + 2;
}

const char *ut_json_string_slow(struct ut_json *j, const char *p)
{
	for (;; p = ut_json_special(p)) {
		if (p >= j->end) {
			ut_json_stop(j, j->end, NULL);
			return NULL;
		}
		if (*p == '"')
			return p;
		if (*p == '\\') {
			if (!ut_json_escape_ok(p) && !is_cut_escape(j, p))
				ut_json_note(j, UT_JSON_ESCAPE, p);
			p = pass_escape(j, p);
		} else {
			ut_json_note(j, UT_JSON_CONTROL, p++);
		}
	}
}

char ut_json_peek(struct ut_json *j)
{
	j->at = ut_json_blanks(j, j->at);
	if (j->at < j->end)
		return *j->at;
	ut_json_stop(j, j->at, NULL);
	return 0;
}

/* Commas between two values, whatever the writer made of them. True: a value or bracket is due. */
static const char *separator(struct ut_json *j, char closing)
{
	const char *p = ut_json_blanks(j, j->at), *comma;

	if (*p != ',') {
		if (!j->fresh && p < j->end && (closing == '}' ? *p == '"' : ut_json_starts(*p)))
			ut_json_note(j, UT_JSON_NO_COMMA, p);
		return p;
	}
	for (bool extra = j->fresh; *p == ','; extra = true) {
		comma = p;
		p = ut_json_blanks(j, p + 1);
		if (extra || (*p == closing && p < j->end))
			ut_json_note(j, UT_JSON_EXTRA_COMMA, comma);
	}
	return p;
}

bool ut_json_member(struct ut_json *j, struct ut_str *key)
{
	const char *p = separator(j, '}'), *end;

	if (*p == '}') {
		j->at = p + 1;
		j->fresh = false;
		return false;
	}
	if (*p != '"' || p >= j->end)
		return ut_json_stop(j, p, "no key where one should be");
	end = ut_json_close(j, p + 1);
	if (!end)
		return false;
	*key = (struct ut_str){ p + 1, (size_t)(end - p - 1) };
	p = ut_json_blanks(j, end + 1);
	if (*p != ':')
		return ut_json_stop(j, p, "a key without a colon");
	j->at = ut_json_blanks(j, p + 1);
	j->fresh = false;
	return j->at < j->end || ut_json_stop(j, j->at, NULL);
}

bool ut_json_element(struct ut_json *j)
{
	const char *p = separator(j, ']');

	if (p >= j->end)
		return ut_json_stop(j, p, NULL);
	j->fresh = false;
	j->at = p;
	if (*p != ']')
		return true;
	j->at = p + 1;
	return false;
}

/* Brackets that are open. */
struct nest {
	uint64_t outer[UT_JSON_DEPTH / 64]; /* a bit per level: is it an object? */
	unsigned int depth;
	bool object; /* the innermost one */
};

static bool json_push(struct nest *n, bool object)
{
	unsigned int i = n->depth;

	if (i == UT_JSON_DEPTH)
		return false;
	n->outer[i / 64] &= ~(UINT64_C(1) << i % 64);
	n->outer[i / 64] |= (uint64_t)n->object << i % 64;
	n->depth++;
	n->object = object;
	return true;
}

static void json_pop(struct nest *n)
{
	unsigned int i = --n->depth;

	n->object = n->outer[i / 64] >> i % 64 & 1;
}

/* The usual way to the next value, see ut_json_key(). NULL: look closer. */
static inline const char *next_fast(struct ut_json *j, const char *p, bool object, bool fresh)
{
	struct ut_str key;

	if (object) {
		p = ut_json_key(j, p, fresh, &key);
	} else if (!fresh) {
		if (*p != ',')
			return NULL;
		if (p[1] == ' ') {
			j->plain = false;
			p++;
		}
		p++;
	}
	return p && ut_json_starts(*p) && p < j->end ? p : NULL;
}

/* To the next value in any open bracket; depth 0 when the last one was closed. */
static inline bool next_value(struct ut_json *j, struct nest *nest)
{
	const char *p = j->at, *next;
	struct ut_str key;

	for (;;) {
		next = next_fast(j, p, nest->object, j->fresh);
		if (next) {
			j->fresh = false;
			j->at = next;
			return true;
		}
		if (*p == (nest->object ? '}' : ']')) {
			p++;
		} else {
			j->at = p;
			if (nest->object ? ut_json_member(j, &key) : ut_json_element(j))
				return true;
			if (j->trouble)
				return false;
			p = j->at;
		}
		j->fresh = false;
		json_pop(nest);
		if (!nest->depth) {
			j->at = p;
			return true;
		}
	}
}

/* The last of the whole numbers that follow each other in a list; p if there are none. */
static inline const char *pass_numbers(const char *p)
{
	const char *q;

	while (ut_json_digit(*p) && *p != '0') {
		q = ut_json_digits(p);
		if (*q != ',' || !ut_json_digit(q[1]))
			break;
		p = q + 1;
	}
	return p;
}

/* Behind the array or object at the cursor. */
static bool skip_nested(struct ut_json *j)
{
	struct nest nest = { .depth = 0 };
	const char *end;

	do {
		if ((*j->at | 32) == '{') {
			if (!json_push(&nest, *j->at == '{'))
				return ut_json_stop(j, j->at, "brackets nested too deep");
			ut_json_enter(j);
		} else {
			end = nest.object ? j->at : pass_numbers(j->at);
			end = ut_json_scalar(j, end);
			if (!end)
				return false;
			j->at = end;
		}
		if (!next_value(j, &nest))
			return false;
	} while (nest.depth);
	return true;
}

bool ut_json_skip(struct ut_json *j, struct ut_str *span)
{
	const char *start, *end;

	if (!ut_json_peek(j))
		return false;
	start = j->at;
	if (*start == '{' || *start == '[') {
		if (!skip_nested(j))
			return false;
	} else {
		end = ut_json_scalar(j, start);
		if (!end)
			return false;
		j->at = end;
	}
	if (span)
		*span = (struct ut_str){ start, (size_t)(j->at - start) };
	return true;
}

bool ut_json_string(struct ut_json *j, struct ut_str *raw)
{
	const char *p = ut_json_blanks(j, j->at), *end;

	if (*p != '"' || p >= j->end)
		return ut_json_stop(j, p, "no string where one should be");
	end = ut_json_close(j, p + 1);
	if (!end)
		return false;
	*raw = (struct ut_str){ p + 1, (size_t)(end - p - 1) };
	j->at = end + 1;
	return true;
}

bool ut_json_hold(struct ut_json *j, struct ut_str *span)
{
	bool ok;

	ut_json_mark(j);
	do
		ok = ut_json_skip(j, span);
	while (!ok && ut_json_again(j));
	if (ok) {
		j->at = j->mark;
		j->fresh = j->mark_fresh;
	}
	return ok;
}
