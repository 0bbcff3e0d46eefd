/*
 * cmd_record.c - `unitrace record`, which is also plain `unitrace PROGRAM`.
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/mapped.h"
#include "base/path.h"
#include "base/str.h"
#include "cmd/device_list.h"
#include "cmd/guess.h"
#include "cmd/last.h"
#include "cmd/record_nothing.h"
#include "cmd/record_options.h"
#include "cmd/record_tests.h"
#include "import/spool/reader.h"
#include "launch/knock.h"
#include "launch/library.h"
#include "launch/living.h"
#include "launch/run.h"
#include "launch/session.h"
#include "session/growth.h"
#include "session/output_check.h"
#include "session/outputs.h"
#include "session/run_config.h"
#include "text/out.h"
#include "unitrace/backend.h"
#include "wire/control.h"
#include "wire/process.h"

#define FIRST_POLL_NS  UINT64_C(20000000)
#define LAST_POLL_NS   UINT64_C(500000000)
#define SILENT_WAIT_NS UINT64_C(100000000)

#define KEPT "the recording is kept; try again with: unitrace export %s"

/* One run, from the parsed options to the exit status. */
struct run {
	const struct ut_record_opts *opts;
	int argc; /* of the program */
	const char *const *argv;
	const char *const *unitrace_argv; /* the options before it, for run_config.json */
	int unitrace_argc;
	struct ut_arena *arena;
	struct ut_session session;
	struct ut_launch_result result;
	struct ut_growth growth;
	enum ut_knock knock;
};

static const char *session_parent(const struct ut_record_opts *o, struct ut_arena *a)
{
	const char *dir = o->out.result_dir ? o->out.result_dir : o->out.dir;

	if (o->spool_dir)
		return o->spool_dir;
	if (ut_output_is_timeline(&o->out))
		dir = ut_path_join(a, dir, ut_path_dir(a, o->out.output));
	return dir && !strchr(dir, '%') ? dir : ".";
}

static int join_named(struct run *r, struct ut_err *err)
{
	const struct ut_record_opts *o = r->opts;
	bool reused;
	int rc;

	if (!o->session)
		return 0;
	rc = ut_session_join(&r->session, o->session, &reused, err);
	if (rc)
		return rc;
	/* Ranks of one job share the name on purpose. */
	if (reused && r->session.control->rank < 0)
		ut_log_classic(UT_WARN, "Session %s was not stopped before reusing", o->session);
	if (o->start_paused && !reused)
		rc = ut_named_set(o->session, UT_STATE_PAUSED, err);
	return rc < 0 ? rc : 0;
}

static int prepare(struct run *r, struct ut_err *err)
{
	int rc = ut_session_create(&r->session, r->arena, session_parent(r->opts, r->arena),
				   r->argv[0], err);

	if (!rc)
		rc = ut_record_apply(r->opts, r->session.control, err);
	if (!rc)
		rc = join_named(r, err);
	return rc;
}

static enum ut_opencl_door opencl_door(const char *via)
{
	if (!via || !strcmp(via, "auto"))
		return UT_OPENCL_AUTO;
	return !strcmp(via, "icd") ? UT_OPENCL_ICD : UT_OPENCL_LAYER;
}

/* Starts the program and waits for it. */
static int launch(struct run *r, struct ut_err *err)
{
	struct ut_launch l = {
		.argv = r->argv,
		.session_dir = r->session.dir,
		.preload = r->opts->start_paused && !r->opts->session,
		.ccl = r->opts->ccl || r->opts->ccl_report,
		.devices = r->session.control->want != 0,
		.opencl = opencl_door(r->opts->device.opencl_via),
		.teller = ut_log_teller(),
		.control = r->session.control,
		.each_second = ut_growth_look,
		.ctx = &r->growth,
	};
	int knock_fd, rc = ut_library_find(r->arena, &l.library, err);

	if (!rc)
		rc = ut_python_open(&r->opts->python, r->arena, l.library, l.session_dir, err);
	if (rc)
		return rc;
	l.argv = ut_python_argv(&r->opts->python, r->arena, l.library, r->argv);
	ut_log(UT_DEBUG, "the recording is kept in %s", l.session_dir);
	if (!r->opts->out.quiet && !r->opts->keep_bytes && !r->opts->keep_ns)
		ut_growth_init(&r->growth, l.session_dir, r->opts->python.on);
	knock_fd = ut_knock_watch(l.session_dir);
	rc = ut_launch_run(&l, r->arena, &r->result, err);
	r->knock = ut_knock_heard(knock_fd);
	if (knock_fd >= 0)
		close(knock_fd);
	return rc;
}

static size_t count_alive(const struct ut_spool_info *list, size_t count)
{
	size_t alive = 0;

	for (size_t i = 0; i < count; i++)
		alive += list[i].alive;
	return alive;
}

