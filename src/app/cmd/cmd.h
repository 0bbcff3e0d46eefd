/*
 * cmd.h - what every subcommand is, and how all of them speak to the user.
 *
 * A command is one constant in one file: options struct, work, glue (see cmd_info.c for the
 * shape). Only this room prints errors and chooses exit statuses.
 */
#ifndef UT_CMD_CMD_H
#define UT_CMD_CMD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct ut_arena;
struct ut_opt;

enum ut_exit {
	UT_EXIT_OK = 0,
	UT_EXIT_FAILED = 1,
	UT_EXIT_MISUSE = 2,
	UT_EXIT_CHANGED = 3, /* diff: a rule of --fail-if is met */
	/* record passes on the program's own status; these say that there is none */
	UT_EXIT_OWN_FAILURE = 125,
	UT_EXIT_CANNOT_EXECUTE = 126,
	UT_EXIT_NOT_FOUND = 127,
};

struct ut_cmd {
	const char *name;
	const char *usage;       /* what follows the name */
	const char *summary;     /* one line, no full stop */
	const char *description; /* paragraphs, separated by empty lines */
	const char *examples;    /* pairs of lines: what it does, the command */
	bool takes_last;         /* without a trace, the last recording: see last_recording.h */
	/* The options, bound to a scratch struct in the arena: for help, manual, completion. */
	const struct ut_opt *(*options)(struct ut_arena *a);
	/* argv without the command's own name; the exit status comes back. */
	int (*run)(int argc, const char *const *argv);
};

#define UT_CMD_TAKES_LAST                                                                          \
	"Without a trace it takes the last recording that was made in this directory, or that\n"   \
	"lies in it."

extern const struct ut_cmd ut_cmd_record;
extern const struct ut_cmd ut_cmd_export;
extern const struct ut_cmd ut_cmd_info;
extern const struct ut_cmd ut_cmd_view;
extern const struct ut_cmd ut_cmd_serve;
extern const struct ut_cmd ut_cmd_analyze;
extern const struct ut_cmd ut_cmd_merge;
extern const struct ut_cmd ut_cmd_stats;
extern const struct ut_cmd ut_cmd_diff;
extern const struct ut_cmd ut_cmd_validate;
extern const struct ut_cmd ut_cmd_query;
extern const struct ut_cmd ut_cmd_filter;
extern const struct ut_cmd ut_cmd_head;
extern const struct ut_cmd ut_cmd_devlog;
extern const struct ut_cmd ut_cmd_ops;
extern const struct ut_cmd ut_cmd_profile_this;
extern const struct ut_cmd ut_cmd_addrasm;
extern const struct ut_cmd ut_cmd_kernels;
extern const struct ut_cmd ut_cmd_categorize;
extern const struct ut_cmd ut_cmd_summary;
extern const struct ut_cmd ut_cmd_ranks;
extern const struct ut_cmd ut_cmd_hotspots;
extern const struct ut_cmd ut_cmd_memory;
extern const struct ut_cmd ut_cmd_metrics;
extern const struct ut_cmd ut_cmd_roofline;
extern const struct ut_cmd ut_cmd_mcp;

/* All of them, closed by NULL, in the order in which help lists them. */
extern const struct ut_cmd *const ut_cmds[];

const struct ut_cmd *ut_cmd_find(const char *name); /* NULL if there is none */

/* Other names of the program (links beside it) and the commands they stand for; closed by NULL. */
struct ut_cmd_link {
	const char *name, *command;
};

extern const struct ut_cmd_link ut_cmd_links[];

/* Each prints and returns the exit status: 0 on stdout; 2 and 1 on stderr, in one or two lines. */
int ut_cmd_help(const struct ut_cmd *cmd);
int ut_cmd_misuse(const struct ut_cmd *cmd, const struct ut_err *err);
int ut_cmd_fail(const struct ut_cmd *cmd, const struct ut_err *err);

int ut_cmd_overview(bool with_options); /* `unitrace` and `unitrace --help` */
int ut_cmd_version(void);

#endif
