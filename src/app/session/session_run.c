#include "session/session_run.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/path.h"
#include "launch/control_watch.h"
#include "launch/cpu/attach.h"
#include "launch/library.h"
#include "launch/peer_clock.h"
#include "launch/run.h"
#include "launch/session.h"
#include "session/gather.h"
#include "session/growth.h"
#include "session/kmd.h"
#include "session/lifetimes.h"
#include "session/output_check.h"
#include "session/reserve.h"
#include "session/run_config.h"
#include "session/sampling.h"
#include "session/timed.h"
#include "unitrace/backend.h"
#include "wire/control.h"
#include "wire/process.h"

/* One run on its way. */
struct run {
	const struct ut_session_plan *plan;
	struct ut_session_client client;
	struct ut_arena arena;
	struct ut_session session;
	struct ut_launch_result program;
	struct ut_growth growth;
	struct ut_lifetimes lifetimes;
	struct ut_sampling sampling;
	struct ut_kmd kmd;
	struct ut_peer_clock *clock;
	struct ut_timed timed;
	enum ut_control_access access;
};

static void session_run_warn(const struct run *r, const struct ut_err *err)
{
	ut_session_notify_text(
		&r->client,
		(struct ut_session_event){ .kind = UT_SESSION_EVENT_REMARK, .level = UT_WARN },
		"%s", err->text);
}

/* ---- before the program -------------------------------------------------------------------- */

/* A folder that is the same for all processes; where a pattern makes others of it, the current one.
 */
static const char *common_folder(struct run *r, const char *dir)
{
	const char *plain;

	if (!dir || ut_output_has_pattern(dir) ||
	    ut_output_expand(&r->arena, dir, &(struct ut_output_who){ 0 }, &plain, NULL))
		return ".";
	return plain;
}

static const char *results_folder(struct run *r)
{
	const struct ut_output_opts *o = &r->plan->out;
	const char *dir = o->result_dir ? o->result_dir : o->dir;

	if (ut_output_is_timeline(o))
		dir = ut_path_join(&r->arena, dir, ut_path_dir(&r->arena, o->output));
	return common_folder(r, dir);
}

static int join_named(struct run *r, struct ut_err *err)
{
	const struct ut_session_plan *p = r->plan;
	bool reused;
	int rc;

	if (!p->name)
		return 0;
	rc = ut_session_join(&r->session, p->name, &reused, err);
	if (rc)
		return rc;
	/* Ranks of one job share the name on purpose. */
	if (reused && r->session.control->rank < 0)
		ut_session_notify_text(
			&r->client,
			(struct ut_session_event){ .kind = UT_SESSION_EVENT_SHARED_NAME,
						   .level = UT_WARN },
			"Session %s was not stopped before reusing", p->name);
	if (p->start_paused && !reused)
		rc = ut_named_set(p->name, UT_STATE_PAUSED, err);
	return rc < 0 ? rc : 0;
}

static int session_run_prepare(struct run *r, struct ut_err *err)
{
	const char *results = results_folder(r);
	const char *parent = r->plan->spool_dir ? r->plan->spool_dir : results;
	int rc = ut_session_create(&r->session, &r->arena, parent, r->plan->argv[0], err);

	if (!rc) {
		r->session.control->disk_reserve =
			ut_reserve_begin(r->plan, r->session.dir, results, &r->client);
		rc = ut_session_plan_apply(r->plan, r->session.control, &r->client, err);
	}
	if (!rc)
		rc = join_named(r, err);
	if (!rc)
		ut_timed_begin(&r->timed, r->plan, r->session.control);
	return rc;
}

/* ---- the program --------------------------------------------------------------------------- */

static enum ut_opencl_inject opencl_inject(const char *via)
{
	if (!via || !strcmp(via, "auto"))
		return UT_OPENCL_AUTO;
	return !strcmp(via, "icd") ? UT_OPENCL_ICD : UT_OPENCL_LAYER;
}

static int find_library(struct run *r, const char **path, struct ut_err *err)
{
	if (!r->plan->library)
		return ut_library_find(&r->arena, path, err);
	*path = r->plan->library;
	return ut_library_check(*path, err);
}

