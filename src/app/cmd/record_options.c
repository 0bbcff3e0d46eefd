#include "cmd/record_options.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/str.h"
#include "launch/cpu/attach.h"

#define MAX_NAME 64 /* of a session */

void ut_record_opts_init(struct ut_record_opts *o)
{
	*o = (struct ut_record_opts){ .event_buffer = -1 };
	ut_session_plan_init(&o->plan);
}

void ut_record_opts_release(struct ut_record_opts *o)
{
	ut_session_plan_release(&o->plan);
}

/* "1", "0,2,5" */
static bool is_number_list(const char *text)
{
	for (const char *p = text;; p++) {
		if (!isdigit((unsigned char)*p))
			return false;
		while (isdigit((unsigned char)*p))
			p++;
		if (*p != ',')
			return !*p;
	}
}

static int check_numbers(const char *option, const struct ut_opt_list *list, struct ut_err *err)
{
	for (size_t i = 0; i < list->count; i++) {
		if (!is_number_list(list->items[i]))
			return ut_err_set(err, -EINVAL, "%s takes numbers such as 0,2, not '%s'",
					  option, list->items[i]);
	}
	return 0;
}

static int check_file(const char *option, const char *path, struct ut_err *err)
{
	if (path && access(path, R_OK))
		return ut_err_set(err, -EINVAL, "%s: %s: %s", option, path, strerror(errno));
	return 0;
}

static int check_session(const char *option, const char *name, struct ut_err *err)
{
	size_t len = 0;

	if (!name)
		return 0;
	while (isalnum((unsigned char)name[len]) || name[len] == '-' || name[len] == '_')
		len++;
	if (!len || name[len] || len > MAX_NAME)
		return ut_err_set(err, -EINVAL,
				  "%s takes a name of up to %d letters, digits, - and _, not '%s'",
				  option, MAX_NAME, name);
	return 0;
}

/* CUPTI crashes when both are on in turns; whoever wants to find out more has to say how. */
static bool says_how_together(const struct ut_device_opts *d)
{
	for (size_t i = 0; i < d->backend_options.count; i++) {
		if (!strncmp(d->backend_options.items[i], "cuda.together=", 14))
			return true;
	}
	return false;
}

static int check_metrics(const struct ut_device_opts *d, struct ut_err *err)
{
	if (d->metric_query && d->metric_sampling)
		return ut_err_set(err, -EINVAL,
				  "--metric-query (-q) cannot be used together with time-based "
				  "sampling (-k)");
	if (d->metric_query && d->stall_sampling && !says_how_together(d))
		return ut_err_set(err, -EINVAL,
				  "--metric-query (-q) cannot be used together with "
				  "--stall-sampling: drivers do one at a time; record twice");
	if (d->stall_sampling && !d->metric_query && d->group &&
	    strcmp(d->group, "EuStallSampling"))
		return ut_err_set(err, -EINVAL,
				  "--stall-sampling cannot be used together with another metric "
				  "group (--group %s)",
				  d->group);
	if (d->reset_event && strcmp(d->reset_event, "0") && strcmp(d->reset_event, "1"))
		return ut_err_set(err, -EINVAL, "--reset-event-on-device takes 0 or 1, not '%s'",
				  d->reset_event);
	return 0;
}

static int check_via(const char *via, struct ut_err *err)
{
	if (via && strcmp(via, "auto") && strcmp(via, "layer") && strcmp(via, "icd"))
		return ut_err_set(err, -EINVAL, "--opencl-via takes auto, layer or icd, not '%s'",
				  via);
	return 0;
}

static int check_device(const struct ut_device_opts *d, struct ut_err *err)
{
	int rc = check_metrics(d, err);

	if (!rc)
		rc = check_file("--metric-file", d->metric_file, err);
	if (!rc)
		rc = check_numbers("--ranks-to-sample", &d->ranks, err);
	if (!rc)
		rc = check_numbers("--devices-to-sample", &d->devices, err);
	if (!rc)
		rc = check_file("--chrome-kmd-logging", d->kmd_script, err);
	if (!rc)
		rc = check_file("--include-kernels-file", d->include_file, err);
	if (!rc)
		rc = check_file("--exclude-kernels-file", d->exclude_file, err);
	if (!rc)
		rc = check_via(d->opencl_via, err);
	return rc;
}

static int check_sessions(const struct ut_record_opts *o, struct ut_err *err)
{
	int rc = check_session("--session", o->plan.name, err);

	if (!rc)
		rc = check_session("--pause", o->pause, err);
	if (!rc)
		rc = check_session("--resume", o->resume, err);
	if (!rc)
		rc = check_session("--stop", o->stop, err);
	return rc;
}

