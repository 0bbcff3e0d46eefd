/*
 * str.h - small helpers for text: a piece of it and how pieces compare, a buffer that grows, printf
 * into an arena, edit distance.
 */
#ifndef UT_BASE_STR_H
#define UT_BASE_STR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/err.h"

struct ut_arena;

/*
 * A piece of text, which belongs to somebody else: a string table, an arena, the window of a
 * reader. Any bytes, NULs too: trust len. Those of a string table end with a NUL, for printf; those
 * of a reader do not.
 */
struct ut_str {
	const char *ptr;
	size_t len;
};

/* All of a NUL-terminated text. */
static inline struct ut_str ut_str_of(const char *text)
{
	return (struct ut_str){ text, strlen(text) };
}

/* A text in an array of a file that anybody may have written: up to a NUL, if there is one. */
#define UT_STR_FIELD(array) ((struct ut_str){ array, strnlen(array, sizeof(array)) })

static inline bool ut_str_eq(struct ut_str a, struct ut_str b)
{
	return a.len == b.len && (!a.len || !memcmp(a.ptr, b.ptr, a.len));
}

/* With a constant text, the compiler makes a compare of numbers of this. */
static inline bool ut_str_is(struct ut_str s, const char *text)
{
	return s.len == strlen(text) && !memcmp(s.ptr, text, s.len);
}

/* In the order of their bytes; of two that begin alike the shorter one comes first. */
static inline int ut_str_cmp(struct ut_str a, struct ut_str b)
{
	size_t len = a.len < b.len ? a.len : b.len;
	int order = len ? memcmp(a.ptr, b.ptr, len) : 0;

	return order ? order : (a.len > b.len) - (a.len < b.len);
}

static inline bool ut_str_has_start(struct ut_str s, const char *start)
{
	return s.len >= strlen(start) && !memcmp(s.ptr, start, strlen(start));
}

static inline bool ut_str_has_end(struct ut_str s, const char *end)
{
	size_t len = strlen(end);

	return s.len >= len && !memcmp(s.ptr + (s.len - len), end, len);
}

/* Where it holds this text first; NULL = nowhere. */
static inline const char *ut_str_find(struct ut_str s, const char *text)
{
	return s.len ? memmem(s.ptr, s.len, text, strlen(text)) : NULL;
}

/* What begins at a place in it. */
static inline struct ut_str ut_str_from(struct ut_str s, const char *at)
{
	return (struct ut_str){ at, s.len - (size_t)(at - s.ptr) };
}

/* Without blanks and control bytes around it. */
static inline struct ut_str ut_str_trim(struct ut_str s)
{
	while (s.len && (unsigned char)s.ptr[0] <= ' ') {
		s.ptr++;
		s.len--;
	}
	while (s.len && (unsigned char)s.ptr[s.len - 1] <= ' ')
		s.len--;
	return s;
}

/* Text under construction. {0} is empty; data is NUL-terminated once something was added. */
struct ut_buf {
	char *data;
	size_t len, cap;
};

void ut_buf_add(struct ut_buf *b, const char *s, size_t len);
void ut_buf_text(struct ut_buf *b, const char *s);
void ut_buf_char(struct ut_buf *b, char c);
void ut_buf_fmt(struct ut_buf *b, const char *fmt, ...) UT_PRINTF(2, 3);
void ut_buf_release(struct ut_buf *b);

/* For writers that must be fast: n bytes behind the text, to be filled and then claimed up to end.
 */
char *ut_buf_reserve(struct ut_buf *b, size_t n);
void ut_buf_advance(struct ut_buf *b, const char *end);

/* The text as a copy in the arena ("" if nothing was added); the buffer is released. */
char *ut_buf_take(struct ut_buf *b, struct ut_arena *a);

/* printf into the arena. */
char *ut_str_fmt(struct ut_arena *a, const char *fmt, ...) UT_PRINTF(2, 3);

/* The same questions about NUL-terminated text. */
bool ut_str_starts(const char *s, const char *prefix);
bool ut_str_ends(const char *s, const char *suffix);

/* Insertions, deletions, changes and swaps of neighbours that turn a into b. Long words: 99. */
unsigned int ut_str_distance(const char *a, const char *b);

/* Is b near enough to a to ask "did you mean b"? On yes *distance is lowered to theirs. */
bool ut_str_closer(const char *a, const char *b, unsigned int *distance);

#endif
