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
#include "session/news_file.h"
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

/* Who hears the news. */
struct listener {
	int status; /* for a program that did not start */
	const struct ut_record_run *run;
	struct ut_news_file file;
};

/* With a file for the news, the terminal hears of problems only. */
static void print(struct listener *l, const struct ut_session_news *news)
{
	ut_news_file_tell(&l->file, news);
	if (l->file.fd < 0 || news->kind == UT_NEWS_RESULTS ||
	    (news->text && news->level <= UT_WARN && news->kind != UT_NEWS_TABLE))
		ut_session_print_news(NULL, news);
}

/* All that needs more than a line. */
static void on_news(void *ctx, const struct ut_session_news *news)
{
	struct listener *l = ctx;

	if (news->kind == UT_NEWS_STARTING)
		ut_record_view_start(l->run->view, news->path);
	if (news->kind == UT_NEWS_ENDED)
		prepare_for_interrupt(news->path, news->status);
	else if (news->kind == UT_NEWS_NOT_STARTED)
		l->status = report_not_started(news->path, news->code);
	print(l, news);
	if (news->kind == UT_NEWS_RESULTS)
		ut_record_view_written(l->run->view);
	if (news->kind == UT_NEWS_RESULTS && l->run->results)
		l->run->results(l->run->ctx, news->paths, news->count);
	if (news->kind == UT_NEWS_FAILED && news->path && ut_path_is_dir(news->path))
		ut_log(UT_ERR, KEPT, news->path);
	else if (news->kind == UT_NEWS_FAILED && news->path)
		ut_log(UT_ERR, "the recording is lost: somebody has removed %s", news->path);
}

int ut_record_run(const struct ut_record_run *run, struct ut_session_result *result)
{
	struct ut_session_client client = ut_session_print();
	struct listener listener = { UT_EXIT_OWN_FAILURE, run, { .fd = -1 } };
	struct ut_err err = { 0 };
	int rc = ut_record_view_check(run->view, &err);

	if (!rc)
		rc = ut_news_file_open(&listener.file, run->news, &err);
	client.notify = on_news;
	client.ctx = &listener;
	client.wants_progress |= run->news != NULL;
	if (!rc)
		rc = ut_session_check(run->plan, &client, &err);
	if (rc == -EINVAL)
		return ut_cmd_misuse(run->cmd, &err);
	if (rc) {
		ut_log(UT_ERR, "%s", err.text[0] ? err.text : strerror(-err.code));
		return UT_EXIT_OWN_FAILURE;
	}
	rc = ut_session_run(run->plan, &client, result, &err);
	ut_news_file_close(&listener.file);
	ut_record_view_end(run->view, result->ran);
	if (!result->ran || (rc && !result->status))
		return listener.status;
	return -1;
}
