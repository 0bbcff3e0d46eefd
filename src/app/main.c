/*
 * main.c - which command is meant. Everything else is in src/cmd.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mapped.h"
#include "base/path.h"
#include "cmd/cmd.h"
#include "cmd/generate.h"
#include "cmd/guess.h"
#include "launch/run.h"
#include "text/replaced.h"
#include "workbench/askpass.h"

static const struct ut_cmd *command_of_link(const char *argv0)
{
	for (const struct ut_cmd_link *link = ut_cmd_links; link->name; link++) {
		if (!strcmp(link->name, ut_path_base(argv0)))
			return ut_cmd_find(link->command);
	}
	return NULL;
}

static int help(int argc, const char *const *argv)
{
	const struct ut_cmd *cmd = argc ? ut_cmd_find(argv[0]) : NULL;

	if (!argc)
		return ut_cmd_overview(true);
	return cmd ? ut_cmd_help(cmd) : ut_guess_unknown(argv[0]);
}

/* A plain word that is no command: the program to record, unless it is a slip of the pen. */
static int record_program(int argc, const char *const *argv)
{
	int status = ut_guess_first_word(argc, argv);

	return status < 0 ? ut_cmd_record.run(argc, argv) : status;
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

	if (argc && ut_askpass_is_meant(words[0]))
		return ut_askpass_run(argc, words, STDOUT_FILENO);
	ut_launch_survive_limits();
	ut_mapped_guard(UT_EXIT_FAILED);
	if (cmd)
		status = cmd->run(argc - 1, words + 1);
	else if (argc < 2)
		status = ut_cmd_overview(false);
	else
		status = dispatch(argc - 1, words + 1);
	ut_replaced_report(ut_log_stderr());
	if (fflush(stdout) && status == UT_EXIT_OK) {
		ut_log(UT_ERR, "cannot write to standard output");
		status = UT_EXIT_FAILED;
	}
	return status;
}
