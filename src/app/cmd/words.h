/*
 * words.h - the words of a command line that are no options, wherever they stand.
 *
 * ut_opt_parse() stops at the first plain word, as a launcher must. Commands that work on files
 * take options behind them, too: `unitrace diff a.json b.json --rows 5`.
 */
#ifndef UT_CMD_WORDS_H
#define UT_CMD_WORDS_H

#include "base/err.h"

struct ut_arena;
struct ut_opt;

/* {0} is empty; lives in the arena that was given. */
struct ut_words {
	const char **items;
	int count; /* so far: an option's call() may look at it */
};

/* After "--" everything is a plain word. A failure is one of ut_opt_parse(). */
int ut_words_parse(struct ut_words *words, struct ut_arena *a, const struct ut_opt *table, int argc,
		   const char *const *argv, struct ut_err *err) UT_MUST_CHECK;

#endif
