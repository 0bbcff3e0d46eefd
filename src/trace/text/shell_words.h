/*
 * shell_words.h - words as a shell would split a line or a file of them, without a shell: blanks
 * between words, quotes and backslashes around what belongs together. Nothing is expanded or run.
 */
#ifndef UT_TEXT_SHELL_WORDS_H
#define UT_TEXT_SHELL_WORDS_H

#include <stddef.h>

#include "base/err.h"
#include "base/str.h"

struct ut_arena;

/*
 * Words in the arena, each NUL-terminated, closed by NULL. Inside '...' everything is taken as it
 * is, inside "..." a backslash protects " and \ only; elsewhere it protects any character, and a
 * line break behind it is nothing. NUL is a blank. -EINVAL: a quote is not closed, or a backslash
 * is the end; line, if not NULL, gets the line on which that word begins, from 1.
 */
int ut_shell_words(struct ut_arena *a, struct ut_str text, const char ***words, size_t *count,
		   size_t *line, struct ut_err *err) UT_MUST_CHECK;

/* The word as a shell, or ut_shell_words(), reads it: as it is where that is safe, else in quotes.
 */
void ut_shell_quote(struct ut_buf *b, const char *word);

#endif
