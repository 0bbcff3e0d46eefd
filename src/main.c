/*
 * main.c - which command is meant. Everything else is in src/cmd.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/log.h"
#include "base/path.h"
#include "cmd/cmd.h"
#include "cmd/generate.h"
#include "cmd/replaced.h"

/*
 * Other names of the program (links to it) and the commands they stand for. Those in .py are files
 * of their own beside the program (cmake/script.py.in), but links of these names work, too.
 */
static const struct {
	const char *link;
	const char *command;
} links[] = {
	{ "mergetrace", "merge" },
	{ "mergetrace.py", "merge" },
	{ "acelyzer", "analyze" },
	{ "acelyzer.py", "analyze" },
	{ "process_device_log.py", "devlog" },
	{ "process_ops_logs.py", "ops" },
	{ "profile_this.py", "profile-this" },
	{ NULL, NULL },
};

static const struct ut_cmd *command_of_link(const char *argv0)
{
	for (size_t i = 0; links[i].link; i++) {
		if (!strcmp(links[i].link, ut_path_base(argv0)))
			return ut_cmd_find(links[i].command);
	}
	return NULL;
}

static int unknown(const char *name, const struct ut_cmd *meant)
{
	if (meant)
		ut_log(UT_ERR, "%s is neither a command nor a program; did you mean '%s'?", name,
		       meant->name);
	else
		ut_log(UT_ERR, "%s is not a command; 'unitrace help' lists them", name);
	return UT_EXIT_MISUSE;
}

static int help(int argc, const char *const *argv)
{
	const struct ut_cmd *cmd = argc ? ut_cmd_find(argv[0]) : NULL;

	if (!argc)
		return ut_cmd_overview(true);
	return cmd ? ut_cmd_help(cmd) : unknown(argv[0], ut_cmd_closest(argv[0]));
}

/* A plain word that is no command: the program to record, unless it is a slip of the pen. */
static int record_program(int argc, const char *const *argv)
{
	const struct ut_cmd *meant = ut_cmd_closest(argv[0]);
	struct ut_arena arena = { 0 };
	int code = 0;

	if (meant && !ut_path_find_program(&arena, argv[0], &code) && code == ENOENT) {
		ut_arena_release(&arena);
		return unknown(argv[0], meant);
	}
	ut_arena_release(&arena);
	return ut_cmd_record.run(argc, argv);
}

static int dispatch(int argc, const char *const *argv)
{
	const char *word = argv[0];
	const struct ut_cmd *cmd = ut_cmd_find(word);

	if (cmd)
		return cmd->run(argc - 1, argv + 1);
	if (!strcmp(word, "help") || !strcmp(word, "--help"))
		return help(argc - 1, argv + 1);
	if (!strcmp(word, "--version"))
		return ut_cmd_version();
	if (!strcmp(word, "--generate"))
		return ut_generate(argc - 1, argv + 1);
	if (word[0] == '-')
		return ut_cmd_record.run(argc, argv);
	return record_program(argc, argv);
}

int main(int argc, char **argv)
{
	const char *const *words = (const char *const *)argv;
	const struct ut_cmd *cmd = command_of_link(argc ? words[0] : "");
	int status;

	if (cmd)
		status = cmd->run(argc - 1, words + 1);
	else if (argc < 2)
		status = ut_cmd_overview(false);
	else
		status = dispatch(argc - 1, words + 1);
	ut_replaced_tell();
	if (fflush(stdout) && status == UT_EXIT_OK) {
		ut_log(UT_ERR, "cannot write to standard output");
		status = UT_EXIT_FAILED;
	}
	return status;
}
