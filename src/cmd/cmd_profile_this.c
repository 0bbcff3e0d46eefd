/*
 * cmd_profile_this.c - `unitrace profile-this`: a command twice, then the report of its ops.
 *
 * Reading what the device has noted slows the host down, so the device's times come from one run
 * and the host's from another, joined by op and the number of its call. tt-metal's profiler leaves
 * folders of logs, which `ops` joins; other programs we record ourselves.
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/opt.h"
#include "base/path.h"
#include "base/str.h"
#include "cmd/profile_options.h"
#include "cmd/profile_run.h"
#include "cmd/profile_stitch.h"
#include "cmd/profile_tt.h"
#include "cmd/tt_home.h"
#include "cmd/words.h"
#include "export/out_check.h"

/* ---- two runs ------------------------------------------------------------------------------ */

/* One command line on its way: where its traces go, what the command said. */
struct profile {
	const struct ut_profile_opts *o;
	struct ut_arena *arena;
	const char *runs;                /* the folder of what we record ourselves */
	struct ut_profile_traces traces; /* folders in it */
	time_t began;
	int status;
};

/* The second run, for logs of tt-metal, and the reports. */
static int finish_tt(struct profile *p, struct ut_err *err)
{
	const struct ut_profile_opts *o = p->o;
	const struct ut_profile_run plain = { 0 };
	int rc;

	if (!ut_path_is_dir(o->logs))
		return ut_err_set(err, -ENOENT,
				  "%s: there is no such folder after the first run; %s", o->logs,
				  UT_PROFILE_NOT_BUILT);
	/* a list of yesterday must not decide where we look */
	ut_profile_tt_forget(o, p->arena);
	rc = ut_profile_run(o, &plain, p->arena, &p->status, err);
	if (!rc && p->status) {
		ut_log(UT_ERR,
		       "profile-this: the second run failed with status %d: no report; device logs "
		       "of the first are still in %s",
		       p->status, o->logs);
		return 0;
	}
	return rc ? rc : ut_profile_tt_report(o, p->began, p->arena, err);
}

/* The same for what we have recorded. A second run that fails costs only its host times. */
static int finish_own(struct profile *p, struct ut_err *err)
{
	const struct ut_profile_run host = { .trace = ut_path_join(p->arena, p->traces.host,
								   "host.utr") };
	int rc = ut_profile_run(p->o, &host, p->arena, &p->status, err);

	if (rc)
		return rc;
	if (p->status)
		ut_log(UT_WARN,
		       "the second run failed with status %d: the report has host times of the "
		       "first, with device profiling",
		       p->status);
	if (p->status || !ut_path_exists(host.trace))
		p->traces.host = NULL;
	return ut_profile_stitch(p->o, &p->traces, p->arena, err);
}

/* Folders for our traces, without what an earlier run left in them. */
static int make_folders(struct profile *p, struct ut_err *err)
{
	const char *append = p->o->append;
	const char *name = ut_str_fmt(p->arena, "profile_log_ops%s%s.runs", append ? "_" : "",
				      append ? append : "");
	int rc;

	p->runs = ut_path_join(p->arena, p->o->output, name);
	p->traces.devices = ut_path_join(p->arena, p->runs, "with_devices");
	p->traces.host = ut_path_join(p->arena, p->runs, "host_only");
	rc = ut_path_remove_tree(p->runs, err);
	if (!rc)
		rc = ut_path_mkdirs(p->traces.devices, err);
	return rc ? rc : ut_path_mkdirs(p->traces.host, err);
}

/* What the first run has left decides who goes on. */
static int finish(struct profile *p, bool tt, bool recorded, struct ut_err *err)
{
	bool logs = ut_path_is_dir(p->o->logs);

	if (!tt && !logs && recorded)
		return finish_own(p, err);
	if (!tt && !logs)
		return ut_err_set(
			err, -ENODATA,
			"nothing was recorded: the command has neither used CUDA or OpenCL "
			"nor marked tasks, and left no logs in %s; %s",
			p->o->logs, UT_PROFILE_NOT_BUILT);
	return finish_tt(p, err);
}

/* 0 and the command's status, or a failure of ours. */
static int profile(struct profile *p, struct ut_err *err)
{
	bool tt = ut_profile_tt_expected(p->o);
	struct ut_profile_run first = { .device = true };
	bool recorded;
	int rc = ut_out_check_folder(p->o->output, err);

	if (!rc)
		rc = tt ? ut_profile_tt_probe(p->arena, err) : make_folders(p, err);
	if (rc)
		return rc;
	if (!tt)
		first.trace = ut_path_join(p->arena, p->traces.devices, "devices.utr");
	rc = ut_profile_run(p->o, &first, p->arena, &p->status, err);
	recorded = !rc && !tt && ut_path_exists(first.trace);
	if (!rc && !tt && !recorded)
		rc = ut_path_remove_tree(p->runs, err);
	if (rc)
		return rc;
	if (p->status) {
		ut_log(UT_ERR, "profile-this: the command failed with status %d; no report%s%s",
		       p->status, recorded ? ", what was recorded is in " : "",
		       recorded ? p->traces.devices : "");
		return 0;
	}
	return finish(p, tt, recorded, err);
}

/* ---- the command line ---------------------------------------------------------------------- */

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

static const struct ut_opt *profile_table(struct ut_arena *a, struct ut_profile_opts *o)
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
		ut_opt_flag('h', "help", &o->help, "show this help"),
		ut_opt_end(),
	};

	return ut_opt_copy(a, table, sizeof(table) / sizeof(table[0]));
}

static int take_words(struct ut_profile_opts *o, const struct ut_words *words, struct ut_arena *a,
		      struct ut_err *err)
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

static int cmd_profile_this(int argc, const char *const *argv)
{
	struct ut_profile_opts opts = { 0 };
	struct ut_arena arena = { 0 };
	struct ut_words words = { 0 };
	struct profile p = { .o = &opts, .arena = &arena, .began = time(NULL) };
	struct ut_err err = { 0 };
	int rc = ut_words_parse(&words, &arena, profile_table(&arena, &opts), argc, argv, &err);
	int status = UT_EXIT_OK;

	if (!rc && !opts.help)
		rc = take_words(&opts, &words, &arena, &err);
	if (rc)
		status = ut_cmd_misuse(&ut_cmd_profile_this, &err);
	else if (opts.help)
		status = ut_cmd_help(&ut_cmd_profile_this);
	else if (profile(&p, &err))
		status = ut_cmd_fail(&ut_cmd_profile_this, &err);
	else
		status = p.status;
	ut_arena_release(&arena);
	return status;
}

static const struct ut_opt *profile_options(struct ut_arena *a)
{
	return profile_table(a, UT_NEW(a, struct ut_profile_opts));
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
