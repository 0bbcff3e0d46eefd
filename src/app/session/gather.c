#include "session/gather.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/path.h"
#include "base/str.h"
#include "import/spool/reader.h"
#include "launch/liveness.h"
#include "launch/run.h"
#include "launch/session.h"
#include "session/empty_result.h"
#include "session/growth.h"
#include "session/kmd.h"
#include "session/lifetimes.h"
#include "session/outputs.h"
#include "session/sampling.h"
#include "session/session_plan.h"
#include "session/test_traces.h"
#include "unitrace/backend.h"
#include "wire/control.h"
#include "wire/disk.h"
#include "wire/spool.h"

#define FIRST_POLL_NS  UINT64_C(20000000)
#define LAST_POLL_NS   UINT64_C(500000000)
#define SILENT_WAIT_NS UINT64_C(100000000)

/* The spools of a session: those of processes that have ended come first. */
struct spools {
	struct ut_spool_info *list;
	size_t count, finished;
	size_t alive; /* processes of the session, whether they record or not */
};

/* ---- waiting ------------------------------------------------------------------------------- */

static size_t count_alive(const struct spools *s)
{
	size_t alive = 0;

	for (size_t i = 0; i < s->count; i++)
		alive += s->list[i].alive;
	return alive;
}

/*
 * The spools of the session, once no process of it lives any more or patience is at its end. A
 * program that has just ended may leave children that are about to do so, too. Those that have
 * recorded nothing (yet) get less time, because most will never do.
 */
static int wait_for_children(const struct ut_gather *g, struct spools *s, struct ut_err *err)
{
	uint64_t limit = g->plan->wait_children;
	uint64_t silent_limit = g->plan->wait_for_all ? limit : SILENT_WAIT_NS;
	uint64_t step;

	for (uint64_t waited = 0;; waited += step) {
		int rc = ut_spool_list(g->session->dir, &s->list, &s->count, err);
		size_t recording = rc ? 0 : count_alive(s);

		s->alive = rc ? 0 : ut_liveness_count(g->session->dir);
		s->alive = s->alive > recording ? s->alive : recording;
		if (rc || !s->alive || waited >= (recording ? limit : silent_limit))
			return rc;
		free(s->list);
		s->list = NULL;
		/* The longer it takes, the less a late look matters. */
		step = FIRST_POLL_NS + waited / 4;
		step = step < LAST_POLL_NS ? step : LAST_POLL_NS;
		if (!ut_launch_pause(step))
			limit = silent_limit = 0; /* Ctrl-C: one last look */
		ut_control_tick(g->session->control);
		if (g->lifetimes->dir)
			ut_lifetimes_look(g->lifetimes);
	}
}

static void sort_finished_first(struct spools *s)
{
	for (size_t i = 0; i < s->count; i++) {
		struct ut_spool_info t = s->list[i];

		if (t.alive)
			continue;
		if (i != s->finished) {
			memmove(&s->list[s->finished + 1], &s->list[s->finished],
				(i - s->finished) * sizeof(*s->list));
			s->list[s->finished] = t;
		}
		s->finished++;
	}
}

/* ---- what is told -------------------------------------------------------------------------- */

/* The limit that a shell may have set, if it is the reason. */
static const char *limit_of(int code)
{
	return code == EFBIG    ? " (ulimit -f)"
	       : code == ENOMEM ? " (ulimit -v)"
	       : code == EMFILE ? " (ulimit -n)"
				: "";
}

/* Processes that wanted to record and could not: the collector itself never says a word. */
static void report_failures(const struct ut_gather *g)
{
	struct ut_control *c = g->session->control;
	uint32_t n = atomic_load(&c->failures);
	int code = (int)atomic_load(&c->failure);

	if (n)
		ut_session_notify_text(
			g->client,
			(struct ut_session_event){ .kind = UT_SESSION_EVENT_COULD_NOT_RECORD,
						   .level = UT_WARN,
						   .count = n,
						   .code = code },
			"%" PRIu32 " process%s could not record into %s: %s%s", n,
			n == 1 ? "" : "es", g->session->dir,
			code == UT_SPOOL_SANDBOX ? "its system calls are restricted (seccomp)"
						 : strerror(code),
			limit_of(code));
}

/* Why there is nothing, if there is nothing. */
static void report_nothing(const struct ut_gather *g, const struct ut_outputs *out, size_t spools)
{
	const struct ut_empty_result n = { .plan = g->plan,
					   .client = g->client,
					   .control = g->session->control,
					   .session_dir = g->session->dir,
					   .woken = spools != 0,
					   .outputs = out,
					   .access = g->access };

	if (!out->events && !out->kmd_sent && !g->plan->out.quiet &&
	    !atomic_load(&g->session->control->failures))
		ut_empty_result_report(&n, g->arena);
}

