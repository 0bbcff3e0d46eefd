/* record_run.c - see record_run.h. */
#include "cmd/record_run.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/mapped.h"
#include "base/path.h"
#include "cmd/cmd.h"
#include "cmd/guess.h"
#include "cmd/record_view.h"
#include "cmd/session_print.h"
#include "launch/run.h"
#include "session/event_file.h"
#include "session/session_run.h"

#define KEPT "the recording is kept; try again with: unitrace export %s"

/* ---- this client of a session -------------------------------------------------------------- */

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
	ssize_t reported = write(STDERR_FILENO, kept_text, strlen(kept_text));

	(void)reported; /* the status says it, too */
	if (!program_status)
		_exit(UT_EXIT_OWN_FAILURE);
	if (WIFEXITED(program_status))
		_exit(WEXITSTATUS(program_status)); /* exit() might wait for whom we interrupted */
	ut_launch_end_as(program_status);
}

static void prepare_for_interrupt(const char *session_dir, int status)
{
	struct sigaction act = { .sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND };

	snprintf(interrupt_text, sizeof(interrupt_text),
		 "\nunitrace: interrupted; the recording is kept, use: unitrace export %s\n",
		 session_dir);
	snprintf(kept_text, sizeof(kept_text), "unitrace: " KEPT "\n", session_dir);
	program_status = status;
	ut_mapped_end_with(end_of_short_recording);
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	signal(SIGPIPE, SIG_IGN); /* results matter more than whoever reads stderr */
}

/* Why the program did not start: the exit status. */
static int report_not_started(const char *name, int code)
{
	const struct ut_cmd *meant = ut_guess_command(name);
	struct ut_arena arena = { 0 };
	int found = 0;
	bool missing = code == ENOENT && !ut_path_find_program(&arena, name, &found);

	ut_arena_release(&arena);
	if (missing && meant)
		ut_log(UT_ERR, "%s: program not found; did you mean 'unitrace %s'?", name,
		       meant->name);
	else if (missing)
		ut_log(UT_ERR, "%s: program not found", name);
	else if (code == ENOENT)
		ut_log(UT_ERR, "%s: cannot execute: its interpreter is missing", name);
	else
		ut_log(UT_ERR, "%s: cannot execute: %s", name, strerror(code));
	return missing ? UT_EXIT_NOT_FOUND : UT_EXIT_CANNOT_EXECUTE;
}

/* Who gets the events. */
struct listener {
	int status; /* for a program that did not start */
	const struct ut_record_run *run;
	struct ut_event_file file;
};

/* With a file for the events, the terminal shows problems only. */
static void record_run_print(struct listener *l, const struct ut_session_event *event)
{
	ut_event_file_write(&l->file, event);
	if (l->file.fd < 0 || event->kind == UT_SESSION_EVENT_RESULTS ||
	    (event->text && event->level <= UT_WARN && event->kind != UT_SESSION_EVENT_TABLE))
		ut_session_print_event(NULL, event);
}

/* All that needs more than a line. */
static void on_event(void *ctx, const struct ut_session_event *event)
{
	struct listener *l = ctx;

	if (event->kind == UT_SESSION_EVENT_STARTING)
		ut_record_view_start(l->run->view, event->path);
	if (event->kind == UT_SESSION_EVENT_ENDED)
		prepare_for_interrupt(event->path, event->status);
	else if (event->kind == UT_SESSION_EVENT_NOT_STARTED)
		l->status = report_not_started(event->path, event->code);
	record_run_print(l, event);
	if (event->kind == UT_SESSION_EVENT_RESULTS)
		ut_record_view_written(l->run->view);
	if (event->kind == UT_SESSION_EVENT_RESULTS && l->run->results)
		l->run->results(l->run->ctx, event->paths, event->count);
	if (event->kind == UT_SESSION_EVENT_FAILED && event->path && ut_path_is_dir(event->path))
		ut_log(UT_ERR, KEPT, event->path);
	else if (event->kind == UT_SESSION_EVENT_FAILED && event->path)
		ut_log(UT_ERR, "the recording is lost: somebody has removed %s", event->path);
}

int ut_record_run(const struct ut_record_run *run, struct ut_session_result *result)
{
	struct ut_session_client client = ut_session_print();
	struct listener listener = { UT_EXIT_OWN_FAILURE, run, { .fd = -1 } };
	struct ut_err err = { 0 };
	int rc = ut_record_view_check(run->view, &err);

	if (!rc)
		rc = ut_event_file_open(&listener.file, run->event_log, &err);
	client.notify = on_event;
	client.ctx = &listener;
	client.wants_progress |= run->event_log != NULL;
	if (!rc)
		rc = ut_session_check(run->plan, &client, &err);
	if (rc == -EINVAL)
		return ut_cmd_misuse(run->cmd, &err);
	if (rc) {
		ut_log(UT_ERR, "%s", err.text[0] ? err.text : strerror(-err.code));
		return UT_EXIT_OWN_FAILURE;
	}
	rc = ut_session_run(run->plan, &client, result, &err);
	ut_event_file_close(&listener.file);
	ut_record_view_end(run->view, result->ran);
	if (!result->ran || (rc && !result->status))
		return listener.status;
	return -1;
}