static void each_second(void *ctx)
{
	struct run *r = ctx;

	ut_growth_look(&r->growth);
	ut_lifetimes_look(&r->lifetimes);
	if (r->kmd.pipe >= 0 && ut_reserve_reached(r->session.control->disk_reserve, r->kmd.dir)) {
		close(r->kmd.pipe); /* bpftrace ends with its command */
		r->kmd.pipe = -1;
		ut_session_notify_text(
			&r->client,
			(struct ut_session_event){ .kind = UT_SESSION_EVENT_REMARK,
						   .level = UT_WARN },
			"--chrome-kmd-logging ended early: the disk came down to its reserve "
			"(--disk-reserve)");
	}
}

/* In a job on several hosts: how do their clocks compare? Where results go, its launchers meet. */
static void compare_clocks(struct run *r)
{
	const struct ut_output_opts *o = &r->plan->out;
	const char *dir = o->result_dir ? ut_path_dir(&r->arena, o->result_dir) : o->dir;
	struct ut_process_job job;

	ut_process_job(&job);
	if (r->plan->no_peer_clocks || job.rank < 0 || job.ranks == 1 ||
	    (job.ranks && job.ranks == job.local))
		return;
	r->clock = ut_peer_clock_start(&(struct ut_peer_clock_opts){
		.folder = common_folder(r, dir), .session = r->session.dir, .job = job.id });
}

static uint64_t at_alarm(void *ctx, uint64_t now)
{
	struct run *r = ctx;

	return ut_timed_look(&r->timed, now);
}

static void before_exec(void *ctx, pid_t pid)
{
	struct run *r = ctx;

	compare_clocks(r);
	ut_lifetimes_watch(&r->lifetimes, (uint32_t)pid);
	ut_sampling_start(&r->sampling, pid);
}

/* Starts the program and waits for it. */
static int launch(struct run *r, struct ut_err *err)
{
	const struct ut_session_plan *p = r->plan;
	const struct ut_logger logger = ut_session_logger(&r->client);
	struct ut_python_vars vars;
	struct ut_launch l = {
		.argv = p->argv,
		.session_dir = r->session.dir,
		.preload = p->start_paused && !p->name,
		.ccl = p->ccl || p->ccl_report,
		.devices = (r->session.control->want & ~UT_WANT_MEMORY) != 0,
		.metrics = (r->session.control->want & UT_WANT_METRICS) != 0,
		.mpi = p->mpi,
		.sycl = p->device.chrome_sycl,
		.memory = p->memory.on,
		.opencl = opencl_inject(p->device.opencl_via),
		.vars = vars.items,
		.logger = &logger,
		.control = r->session.control,
		.each_second = each_second,
		.at_alarm = at_alarm,
		.before_exec = before_exec,
		.ctx = r,
	};
	int watch_fd, rc = find_library(r, &l.library, err);

	if (!rc)
		rc = ut_python_open(&p->python, &r->arena, l.library, l.session_dir, &vars, err);
	if (rc)
		return rc;
	l.var_count = vars.count;
	r->sampling =
		(struct ut_sampling){ .plan = p, .client = &r->client, .session = &r->session };
	ut_sampling_prepare(&r->sampling, &r->arena, l.library, &l.also);
	l.argv = ut_python_argv(&p->python, &r->arena, l.library, p->argv);
	ut_session_notify(&r->client, (struct ut_session_event){ .kind = UT_SESSION_EVENT_STARTING,
								 .level = UT_DEBUG,
								 .path = l.session_dir });
	if (p->sampling.hz && (p->keep_bytes || p->keep_ns))
		ut_session_notify_text(
			&r->client,
			(struct ut_session_event){ .kind = UT_SESSION_EVENT_REMARK,
						   .level = UT_WARN },
			"--keep-last does not limit CPU samples: all of them are kept");
	if (!p->out.quiet && !p->keep_bytes && !p->keep_ns)
		ut_growth_init(&r->growth, l.session_dir, p->python.on, &r->client);
	watch_fd = ut_control_watch(l.session_dir);
	ut_kmd_start(&r->kmd, &r->arena, p->device.kmd_script, r->session.dir, &r->client);
	r->lifetimes.dir = r->session.dir;
	rc = ut_launch_run(&l, &r->arena, &r->program, err);
	ut_growth_end(&r->growth);
	if (!rc)
		ut_lifetimes_ended(&r->lifetimes, (uint32_t)r->program.pid, r->program.status);
	ut_kmd_stop(&r->kmd, &r->arena, &r->client);
	ut_peer_clock_stop(r->clock);
	r->clock = NULL;
	r->access = ut_control_watch_result(watch_fd);
	if (watch_fd >= 0)
		close(watch_fd);
	return rc;
}