static int check_empty(const char *option, const char *value, struct ut_err *err)
{
	if (value && !value[0])
		return ut_err_set(err, -EINVAL, "%s needs a name that is not empty", option);
	return 0;
}

int ut_record_check(struct ut_record_opts *o, struct ut_err *err)
{
	int rc;

	if (o->plan.out.result_dir && (o->plan.out.dir || o->plan.out.output))
		return ut_err_set(err, -EINVAL,
				  "--result-dir cannot be used together with --output-dir-path or "
				  "--output");
	if (!o->view.on && (o->view.opts.once || o->view.opts.port || o->view.opts.no_browser))
		return ut_err_set(err, -EINVAL, "--once, --port and --no-browser belong to --view");
	o->plan.shapes = o->verbose;
	if (o->plan.sampling.duration && !o->plan.sampling.pid)
		return ut_err_set(err, -EINVAL,
				  "--duration belongs to --attach and --all-processes");
	if (o->plan.sampling.pid && o->plan.sampling.by == UT_SAMPLING_TIMER)
		return ut_err_set(err, -EINVAL,
				  "--sampling-by timer is for programs that are started here: a "
				  "process that is running has no timers of ours");
	if (o->plan.sampling.waits && !o->plan.sampling.hz)
		return ut_err_set(err, -EINVAL, "--sampling-waits belongs to --sampling");
	if (o->plan.sampling.pid && !o->plan.sampling.hz)
		o->plan.sampling.hz = UT_SAMPLING_HZ;
	o->plan.out.together =
		(o->plan.sampling.hz || o->plan.memory.on) && !o->plan.out.result_dir;
	rc = check_empty("--output", o->plan.out.output, err);
	if (!rc)
		rc = check_empty("--output-dir-path", o->plan.out.dir, err);
	if (!rc)
		rc = check_empty("--result-dir", o->plan.out.result_dir, err);
	if (!rc)
		rc = check_empty("--spool-dir", o->plan.spool_dir, err);
	if (!rc)
		rc = check_sessions(o, err);
	if (!rc)
		rc = check_device(&o->plan.device, err);
	if (!rc)
		rc = ut_session_plan_check_metrics(&o->plan, err);
	if (!rc)
		rc = ut_python_check(&o->plan.python, err);
	if (!rc)
		rc = ut_output_finalize_formats(&o->plan.out, err);
	return rc;
}

int ut_record_attach(struct ut_record_opts *o, struct ut_arena *a, int words, struct ut_err *err)
{
	const char **argv = UT_NEW_N(a, const char *, 2);
	pid_t pid = (pid_t)o->plan.sampling.pid;
	char name[64];

	if (words)
		return ut_err_set(err, -EINVAL,
				  "a program, --attach and --all-processes exclude each other");
	if (o->plan.memory.on || o->plan.python.on || o->plan.mpi || o->plan.ccl || o->plan.dnn ||
	    o->plan.groups || ut_session_plan_want(&o->plan))
		return ut_err_set(err, -EINVAL,
				  "%s takes CPU samples and nothing else: ITT, memory, Python, MPI "
				  "and devices take a program that is started",
				  pid > 0 ? "--attach" : "--all-processes");
	if (pid > 0 && !ut_attach_name(pid, name, sizeof(name)))
		return ut_err_set(err, -EINVAL, "--attach %ld: there is no such process",
				  (long)pid);
	argv[0] = pid > 0 ? ut_arena_copy(a, name, strlen(name)) : "system";
	o->plan.argv = argv;
	o->plan.argc = 1;
	return 0;
}

static bool is_in_use(const struct ut_opt *row)
{
	switch (row->type) {
	case UT_OPT_FLAG:
		return *row->dst.flag;
	case UT_OPT_STR:
		return *row->dst.str != NULL;
	case UT_OPT_U64:
		return *row->dst.u64 != 0;
	case UT_OPT_LIST:
		return row->dst.list->count != 0;
	case UT_OPT_CALL:
	case UT_OPT_END:
	case UT_OPT_HEADING:
		break;
	}
	return false;
}

const char *ut_record_unsupported(struct ut_arena *a, const struct ut_opt *table)
{
	struct ut_buf names = { 0 };
	bool unsupported = false;

	for (const struct ut_opt *row = table; row->type; row++) {
		if (row->type == UT_OPT_HEADING)
			unsupported = !strcmp(row->help, UT_RECORD_UNSUPPORTED_HEADING);
		else if (unsupported && is_in_use(row))
			ut_buf_fmt(&names, "%s--%s", names.len ? ", " : "", row->name);
	}
	return ut_buf_take(&names, a);
}
