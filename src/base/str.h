/*
 * str.h - small helpers for text: a piece of it, a buffer that grows, printf into an arena, edit
 * distance.
 */
#ifndef UT_BASE_STR_H
#define UT_BASE_STR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct ut_arena;

/* A piece of text. */
struct ut_str {
	const char *ptr; /* NUL-terminated for printf, but may hold NULs: trust len */
	size_t len;
};

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

/* The text as a copy in the arena ("" if nothing was added); the buffer is released. */
char *ut_buf_take(struct ut_buf *b, struct ut_arena *a);

/* printf into the arena. */
char *ut_str_fmt(struct ut_arena *a, const char *fmt, ...) UT_PRINTF(2, 3);

bool ut_str_starts(const char *s, const char *prefix);
bool ut_str_ends(const char *s, const char *suffix);

/* Insertions, deletions, changes and swaps of neighbours that turn a into b. Long words: 99. */
unsigned int ut_str_distance(const char *a, const char *b);

/* Is b near enough to a to ask "did you mean b"? On yes *distance is lowered to theirs. */
bool ut_str_closer(const char *a, const char *b, unsigned int *distance);

#endif