/* What was asked for of devices is missing, whatever else there is. */
static void report_no_device(const struct ut_gather *g, const struct ut_outputs *out)
{
	const struct ut_session_event event = { .kind = UT_SESSION_EVENT_NO_DEVICE,
						.level = UT_WARN };
	const struct ut_device_log *log = &out->devices.log;
	const struct ut_opt_list *asked = &g->plan->device.devices;
	uint32_t want = g->session->control->want & ~UT_WANT_MEMORY;

	if (!want || !out->devices.active || log->work_count)
		return;
	if (asked->count && want & UT_WANT_WORK)
		ut_session_notify_text(
			g->client, event,
			"--devices-to-sample %s: the program has not used such a device",
			asked->items[0]);
	else if (out->events && !log->calls_count)
		ut_session_notify_text(
			g->client, event,
			"no work of a device was recorded: no runtime that unitrace knows "
			"(CUDA, OpenCL, Level Zero) has reported any; 'unitrace "
			"--device-list' lists devices");
}

static void report_kept(const struct ut_gather *g, size_t alive)
{
	struct ut_session_event event = { .kind = alive ? UT_SESSION_EVENT_STILL_RUNNING
							: UT_SESSION_EVENT_KEPT,
					  .level = alive ? UT_WARN : UT_INFO,
					  .count = alive,
					  .path = g->session->dir };

	if (alive)
		ut_session_notify_text(
			g->client, event,
			"%zu process%s of the run still running; when done: unitrace export %s",
			alive, alive == 1 ? " is" : "es are", g->session->dir);
	else if (!g->plan->out.quiet)
		ut_session_notify_text(g->client, event, "the recording is kept in %s",
				       g->session->dir);
}

static void report_failed(const struct ut_gather *g, const struct ut_err *err)
{
	ut_session_notify_text(g->client,
			       (struct ut_session_event){ .kind = UT_SESSION_EVENT_FAILED,
							  .level = UT_ERR,
							  .path = g->session->dir,
							  .code = err->code },
			       "%s", err->text[0] ? err->text : strerror(-err->code));
}

/* ---- results ------------------------------------------------------------------------------- */

static int write_results(const struct ut_gather *g, const struct spools *s, struct ut_err *err)
{
	const struct ut_session_plan *plan = g->plan;
	const struct ut_output_who root = {
		.app = ut_path_base(plan->argv[0]),
		.pid = g->pid,
		.rank = g->session->control->rank,
	};
	struct ut_outputs out;
	int rc, finish_rc;

	ut_outputs_init(&out, &plan->out, plan->ccl_report, g->client);
	out.marks = !plan->keep_session;
	ut_session_plan_reports(plan, &out.devices);
	out.devices.active = (g->session->control->want & ~UT_WANT_MEMORY) &&
			     (!plan->out.no_summary || ut_device_report_wanted(&out.devices));
	rc = ut_outputs_export(&out, s->list, s->finished, err);
	finish_rc = ut_outputs_finish(&out, &root, err);
	if (!out.kmd_sent && plan->device.kmd_script && !finish_rc)
		finish_rc = ut_kmd_write_alone(&out, g->session->dir, &root, err);
	if (!rc && !s->alive)
		report_nothing(g, &out, s->finished);
	if (!s->alive)
		report_no_device(g, &out);
	ut_outputs_report_results(&out, root.rank);
	ut_outputs_release(&out);
	return rc ? rc : finish_rc;
}

/* What is exported need not be read again by a later `unitrace export` of the rest. */
static void drop_spools(const struct spools *s)
{
	struct ut_arena arena = { 0 };
	struct ut_err ignored = { 0 };

	for (size_t i = 0; i < s->finished; i++) {
		unlink(s->list[i].path);
		(void)!ut_path_remove_tree(ut_str_fmt(&arena, "%s" UT_KEPT_SUFFIX, s->list[i].path),
					   &ignored);
		unlink(ut_str_fmt(&arena, "%s" UT_STORED_SUFFIX, s->list[i].path));
	}
	ut_arena_release(&arena);
}

static void put_away(const struct ut_gather *g, const struct spools *s)
{
	struct ut_err err = { 0 };

	/* The spools first: if we are killed meanwhile, none is left that does not look stored. */
	if (!g->plan->keep_session)
		drop_spools(s);
	if (g->plan->keep_session || s->alive) {
		report_kept(g, s->alive);
	} else if (ut_session_remove(g->session, &err)) {
		ut_session_notify_text(g->client,
				       (struct ut_session_event){ .kind = UT_SESSION_EVENT_REMARK,
								  .level = UT_WARN },
				       "%s", err.text);
	}
}

int ut_gather(const struct ut_gather *g, struct ut_err *err)
{
	struct spools s = { 0 };
	int rc = wait_for_children(g, &s, err);

	/* The last samples are written now, and may be of processes that were not listed yet. */
	if (g->plan->sampling.hz) {
		ut_sampling_stop(g->sampling);
		ut_sampling_ended(g->session, g->pid, g->status);
		free(s.list);
		rc = rc ? rc : ut_spool_list(g->session->dir, &s.list, &s.count, err);
	}
	if (!rc) {
		sort_finished_first(&s);
		report_failures(g);
		ut_growth_look(g->growth);
		rc = write_results(g, &s, err);
	}
	if (!rc && g->plan->python.tests)
		rc = ut_test_traces_write(g->plan->python.tests, &g->plan->out, s.list, s.finished,
					  g->client, err);
	if (rc)
		report_failed(g, err);
	else
		put_away(g, &s);
	free(s.list);
	return rc;
}
