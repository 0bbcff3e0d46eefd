#include "cmd/guess.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/path.h"
#include "base/str.h"
#include "cmd/cmd.h"
#include "export/exporter.h"
#include "import/importer.h"
#include "text/source.h"

#define SHORTEST_PREFIX 3

/* What people who know other tools call a command of ours. */
static const struct alias {
	const char *name, *command;
	bool needs_words; /* the program of that name does nothing without any */
} aliases[] = {
	{ "stat", "stats", true },      { "report", "stats", false }, { "convert", "export", true },
	{ "script", "export", false },  { "sql", "query", false },    { "show", "info", false },
	{ "check", "validate", false }, { "compare", "diff", true },  { "run", "record", false },
	{ "trace", "record", false },   { NULL, NULL, false },
};

static const struct alias *find_alias(const char *name)
{
	for (size_t i = 0; aliases[i].name; i++) {
		if (!strcmp(aliases[i].name, name))
			return &aliases[i];
	}
	return NULL;
}

static const struct ut_cmd *by_distance(const char *name)
{
	const struct ut_cmd *best = NULL;
	unsigned int distance = 99;

	for (size_t i = 0; ut_cmds[i]; i++) {
		if (ut_str_closer(name, ut_cmds[i]->name, &distance))
			best = ut_cmds[i];
	}
	return best;
}

/* The one command that begins so. */
static const struct ut_cmd *by_prefix(const char *name)
{
	const struct ut_cmd *found = NULL;

	if (strlen(name) < SHORTEST_PREFIX)
		return NULL;
	for (size_t i = 0; ut_cmds[i]; i++) {
		if (!ut_str_starts(ut_cmds[i]->name, name))
			continue;
		if (found)
			return NULL;
		found = ut_cmds[i];
	}
	return found;
}

const struct ut_cmd *ut_guess_command(const char *name)
{
	const struct alias *alias = find_alias(name);
	const struct ut_cmd *cmd = alias ? ut_cmd_find(alias->command) : by_distance(name);

	return cmd ? cmd : by_prefix(name);
}

int ut_guess_unknown(const char *name)
{
	const struct ut_cmd *meant = ut_guess_command(name);

	if (meant)
		ut_log(UT_ERR, "%s is neither a command nor a program; did you mean '%s'?", name,
		       meant->name);
	else
		ut_log(UT_ERR, "%s is not a command; 'unitrace help' lists them", name);
	return UT_EXIT_MISUSE;
}

/* ---- is it a trace ------------------------------------------------------------------------- */

static bool holds_trace(const char *path)
{
	const struct ut_importer *importer;
	struct ut_source source;
	bool yes;

	if (ut_source_open(&source, path, NULL))
		return false;
	importer = ut_importer_for(source.head, source.head_len);
	yes = importer && ut_importer_sure(importer, &source);
	ut_source_close(&source);
	return yes;
}

static bool is_trace(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && holds_trace(path);
}

bool ut_guess_is_trace(const char *path)
{
	return ut_path_is_dir(path) || is_trace(path);
}

static const char *first_plain(int argc, const char *const *argv)
{
	for (int i = 1; i < argc; i++) {
		if (argv[i][0] != '-')
			return argv[i];
	}
	return NULL;
}

/* ---- the first word ------------------------------------------------------------------------ */

static void add_words(struct ut_buf *b, int argc, const char *const *argv)
{
	for (int i = 0; i < argc; i++)
		ut_buf_fmt(b, " %s", argv[i]);
}

/* 'n' (also: no answer) or 'y'. */
static int guess_ask(const char *question)
{
	char answer[64];

	fprintf(stderr, "unitrace: %s [y/n] ", question);
	while (fgets(answer, sizeof(answer), stdin)) {
		if (answer[0] == 'y' || answer[0] == 'Y')
			return 'y';
		if (answer[0] == 'n' || answer[0] == 'N')
			return 'n';
		fprintf(stderr, "unitrace: y or n? ");
	}
	fputs("\n", stderr);
	return 0;
}

/* The word is a program, but a command is as near. */
static int doubt(const struct ut_cmd *meant, int argc, const char *const *argv)
{
	struct ut_buf text = { 0 };
	int answer = 0;

	ut_buf_fmt(&text, "%s is a program; did you mean 'unitrace %s", argv[0], meant->name);
	add_words(&text, argc - 1, argv + 1);
	ut_buf_text(&text, "'?");
	if (isatty(STDIN_FILENO) && isatty(STDERR_FILENO)) {
		answer = guess_ask(text.data);
	} else {
		ut_buf_text(&text, " To record the program: unitrace --");
		add_words(&text, argc, argv);
		ut_log(UT_ERR, "%s", text.data);
	}
	ut_buf_release(&text);
	if (answer == 'n')
		return -1;
	return answer == 'y' ? meant->run(argc - 1, argv + 1) : UT_EXIT_MISUSE;
}

static int refuse_trace(const char *path)
{
	ut_log(UT_ERR, "%s is a trace, not a program; try: unitrace stats %s", path, path);
	return UT_EXIT_MISUSE;
}

/* Do the words behind a program's name belong to a command of ours? */
static bool fit_command(const struct alias *alias, const char *next)
{
	bool strong = alias && alias->needs_words;

	if (!next)
		return strong;
	return is_trace(next) || (strong && !ut_path_exists(next) && ut_exporter_by_file(next));
}

/* A program's name that is only the beginning of a command's, as cat is of categorize, or so short
 * that every other short name is near, as cmp is to mcp. */
static bool is_unlike(const char *program, const struct ut_cmd *cmd)
{
	size_t len = strlen(program);

	return ut_str_starts(cmd->name, program) ? 2 * len < strlen(cmd->name) : len <= 3;
}

int ut_guess_first_word(int argc, const char *const *argv)
{
	const char *name = argv[0];
	const struct ut_cmd *meant;
	struct ut_arena arena = { 0 };
	bool is_program;
	int code = 0;

	is_program = ut_path_find_program(&arena, name, &code);
	ut_arena_release(&arena);
	if (!is_program && is_trace(name))
		return refuse_trace(name);
	meant = strchr(name, '/') ? NULL : ut_guess_command(name);
	if (is_program && meant && is_unlike(name, meant))
		meant = NULL;
	if (meant && !is_program && code == ENOENT)
		return ut_guess_unknown(name);
	/* Who asks for record gets it in any case. */
	if (!meant || !is_program || meant == &ut_cmd_record ||
	    !fit_command(find_alias(name), first_plain(argc, argv)))
		return -1;
	return doubt(meant, argc, argv);
}
