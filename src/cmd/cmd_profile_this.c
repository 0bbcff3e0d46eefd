/*
 * cmd_profile_this.c - `unitrace profile-this`: a command twice, then the report of its ops.
 *
 * Reading what the device has noted slows the host down, so the device's times come from one run
 * and the host's from another. The runs are joined by op and the number of its call: `ops` does
 * that with the folders that the two runs leave.
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/opt.h"
#include "base/path.h"
#include "base/str.h"
#include "cmd/ops_options.h"
#include "cmd/ops_run.h"
#include "cmd/words.h"
#include "launch/env.h"

#define PROFILER  "tt_metal/tools/profiler" /* below $TT_METAL_HOME */
#define LOCATIONS ".locations.log"
#define NOT_BUILT "tt-metal must be built with its profiler: make build ENABLE_PROFILER=1"

struct opts {
	const char *command, *logs, *output, *append;
	bool help;
};

/* ---- running ------------------------------------------------------------------------------- */

/* One run; *status is the command's own, as shells tell it. */
static int run_once(const struct opts *o, struct ut_arena *a, bool device, int *status,
		    struct ut_err *err)
{
	char shell[] = "sh", option[] = "-c";
	char *argv[] = { shell, option, ut_arena_copy(a, o->command, strlen(o->command)), NULL };
	struct ut_env env;
	int rc, how;
	pid_t pid;

	ut_env_init(&env, a, environ);
	ut_env_set(&env, "TT_METAL_DEVICE_PROFILER", device ? "1" : "0");
	if (device)
		ut_env_set(&env, "TT_PCI_DMA_BUF_SIZE", "1048576");
	ut_log(UT_INFO, "run %s device profiling: %s", device ? "1 of 2, with" : "2 of 2, without",
	       o->command);
	fflush(NULL);
	rc = posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, env.vars);
	if (rc)
		return ut_err_set(err, -rc, "/bin/sh: %s", strerror(rc));
	while (waitpid(pid, &how, 0) < 0) {
		if (errno != EINTR)
			return ut_err_set(err, -errno, "waiting for the command: %s",
					  strerror(errno));
	}
	*status = WIFSIGNALED(how) ? 128 + WTERMSIG(how) : WEXITSTATUS(how);
	return 0;
}

/* ---- the folders that the runs leave ------------------------------------------------------- */

/* As written, or below $TT_METAL_HOME; NULL if there is no such folder. */
static const char *find_folder(struct ut_arena *a, const char *name)
{
	const char *home = getenv("TT_METAL_HOME");
	const char *below = home ? ut_path_join(a, home, name) : name;

	if (ut_path_is_dir(name))
		return name;
	return ut_path_is_dir(below) ? below : NULL;
}

static bool listed(const struct ut_opt_list *list, const char *name)
{
	for (size_t i = 0; i < list->count; i++) {
		if (!strcmp(list->items[i], name))
			return true;
	}
	return false;
}

/* A folder per line; without the list, the default one. */
static void list_locations(const struct opts *o, struct ut_arena *a, struct ut_opt_list *list)
{
	FILE *f = fopen(ut_path_join(a, o->logs, LOCATIONS), "re");
	const char *folder = ut_path_join(a, o->logs, "ops");
	char *line = NULL;
	size_t cap = 0;
	ssize_t len;

	while (f && (len = getline(&line, &cap, f)) >= 0) {
		while (len && strchr(" \t\r\n/", line[len - 1]))
			len--;
		if (!len)
			continue;
		folder = find_folder(a, ut_arena_copy(a, line, (size_t)len));
		if (folder && !listed(list, folder))
			ut_opt_list_add(list, folder);
	}
	if (!f && ut_path_is_dir(folder))
		ut_opt_list_add(list, folder);
	free(line);
	if (f)
		fclose(f);
}

/* Each location has a folder of its own among the results. */
static const char *output_of(const struct opts *o, struct ut_arena *a, const char *location)
{
	const char *last = ut_path_base(location);

	return ut_path_join(a, o->output, strcmp(last, "ops") ? last : "default");
}