/* Instead of a program: a process that is there already. */
static int session_run_attach(struct run *r, struct ut_err *err)
{
	pid_t pid = (pid_t)r->plan->sampling.pid;
	int rc = ut_sampling_attach(&r->sampling, pid, err);

	if (rc)
		return rc;
	r->program.pid = pid;
	if (!r->plan->out.quiet)
		ut_session_notify_text(&r->client,
				       (struct ut_session_event){ .kind = UT_SESSION_EVENT_REMARK,
								  .level = UT_INFO },
				       "sampling %s%s", r->plan->argv[0],
				       r->plan->sampling.duration ? "" : "; Ctrl-C ends it");
	ut_attach_wait(pid, r->plan->sampling.duration);
	ut_sampling_stop(&r->sampling);
	return 0;
}

/* ---- after the program --------------------------------------------------------------------- */

static int after(struct run *r, struct ut_err *err)
{
	const struct ut_session_plan *p = r->plan;
	const struct ut_gather gather = { .plan = p,
					  .client = &r->client,
					  .session = &r->session,
					  .arena = &r->arena,
					  .growth = &r->growth,
					  .lifetimes = &r->lifetimes,
					  .sampling = &r->sampling,
					  .pid = (uint32_t)r->program.pid,
					  .status = r->program.status,
					  .access = r->access };
	struct ut_err config_err = { 0 };

	/* for those who watch from afar */
	atomic_store(&r->session.control->ended, UT_CONTROL_ENDED | (uint32_t)r->program.status);
	ut_session_notify(&r->client, (struct ut_session_event){ .kind = UT_SESSION_EVENT_ENDED,
								 .path = r->session.dir,
								 .status = r->program.status });
	if (p->out.result_dir && ut_run_config_write(p->out.result_dir, p->own_count, p->own,
						     p->argc, p->argv, &config_err))
		session_run_warn(r, &config_err);
	return ut_gather(&gather, err);
}

/* There is no recording: told, and what was prepared for it goes away. */
static void session_run_give_up(struct run *r, int rc, const struct ut_err *err)
{
	struct ut_err remove_err = { 0 };

	r->sampling.timers = false; /* nobody has run: nothing was missed */
	ut_sampling_stop(&r->sampling);
	if (rc)
		ut_session_notify_text(&r->client,
				       (struct ut_session_event){ .kind = UT_SESSION_EVENT_FAILED,
								  .level = UT_ERR,
								  .code = rc },
				       "%s", err->text[0] ? err->text : strerror(-rc));
	else
		ut_session_notify(&r->client,
				  (struct ut_session_event){ .kind = UT_SESSION_EVENT_NOT_STARTED,
							     .level = UT_ERR,
							     .path = r->plan->argv[0],
							     .code = r->program.exec_errno });
	if (ut_session_remove(&r->session, &remove_err))
		session_run_warn(r, &remove_err);
}

/* ---- all of it ----------------------------------------------------------------------------- */

int ut_session_check(const struct ut_session_plan *plan, const struct ut_session_client *client,
		     struct ut_err *err)
{
	const struct ut_output_who who = { .app = ut_path_base(plan->argv[0]),
					   .pid = (uint32_t)getpid(),
					   .rank = ut_process_rank(),
					   .first = true };

	return ut_output_check(&plan->out, &who, client, err);
}

int ut_session_run(const struct ut_session_plan *plan, const struct ut_session_client *client,
		   struct ut_session_result *result, struct ut_err *err)
{
	struct run r = { .plan = plan, .session.named_fd = -1 };
	int rc;

	if (client)
		r.client = *client;
	rc = session_run_prepare(&r, err);
	r.sampling =
		(struct ut_sampling){ .plan = plan, .client = &r.client, .session = &r.session };
	if (!rc)
		rc = plan->sampling.pid ? session_run_attach(&r, err) : launch(&r, err);
	*result = (struct ut_session_result){ .ran = !rc && !r.program.exec_errno,
					      .status = r.program.status,
					      .exec_errno = r.program.exec_errno };
	if (result->ran)
		rc = after(&r, err);
	else
		session_run_give_up(&r, rc, err);
	ut_session_notify(&r.client, (struct ut_session_event){ .kind = UT_SESSION_EVENT_FINISHED,
								.level = UT_DEBUG,
								.status = result->status,
								.code = rc });
	ut_session_close(&r.session);
	ut_lifetimes_release(&r.lifetimes);
	ut_arena_release(&r.arena);
	return rc;
}
