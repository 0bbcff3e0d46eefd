/*
 * cmd_record.c - `unitrace record`, which is also plain `unitrace PROGRAM`.
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/str.h"
#include "cmd/record_options.h"
#include "cmd/record_run.h"
#include "launch/library.h"
#include "launch/run.h"
#include "metrics/metric_groups.h"
#include "session/device_list.h"
#include "session/session_run.h"
#include "wire/control.h"
#include "wire/process.h"

/* ---- what is done at once ------------------------------------------------------------------ */

static void add_session(void *ctx, const char *name)
{
	struct ut_buf *names = ctx;

	ut_buf_fmt(names, "%s%s", names->len ? ", " : "", name);
}

/* Nobody uses the name: a slip, or the programs have ended. */
static void report_no_session(const char *name)
{
	struct ut_buf names = { 0 };

	ut_named_each(add_session, &names);
	if (names.len)
		ut_log(UT_ERR, "no session named '%s' is running; these are: %s", name, names.data);
	else
		ut_log(UT_ERR,
		       "no session named '%s' is running, nor any other; --session NAME gives "
		       "a run its name",
		       name);
	ut_buf_release(&names);
}

/* False if there is nothing to control. */
static bool control_one(const char *name, enum ut_state state, const char *done)
{
	struct ut_err err = { 0 };
	int before;

	if (!name)
		return true;
	before = ut_named_set(name, state, &err);
	if (before == -ENOENT)
		report_no_session(name);
	else if (before == UT_STATE_STOPPED)
		ut_log_classic(UT_WARN, "Session %s is already stopped", name);
	else if (before < 0)
		ut_log(UT_ERR, "%s", err.text);
	else
		ut_log_classic(UT_INFO, "Session %s is %s", name, done);
	return before >= 0;
}

static void print_device(void *ctx, const char *text)
{
	(void)ctx;
	printf("Device #%s\n", text);
}

static void list_devices(struct ut_arena *a)
{
	const struct ut_device_listener listener = { .device = print_device,
						     .logger = ut_log_stderr() };
	struct ut_err err = { 0 };
	const char *library;

	if (ut_library_find(a, &library, &err))
		ut_log(UT_ERR, "%s", err.text);
	else if (!ut_device_list(a, ut_inject_backend_dir(a, library), &listener))
		ut_log_classic(UT_WARN, "No devices found");
}

static void print_group(void *ctx, const char *text)
{
	size_t *count = ctx;

	printf("%sGroup %zu: %s\n", *count ? "\n" : "", *count, text);
	++*count;
}

static void print_metric(void *ctx, const char *text)
{
	(void)ctx;
	printf("\tMetric %s\n", text);
}

/* Those of drivers; how many groups there are. */
static size_t list_driver_metrics(struct ut_arena *a)
{
	size_t count = 0;
	const struct ut_device_listener listener = { .group = print_group,
						     .metric = print_metric,
						     .ctx = &count,
						     .logger = ut_log_stderr() };
	const char *library;

	if (!ut_library_find(a, &library, NULL))
		ut_device_list(a, ut_inject_backend_dir(a, library), &listener);
	return count;
}

static bool list_metrics(struct ut_arena *a, const char *file)
{
	struct ut_metric_groups groups;
	struct ut_buf text = { 0 };
	struct ut_err err = { 0 };
	int rc;

	ut_metric_groups_init(&groups);
	rc = file ? ut_metric_groups_open(&groups, file, &err) : 0;
	if (rc)
		ut_log(UT_ERR, "%s", err.text);
	else
		ut_metric_groups_print(&groups, list_driver_metrics(a), &text);
	if (text.len)
		fputs(text.data, stdout);
	ut_buf_release(&text);
	ut_metric_groups_release(&groups);
	return !rc;
}

/* Options that do something at once: the exit status, -1 if there is none of them. */
static int act_at_once(struct ut_arena *a, const struct ut_record_opts *o)
{
	bool ok = true;

	if (!o->pause && !o->resume && !o->stop && !o->device_list && !o->metric_list)
		return -1;
	ok &= control_one(o->pause, UT_STATE_PAUSED, "paused");
	ok &= control_one(o->resume, UT_STATE_RUNNING, "resumed");
	ok &= control_one(o->stop, UT_STATE_STOPPED,
			  "stopped and can no longer be paused or resumed");
	if (o->device_list)
		list_devices(a);
	if (o->metric_list)
		ok &= list_metrics(a, o->plan.device.metric_file);
	return ok ? UT_EXIT_OK : UT_EXIT_FAILED;
}

/* Intel's unitrace says this, too, and goes on. */
static void warn_metrics(const struct ut_device_opts *d)
{
	bool any = d->metric_query || d->metric_sampling || d->stall_sampling;

	if (!any && (d->group || d->interval_us || d->instances || d->metric_file))
		ut_log(UT_WARN, "metrics are not asked for (-q, -k or --stall-sampling); without "
				"effect: --group, --sampling-interval, --metric-instances and "
				"--metric-file");
	if (d->instances && any && !d->metric_query)
		ut_log(UT_WARN, "--metric-instances belongs to -q; without effect here");
}