static int report(const struct opts *o, struct ut_arena *a, struct ut_err *err)
{
	struct ut_opt_list locations = { 0 };
	struct ut_ops_files files;
	int rc = 0;

	list_locations(o, a, &locations);
	if (!locations.count)
		rc = ut_err_set(err, -ENOENT, "%s: the command has left no logs of ops; " NOT_BUILT,
				o->logs);
	for (size_t i = 0; !rc && i < locations.count; i++) {
		const char *from = locations.items[i];
		const struct ut_ops_opts ops = { .input = from,
						 .output = output_of(o, a, from),
						 .append = o->append,
						 .format = UT_OPS_SEED };

		rc = ut_ops_run(&ops, a, &files, err);
		if (!rc)
			printf("Post processed %s with results saved in %s\n", from, files.csv);
	}
	ut_opt_list_release(&locations);
	return rc;
}

/* 0 and the command's status, or a failure of ours. */
static int profile(const struct opts *o, struct ut_arena *a, int *status, struct ut_err *err)
{
	int rc = run_once(o, a, true, status, err);

	if (rc || *status)
		return rc;
	if (!ut_path_is_dir(o->logs))
		return ut_err_set(err, -ENOENT,
				  "%s: there is no such folder after the first run; " NOT_BUILT,
				  o->logs);
	/* a list of yesterday must not decide where we look */
	unlink(ut_path_join(a, o->logs, LOCATIONS));
	rc = run_once(o, a, false, status, err);
	return rc || *status ? rc : report(o, a, err);
}

/* ---- the command line ---------------------------------------------------------------------- */

static const struct ut_opt *profile_table(struct ut_arena *a, struct opts *o)
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
		ut_opt_flag('h', "help", &o->help, "show this help"),
		ut_opt_end(),
	};

	return ut_opt_copy(a, table, sizeof(table) / sizeof(table[0]));
}

static int take_words(struct opts *o, const struct ut_words *words, struct ut_arena *a,
		      struct ut_err *err)
{
	const char *home = getenv("TT_METAL_HOME");
	const char *profiler = home ? ut_path_join(a, home, PROFILER) : NULL;

	if (words->count)
		return ut_err_set(err, -EINVAL, "'%s': the command is one word, behind -c",
				  words->items[0]);
	if (!o->command || !*o->command)
		return ut_err_set(err, -EINVAL, "-c COMMAND says what to run");
	o->logs = o->logs ? o->logs : ut_path_join(a, profiler, "logs");
	o->output = o->output ? o->output : ut_path_join(a, profiler, "output/ops");
	return 0;
}

static int cmd_profile_this(int argc, const char *const *argv)
{
	struct opts opts = { 0 };
	struct ut_arena arena = { 0 };
	struct ut_words words = { 0 };
	struct ut_err err = { 0 };
	int rc = ut_words_parse(&words, &arena, profile_table(&arena, &opts), argc, argv, &err);
	int status = UT_EXIT_OK;

	if (!rc && !opts.help)
		rc = take_words(&opts, &words, &arena, &err);
	if (rc)
		status = ut_cmd_misuse(&ut_cmd_profile_this, &err);
	else if (opts.help)
		status = ut_cmd_help(&ut_cmd_profile_this);
	else if (profile(&opts, &arena, &status, &err))
		status = ut_cmd_fail(&ut_cmd_profile_this, &err);
	else if (status)
		ut_log(UT_ERR, "profile-this: the command failed with status %d; no report",
		       status);
	ut_arena_release(&arena);
	return status;
}

static const struct ut_opt *profile_options(struct ut_arena *a)
{
	return profile_table(a, UT_NEW(a, struct opts));
}

const struct ut_cmd ut_cmd_profile_this = {
	.name = "profile-this",
	.usage = "-c COMMAND [OPTIONS]",
	.summary = "run a command of Tenstorrent's libraries twice and report its ops",
	.description =
		"Runs the command with device profiling, then without, and joins what both leave:\n"
		"device times from the first run, host times from the second, which reading the\n"
		"device did not slow down. Writes a report as 'unitrace ops' does for every "
		"folder\n"
		"that the command named for its logs. The environment goes to the command as it "
		"is.\n\n"
		"If the command fails, its exit status is ours, and there is no report.",
	.examples = "  unitrace profile-this -c \"pytest tests/test_residual_block.py\"\n",
	.options = profile_options,
	.run = cmd_profile_this,
};