/*
 * The spools of the session, once no process of it lives any more or patience is at its end. A
 * program that has just ended may leave children that are about to do so, too. Those that have
 * recorded nothing (yet) get less time, because most will never do.
 */
static int wait_for_children(struct run *r, struct ut_spool_info **list, size_t *count,
			     size_t *living, struct ut_err *err)
{
	uint64_t limit = r->opts->wait_children;
	uint64_t silent_limit = r->opts->wait_for_all ? limit : SILENT_WAIT_NS;
	uint64_t step;

	for (uint64_t waited = 0;; waited += step) {
		int rc = ut_spool_list(r->session.dir, list, count, err);
		size_t recording = rc ? 0 : count_alive(*list, *count);

		*living = rc ? 0 : ut_living_count(r->session.dir);
		*living = *living > recording ? *living : recording;
		if (rc || !*living || waited >= (recording ? limit : silent_limit))
			return rc;
		free(*list);
		*list = NULL;
		/* The longer it takes, the less a late look matters. */
		step = FIRST_POLL_NS + waited / 4;
		step = step < LAST_POLL_NS ? step : LAST_POLL_NS;
		if (!ut_launch_pause(step))
			limit = silent_limit = 0; /* Ctrl-C: one last look */
		ut_control_tick(r->session.control);
	}
}

/* Moves those that are alive to the end; returns how many are not. */
static size_t sort_finished_first(struct ut_spool_info *list, size_t count)
{
	size_t finished = 0;

	for (size_t i = 0; i < count; i++) {
		if (list[i].alive)
			continue;
		if (i != finished) {
			struct ut_spool_info t = list[i];

			memmove(&list[finished + 1], &list[finished],
				(i - finished) * sizeof(*list));
			list[finished] = t;
		}
		finished++;
	}
	return finished;
}

/* Why there is nothing, if there is nothing. */
static void tell_nothing(const struct run *r, const struct ut_outputs *out, size_t spools)
{
	const struct ut_nothing n = { .opts = r->opts,
				      .argv = r->argv,
				      .control = r->session.control,
				      .session_dir = r->session.dir,
				      .woken = spools != 0,
				      .outputs = out,
				      .knock = r->knock };

	if (!out->events && !r->opts->out.quiet && !atomic_load(&r->session.control->failures))
		ut_nothing_tell(&n, r->arena);
}

/* The limit that a shell may have set, if it is the reason. */
static const char *limit_of(int code)
{
	return code == EFBIG    ? " (ulimit -f)"
	       : code == ENOMEM ? " (ulimit -v)"
	       : code == EMFILE ? " (ulimit -n)"
				: "";
}

/* Processes that wanted to record and could not: the collector itself never says a word. */
static void tell_failures(const struct run *r)
{
	struct ut_control *c = r->session.control;
	uint32_t n = atomic_load(&c->failures);
	int code = (int)atomic_load(&c->failure);

	if (n)
		ut_log(UT_WARN, "%" PRIu32 " process%s could not record into %s: %s%s", n,
		       n == 1 ? "" : "es", r->session.dir, strerror(code), limit_of(code));
}

/* A number that the machine does not have records nothing, which needs a reason. */
static void tell_no_device(const struct run *r, const struct ut_device_report *devices)
{
	if (r->opts->device.devices.count && devices->active &&
	    r->session.control->want & UT_WANT_WORK && !devices->log.work_count)
		ut_log(UT_WARN, "--devices-to-sample %s: the program has not used such a device",
		       r->opts->device.devices.items[0]);
}

static int write_results(struct run *r, const struct ut_spool_info *list, size_t count,
			 size_t living, struct ut_err *err)
{
	const struct ut_output_who root = {
		.app = ut_path_base(r->argv[0]),
		.pid = (uint32_t)r->result.pid,
		.rank = r->session.control->rank,
	};
	struct ut_outputs out;
	int rc, finish_rc;

	ut_outputs_init(&out, &r->opts->out, r->opts->ccl_report);
	ut_record_reports(r->opts, &out.devices);
	out.devices.active = r->session.control->want &&
			     (!r->opts->out.no_summary || ut_device_report_wanted(&out.devices));
	rc = ut_outputs_export(&out, list, count, err);
	finish_rc = ut_outputs_finish(&out, &root, err);
	if (!rc && !living)
		tell_nothing(r, &out, count);
	tell_no_device(r, &out.devices);
	ut_last_note(out.written.items, out.written.count, root.rank);
	ut_outputs_release(&out);
	return rc ? rc : finish_rc;
}

/* What is exported need not be read again by a later `unitrace export` of the rest. */
static void drop_spools(const struct ut_spool_info *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		unlink(list[i].path);
}