static void warn_unsupported(struct ut_arena *a, const struct ut_record_opts *o,
			     const struct ut_opt *table)
{
	const char *names = ut_record_unsupported(a, table);

	if (names[0])
		ut_log(UT_WARN, "accepted for old scripts' sake; without effect: %s", names);
	warn_metrics(&o->plan.device);
	if (o->plan.device.ranks.count && ut_process_rank() < 0)
		ut_log(UT_WARN, "--ranks-to-sample: this is no rank of an MPI job; devices are "
				"recorded");
}

static void set_logging(const struct ut_record_opts *o)
{
	if (o->plan.out.quiet)
		ut_log_set_level(UT_WARN);
	if (o->verbose)
		ut_log_debug("cmd,launch");
	if (o->debug)
		ut_log_debug(o->debug);
}

/* -h is help everywhere else; here it is what it is in Intel's unitrace. */
static int explain_h(void)
{
	int status = ut_cmd_overview(false);

	printf("\n-h before a program is --host-timing: a table of the time spent in runtime "
	       "calls.\n--help shows all options.\n");
	return status;
}

/* There is no program: all that can be done without one. */
static int without_program(const struct ut_record_opts *o, struct ut_arena *a, int argc)
{
	int status = act_at_once(a, o);
	struct ut_err err = { 0 };

	if (status >= 0)
		return status;
	if (argc == 1 && o->plan.device.host_timing)
		return explain_h();
	ut_err_set(&err, -EINVAL, "no program to record");
	return ut_cmd_misuse(&ut_cmd_record, &err);
}

static int record_start(struct ut_record_opts *o, struct ut_arena *a, int argc,
			const char *const *argv, struct ut_session_result *result)
{
	const struct ut_opt *table = ut_record_table(a, o);
	struct ut_err err = { 0 };
	int left = ut_opt_parse(table, argc, argv, &err);

	if (left >= 0 && o->help)
		return ut_cmd_help(&ut_cmd_record);
	if (left >= 0 && o->version)
		return ut_cmd_version();
	if (left < 0 || ut_record_check(o, &err))
		return ut_cmd_misuse(&ut_cmd_record, &err);
	set_logging(o);
	if (left == argc && !o->plan.sampling.pid)
		return without_program(o, a, argc);
	act_at_once(a, o);
	warn_unsupported(a, o, table);
	o->plan.own_count = left;
	o->plan.own = argv;
	o->plan.argc = argc - left;
	o->plan.argv = argv + left;
	if (o->plan.sampling.pid && ut_record_attach(o, a, argc - left, &err))
		return ut_cmd_misuse(&ut_cmd_record, &err);
	return ut_record_run(&(struct ut_record_run){ .cmd = &ut_cmd_record,
						      .plan = &o->plan,
						      .view = &o->view,
						      .event_log = o->event_log },
			     result);
}

static int cmd_record(int argc, const char *const *argv)
{
	struct ut_session_result result = { 0 };
	struct ut_record_opts opts;
	struct ut_arena arena = { 0 };
	int status;

	ut_record_opts_init(&opts);
	status = record_start(&opts, &arena, argc, argv, &result);
	ut_record_opts_release(&opts);
	ut_arena_release(&arena);
	if (status < 0)
		ut_launch_end_as(result.status);
	return status;
}

static const struct ut_opt *record_options(struct ut_arena *a)
{
	struct ut_record_opts *o = UT_NEW(a, struct ut_record_opts);

	ut_record_opts_init(o);
	return ut_record_table(a, o);
}

const struct ut_cmd ut_cmd_record = {
	.name = "record",
	.usage = "[OPTIONS] PROGRAM [ARGUMENTS]",
	.summary = "run a program and record what it does (the default)",
	.description =
		"Runs PROGRAM and records its ITT marks: tasks, frames, counters and the rest,\n"
		"and on request what it does on devices through CUDA and OpenCL.\n"
		"Afterwards there is one timeline per process, PROGRAM.PID.json, for\n"
		"https://ui.perfetto.dev or any viewer of Chrome traces, and a table of tasks on\n"
		"stderr. Whatever ends the program, what it recorded until then is written.\n"
		"\n"
		"The word record may be left out. unitrace ends as the program ended: with its\n"
		"exit status, or by the same signal. 125 says that unitrace itself failed, 126\n"
		"that the program cannot be executed, 127 that there is none, 2 that the\n"
		"command line was wrong. Long options may be shortened.",
	.examples = "  unitrace ./app\n"
		    "  unitrace -o run.json --itt-domains 'my.*' ./app --size 10\n"
		    "  unitrace --chrome-kernel-logging python train.py\n"
		    "  mpiexec -n 4 unitrace --chrome-ccl-logging python train.py\n"
		    "  unitrace --keep-last 64M ./server\n"
		    "  unitrace --view ./app\n",
	.options = record_options,
	.run = cmd_record,
};
