/*
 * command_line.h - what commands that read traces do with their arguments before they start.
 */
#ifndef UT_CMD_COMMAND_LINE_H
#define UT_CMD_COMMAND_LINE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"
#include "cmd/words.h"

struct ut_cmd;
struct ut_opt;

/* {0} before the first call; the table of options may live in its arena. */
struct ut_command_line {
	struct ut_arena arena;
	struct ut_words words;
	struct ut_err err;
	int status; /* the exit status, once there is nothing left to do */
};

/* Reads options and words. False if help was asked for, or something is wrong: it has been said. */
bool ut_command_line_parse(struct ut_command_line *l, const struct ut_cmd *cmd,
			   const struct ut_opt *table, const bool *help, int argc,
			   const char *const *argv);

/* Without a trace, the last recording. False if there is none: it has been said. */
bool ut_command_line_last(struct ut_command_line *l);

/* Both. */
bool ut_command_line_read(struct ut_command_line *l, const struct ut_cmd *cmd,
			  const struct ut_opt *table, const bool *help, int argc,
			  const char *const *argv);

/* Frees it; the status comes back. */
int ut_command_line_end(struct ut_command_line *l);

#endif