static void tell_kept(const struct run *r, size_t living)
{
	if (living)
		ut_log(UT_WARN,
		       "%zu process%s of the run still running; when done: unitrace export %s",
		       living, living == 1 ? " is" : "es are", r->session.dir);
	else if (!r->opts->out.quiet)
		ut_log(UT_INFO, "the recording is kept in %s", r->session.dir);
}

static void tell_failed(const struct run *r, const struct ut_err *err)
{
	ut_log(UT_ERR, "%s", err->text[0] ? err->text : strerror(-err->code));
	ut_log(UT_ERR, KEPT, r->session.dir);
}

/* After the program has ended: everything it left becomes files. */
static int gather(struct run *r, struct ut_err *err)
{
	struct ut_spool_info *list = NULL;
	size_t count = 0, finished = 0, living = 0;
	int rc = wait_for_children(r, &list, &count, &living, err);

	if (!rc) {
		finished = sort_finished_first(list, count);
		tell_failures(r);
		ut_growth_look(&r->growth);
		rc = write_results(r, list, finished, living, err);
	}
	if (!rc && r->opts->python.tests)
		rc = ut_test_traces_write(r->opts->python.tests, &r->opts->out, list, finished,
					  err);
	if (rc) {
		tell_failed(r, err);
	} else if (r->opts->keep_session || living) {
		if (!r->opts->keep_session)
			drop_spools(list, finished);
		tell_kept(r, living);
	} else if (ut_session_remove(&r->session, err)) {
		ut_log(UT_WARN, "%s", err->text);
	}
	free(list);
	ut_session_close(&r->session);
	return rc;
}

/* For handlers of signals while results are written: see prepare_for_interrupt(). */
static char interrupt_text[PATH_MAX + 128];
static char kept_text[PATH_MAX + 128];
static int program_status;

/* Ctrl-C while results are written: nothing is lost, but the user must know where it is. */
static void on_interrupt(int sig)
{
	if (write(STDERR_FILENO, interrupt_text, strlen(interrupt_text)) < 0)
		_exit(UT_EXIT_OWN_FAILURE);
	raise(sig); /* the handler is gone already: this ends us */
}

/* The recording became shorter while it was read: as when results cannot be written. */
static void end_of_short_recording(void)
{
	ssize_t told = write(STDERR_FILENO, kept_text, strlen(kept_text));

	(void)told; /* the status says it, too */
	if (!program_status)
		_exit(UT_EXIT_OWN_FAILURE);
	if (WIFEXITED(program_status))
		_exit(WEXITSTATUS(program_status)); /* exit() might wait for whom we interrupted */
	ut_launch_end_as(program_status);
}

static void prepare_for_interrupt(const struct run *r)
{
	struct sigaction act = { .sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND };

	snprintf(interrupt_text, sizeof(interrupt_text),
		 "\nunitrace: interrupted; the recording is kept, use: unitrace export %s\n",
		 r->session.dir);
	snprintf(kept_text, sizeof(kept_text), "unitrace: " KEPT "\n", r->session.dir);
	program_status = r->result.status;
	ut_mapped_end_with(end_of_short_recording);
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	signal(SIGPIPE, SIG_IGN); /* results matter more than whoever reads stderr */
}

static int fail(const struct ut_err *err)
{
	ut_log(UT_ERR, "%s", err->text[0] ? err->text : strerror(-err->code));
	return UT_EXIT_OWN_FAILURE;
}

/* Says why the program did not start and gives up what was prepared for it. */
static int not_started(struct run *r)
{
	const char *name = r->argv[0];
	const struct ut_cmd *meant = ut_guess_command(name);
	int code = r->result.exec_errno, found;

	if (code == ENOENT && !ut_path_find_program(r->arena, name, &found)) {
		if (meant)
			ut_log(UT_ERR, "%s: program not found; did you mean 'unitrace %s'?", name,
			       meant->name);
		else
			ut_log(UT_ERR, "%s: program not found", name);
		return UT_EXIT_NOT_FOUND;
	}
	if (code == ENOENT)
		ut_log(UT_ERR, "%s: cannot execute: its interpreter is missing", name);
	else
		ut_log(UT_ERR, "%s: cannot execute: %s", name, strerror(code));
	return UT_EXIT_CANNOT_EXECUTE;
}

/* The program has run: -1 to end as it did, or our own exit status. */
static int after(struct run *r)
{
	const struct ut_record_opts *o = r->opts;
	struct ut_err err = { 0 }, config_err = { 0 };

	prepare_for_interrupt(r);
	if (o->out.result_dir &&
	    ut_run_config_write(o->out.result_dir, r->unitrace_argc, r->unitrace_argv, r->argc,
				r->argv, &config_err))
		ut_log(UT_WARN, "%s", config_err.text);
	if (gather(r, &err) && r->result.status == 0)
		return UT_EXIT_OWN_FAILURE;
	return -1;
}

