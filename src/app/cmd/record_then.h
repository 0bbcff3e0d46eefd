/*
 * record_then.h - commands that run a program, record something of it and report what came of it.
 */
#ifndef UT_CMD_RECORD_THEN_H
#define UT_CMD_RECORD_THEN_H

#include <stddef.h>

#include "base/err.h"

struct ut_arena;
struct ut_cmd;
struct ut_opt;
struct ut_record_opts;
struct ut_words;

struct ut_record_then {
	const struct ut_cmd *cmd;
	struct ut_record_opts *record;
	/* The timelines that were written. */
	int (*report)(void *ctx, const struct ut_words *words, struct ut_err *err);
	void *ctx;
};

/* Ends as the program did, unless something of ours went wrong: then its exit status comes back. */
int ut_record_then(const struct ut_record_then *t, struct ut_arena *a, int argc,
		   const char *const *argv);

/* The rows of record's table that have these names, in their order; how many. */
size_t ut_record_pick(const struct ut_opt *from, const char *const *names, size_t count,
		      struct ut_opt *to);

#endif
