/*
 * cmd_profile_this.c - `unitrace profile-this`: a command twice, then the report of its ops.
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/opt.h"
#include "base/path.h"
#include "cmd/words.h"
#include "session/profile_twice.h"
#include "tt/tt_home.h"

static int set_tool(void *ctx, const char *value, struct ut_err *err)
{
	static const char *const names[] = {
		[UT_PROFILE_AUTO] = "auto",
		[UT_PROFILE_TT_METAL] = "tt-metal",
		[UT_PROFILE_UNITRACE] = "unitrace",
	};
	enum ut_profile_tool *tool = ctx;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(value, names[i])) {
			*tool = (enum ut_profile_tool)i;
			return 0;
		}
	}
	return ut_err_set(err, -EINVAL, "auto, tt-metal or unitrace, not '%s'", value);
}

static const struct ut_opt *profile_table(struct ut_arena *a, struct ut_profile_opts *o, bool *help)
{
	const struct ut_opt table[] = {
		ut_opt_str('c', "command", "COMMAND", &o->command,
			   "what to run, as for a shell; it runs twice"),
		ut_opt_words(ut_opt_str('o', "output-folder", "DIR", &o->output,
					"where reports go (output/ops of the profiler)"),
			     "<dir>"),
		ut_opt_words(ut_opt_str('l', "logs-folder", "DIR", &o->logs,
					"where tt-metal writes logs (logs of the profiler)"),
			     "<dir>"),
		ut_opt_str('n', "name-append", "TEXT", &o->append, "put behind the reports' names"),
		ut_opt_words(ut_opt_call("tool", "WHO", set_tool, &o->tool,
					 "who records devices: auto, tt-metal or unitrace"),
			     "auto tt-metal unitrace"),
		ut_opt_flag('h', "help", help, "show this help"),
		ut_opt_end(),
	};

	return ut_opt_copy(a, table, sizeof(table) / sizeof(table[0]));
}

static int profile_this_take_words(struct ut_profile_opts *o, const struct ut_words *words,
				   struct ut_arena *a, struct ut_err *err)
{
	const char *profiler = ut_tt_profiler(a);

	if (words->count)
		return ut_err_set(err, -EINVAL, "'%s': the command is one word, behind -c",
				  words->items[0]);
	if (!o->command || !*o->command)
		return ut_err_set(err, -EINVAL, "-c COMMAND says what to run");
	o->named_logs = o->logs != NULL;
	o->logs = o->logs ? o->logs : ut_path_join(a, profiler, "logs");
	o->output = o->output ? o->output : ut_path_join(a, profiler, "output/ops");
	return 0;
}

static void print_report(void *ctx, const char *from, const char *csv)
{
	(void)ctx;
	printf("Post processed %s with results saved in %s\n", from, csv);
}

static int cmd_profile_this(int argc, const char *const *argv)
{
	struct ut_profile_opts opts = { .logger = ut_log_stderr(), .reported = print_report };
	struct ut_arena arena = { 0 };
	struct ut_words words = { 0 };
	struct ut_err err = { 0 };
	bool help = false;
	int rc = ut_words_parse(&words, &arena, profile_table(&arena, &opts, &help), argc, argv,
				&err);
	int status = UT_EXIT_OK;

	if (!rc && !help)
		rc = profile_this_take_words(&opts, &words, &arena, &err);
	if (rc)
		status = ut_cmd_misuse(&ut_cmd_profile_this, &err);
	else if (help)
		status = ut_cmd_help(&ut_cmd_profile_this);
	else if (ut_profile(&opts, &arena, &status, &err))
		status = ut_cmd_fail(&ut_cmd_profile_this, &err);
	ut_arena_release(&arena);
	return status;
}

static const struct ut_opt *profile_options(struct ut_arena *a)
{
	return profile_table(a, UT_NEW(a, struct ut_profile_opts), UT_NEW(a, bool));
}

const struct ut_cmd ut_cmd_profile_this = {
	.name = "profile-this",
	.usage = "-c COMMAND [OPTIONS]",
	.summary = "run a command twice and report its ops: device times, host times undisturbed",
	.description =
		"Runs the command with device profiling, then without, and joins what both leave:\n"
		"device times from the first run, host times from the second, which reading the\n"
		"device did not slow down. An op of one run is that of the other if it is the "
		"same\n"
		"call, counted by its name. The environment goes to the command as it is.\n\n"
		"Programs of tt-metal leave logs: a report as of 'unitrace ops' is written for\n"
		"every folder that the command named for them. Others, with CUDA or OpenCL, are\n"
		"recorded by unitrace itself, and their ops (of PyTorch) and tasks (ITT, NVTX) "
		"are\n"
		"the rows.\n\n"
		"If the command fails, its exit status is ours, and there is no report.",
	.examples = "  unitrace profile-this -c \"pytest tests/test_residual_block.py\"\n"
		    "  unitrace profile-this -c \"python3 train.py\" -n train\n",
	.options = profile_options,
	.run = cmd_profile_this,
};
