#include "session/profile_twice.h"

#include <errno.h>
#include <time.h>

#include "base/arena.h"
#include "base/logger.h"
#include "base/path.h"
#include "base/str.h"
#include "export/out_check.h"
#include "ops/stitch.h"
#include "session/profile_run.h"
#include "session/profile_tt.h"

/* One command line on its way: where its traces go, what the command said. */
struct profile {
	const struct ut_profile_opts *o;
	struct ut_arena *arena;
	const char *runs;             /* the folder of what we record ourselves */
	struct ut_stitch_runs traces; /* folders in it */
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
		ut_logger_log(
			o->logger, UT_ERR,
			"profile-this: the second run failed with status %d: no report; device "
			"logs "
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
		ut_logger_log(
			p->o->logger, UT_WARN,
			"the second run failed with status %d: the report has host times of the "
			"first, with device profiling",
			p->status);
	if (p->status || !ut_path_exists(host.trace))
		p->traces.host = NULL;
	rc = ut_ops_stitch(&p->traces, p->arena, err);
	if (!rc)
		p->o->reported(p->o->ctx, p->traces.devices,
			       ut_str_fmt(p->arena, "%s.csv", p->traces.report));
	return rc;
}

/* Folders for our traces, without what an earlier run left in them. */
static int make_folders(struct profile *p, struct ut_err *err)
{
	const char *append = p->o->append;
	const char *name = ut_str_fmt(p->arena, "profile_log_ops%s%s", append ? "_" : "",
				      append ? append : "");
	int rc;

	p->traces.logger = p->o->logger;
	p->traces.report = ut_path_join(p->arena, p->o->output, name);
	p->runs = ut_str_fmt(p->arena, "%s.runs", p->traces.report);
	p->traces.devices = ut_path_join(p->arena, p->runs, "with_devices");
	p->traces.host = ut_path_join(p->arena, p->runs, "host_only");
	rc = ut_path_remove_tree(p->runs, err);
	if (!rc)
		rc = ut_path_mkdirs(p->traces.devices, err);
	return rc ? rc : ut_path_mkdirs(p->traces.host, err);
}

/* What the first run has left decides who goes on. */
static int profile_twice_finish(struct profile *p, bool tt, bool recorded, struct ut_err *err)
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

static int profile(struct profile *p, struct ut_err *err)
{
	bool tt = ut_profile_tt_expected(p->o);
	struct ut_profile_run first = { .device = true };
	bool recorded;
	int rc = ut_out_check_folder(p->o->output, err);

	if (!rc)
		rc = tt ? ut_profile_tt_probe(p->o, p->arena, err) : make_folders(p, err);
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
		ut_logger_log(p->o->logger, UT_ERR,
			      "profile-this: the command failed with status %d; no report%s%s",
			      p->status, recorded ? ", what was recorded is in " : "",
			      recorded ? p->traces.devices : "");
		return 0;
	}
	return profile_twice_finish(p, tt, recorded, err);
}

int ut_profile(const struct ut_profile_opts *o, struct ut_arena *a, int *status, struct ut_err *err)
{
	struct profile p = { .o = o, .arena = a, .began = time(NULL) };
	int rc = profile(&p, err);

	*status = p.status;
	return rc;
}