/* 0 if results can be written where they are wanted; otherwise it is told, and the status. */
static int check_places(const struct run *r)
{
	const struct ut_output_who who = { .app = ut_path_base(r->argv[0]),
					   .pid = (uint32_t)getpid(),
					   .rank = ut_process_rank(),
					   .first = true };
	struct ut_err err = { 0 };
	int rc = ut_output_check(&r->opts->out, &who, &err);

	if (!rc)
		return 0;
	return rc == -EINVAL ? ut_cmd_misuse(&ut_cmd_record, &err) : fail(&err);
}

static int record(struct run *r)
{
	struct ut_err err = { 0 }, remove_err = { 0 };
	int status;

	r->session.named_fd = -1;
	if (prepare(r, &err) || launch(r, &err))
		status = fail(&err);
	else if (r->result.exec_errno)
		status = not_started(r);
	else
		return after(r);
	if (ut_session_remove(&r->session, &remove_err))
		ut_log(UT_WARN, "%s", remove_err.text);
	return status;
}

static void add_session(void *ctx, const char *name)
{
	struct ut_buf *names = ctx;

	ut_buf_fmt(names, "%s%s", names->len ? ", " : "", name);
}

/* Nobody uses the name: a slip, or the programs have ended. */
static void tell_no_session(const char *name)
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
		tell_no_session(name);
	else if (before == UT_STATE_STOPPED)
		ut_log_classic(UT_WARN, "Session %s is already stopped", name);
	else if (before < 0)
		ut_log(UT_ERR, "%s", err.text);
	else
		ut_log_classic(UT_INFO, "Session %s is %s", name, done);
	return before >= 0;
}

static void list_devices(struct ut_arena *a)
{
	struct ut_err err = { 0 };
	const char *library;

	if (ut_library_find(a, &library, &err))
		ut_log(UT_ERR, "%s", err.text);
	else if (!ut_device_list(a, ut_doors_folder(a, library)))
		ut_log_classic(UT_WARN, "No devices found");
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
		ut_log(UT_WARN, "no metric groups: this version of unitrace reads no "
				"metrics of devices");
	return ok ? UT_EXIT_OK : UT_EXIT_FAILED;
}

static void warn_unsupported(struct ut_arena *a, const struct ut_record_opts *o,
			     const struct ut_opt *table)
{
	const char *names = ut_record_unsupported(a, table);

	if (o->mpi)
		ut_log(UT_INFO, "--chrome-mpi-logging: this version does not intercept MPI calls "
				"itself; it records what a library marks in the ITT domain MPI");
	if (names[0])
		ut_log(UT_WARN,
		       "this version reads no metrics and sees neither SYCL nor the "
		       "kernel's driver; without effect: %s",
		       names);
	if (o->device.ranks.count && ut_process_rank() < 0)
		ut_log(UT_WARN, "--ranks-to-sample: this is no rank of an MPI job; devices are "
				"recorded");
}

static void set_logging(const struct ut_record_opts *o)
{
	if (o->out.quiet)
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

static int start(struct run *r, struct ut_record_opts *o, const struct ut_opt *table, int argc,
		 const char *const *argv)
{
	struct ut_err err = { 0 };
	int left = ut_opt_parse(table, argc, argv, &err), refused;

	if (left >= 0 && o->help)
		return ut_cmd_help(&ut_cmd_record);
	if (left >= 0 && o->version)
		return ut_cmd_version();
	if (left < 0 || ut_record_check(o, &err))
		return ut_cmd_misuse(&ut_cmd_record, &err);
	set_logging(o);
	if (left == argc) {
		int status = act_at_once(r->arena, o);

		if (status >= 0)
			return status;
		if (argc == 1 && o->device.host_timing)
			return explain_h();
		ut_err_set(&err, -EINVAL, "no program to record");
		return ut_cmd_misuse(&ut_cmd_record, &err);
	}
	act_at_once(r->arena, o);
	warn_unsupported(r->arena, o, table);
	r->unitrace_argc = left;
	r->unitrace_argv = argv;
	r->argc = argc - left;
	r->argv = argv + left;
	refused = check_places(r);
	return refused ? refused : record(r);
}

static int cmd_record(int argc, const char *const *argv)
{
	struct ut_record_opts opts;
	struct ut_arena arena = { 0 };
	struct run r = { .opts = &opts, .arena = &arena };
	int status;

	ut_record_opts_init(&opts);
	status = start(&r, &opts, ut_record_table(&arena, &opts), argc, argv);
	ut_record_opts_release(&opts);
	ut_arena_release(&arena);
	if (status < 0)
		ut_launch_end_as(r.result.status);
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
		    "  unitrace --keep-last 64M ./server\n",
	.options = record_options,
	.run = cmd_record,
};
