/*
 * test_session_run.c - tests src/app/session/session_run.h and session_export.h with a client that
 * is no command line: it remembers the events, and nothing may appear on stderr.
 */
#include "session/session_run.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/path.h"
#include "base/str.h"
#include "export/exporter.h"
#include "session/session_export.h"
#include "support/unit.h"

#define MAX_EVENTS 64

struct heard {
	struct ut_session_event event; /* text, path and paths[0] copied */
	char text[1024], path[512];
};

struct fixture {
	char dir[64];
	int stdout_fd, stderr_fd; /* those of the test, while a session runs */
	struct ut_arena arena;
	const char *build;
	struct ut_session_plan plan;
	struct ut_session_client client;
	struct ut_session_result result;
	struct ut_err err;
	struct heard heard[MAX_EVENTS];
	size_t count;
};

/* ---- the client ---------------------------------------------------------------------------- */

static void remember(void *ctx, const struct ut_session_event *event)
{
	struct fixture *f = ctx;
	struct heard *h = &f->heard[f->count];

	if (f->count == MAX_EVENTS)
		return;
	h->event = *event;
	snprintf(h->text, sizeof(h->text), "%s", event->text ? event->text : "");
	snprintf(h->path, sizeof(h->path), "%s",
		 event->path                                               ? event->path
		 : event->kind == UT_SESSION_EVENT_RESULTS && event->count ? event->paths[0]
									   : "");
	f->count++;
}

/* The first of that kind at or behind *from, which it moves past it; NULL if there is none. */
static const struct heard *next(const struct fixture *f, enum ut_session_event_kind kind,
				size_t *from)
{
	for (size_t i = *from; i < f->count; i++) {
		if (f->heard[i].event.kind == kind) {
			*from = i + 1;
			return &f->heard[i];
		}
	}
	return NULL;
}

static const struct heard *find(const struct fixture *f, enum ut_session_event_kind kind)
{
	size_t from = 0;

	return next(f, kind, &from);
}

/* ---- one session --------------------------------------------------------------------------- */

static int make(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	*state = f;
	strcpy(f->dir, "/tmp/ut_session_XXXXXX");
	f->build = getenv("UNITRACE_BUILD");
	if (!f->build || !mkdtemp(f->dir))
		return -1;
	ut_session_plan_init(&f->plan);
	f->plan.library = ut_path_join(&f->arena, f->build, "lib/libunitrace.so");
	f->plan.out.dir = f->dir;
	f->plan.out.formats[f->plan.out.format_count++] = &ut_export_chrome;
	f->client = (struct ut_session_client){ .notify = remember, .ctx = f };
	return 0;
}

static int release(void **state)
{
	struct fixture *f = *state;
	int rc = ut_path_remove_tree(f->dir, NULL);

	ut_session_plan_release(&f->plan);
	ut_arena_release(&f->arena);
	free(f);
	return rc;
}

static int to_file(struct fixture *f, int fd, const char *name)
{
	int saved = dup(fd);
	int file = open(ut_path_join(&f->arena, f->dir, name), O_CREAT | O_TRUNC | O_WRONLY, 0600);

	assert_true(saved >= 0 && file >= 0);
	fflush(NULL);
	assert_int_equal(dup2(file, fd), fd);
	close(file);
	return saved;
}

/* Returns how many bytes came meanwhile. */
static off_t back(struct fixture *f, int fd, int saved, const char *name)
{
	struct stat st;

	fflush(NULL);
	assert_int_equal(dup2(saved, fd), fd);
	close(saved);
	assert_int_equal(stat(ut_path_join(&f->arena, f->dir, name), &st), 0);
	return st.st_size;
}

static void silence(struct fixture *f)
{
	f->stdout_fd = to_file(f, STDOUT_FILENO, "stdout");
	f->stderr_fd = to_file(f, STDERR_FILENO, "stderr");
}

/* Whatever happens, a session says nothing itself. */
static void listen_again(struct fixture *f)
{
	off_t said = back(f, STDERR_FILENO, f->stderr_fd, "stderr");

	back(f, STDOUT_FILENO, f->stdout_fd, "stdout");
	assert_int_equal(said, 0);
}

static int run_for(struct fixture *f, const struct ut_session_client *client,
		   const char *const *argv)
{
	int rc;

	f->plan.argv = argv;
	for (f->plan.argc = 0; argv[f->plan.argc]; f->plan.argc++)
		;
	f->count = 0;
	silence(f);
	rc = ut_session_check(&f->plan, client, &f->err);
	if (!rc)
		rc = ut_session_run(&f->plan, client, &f->result, &f->err);
	listen_again(f);
	return rc;
}

static int run(struct fixture *f, const char *const *argv)
{
	return run_for(f, &f->client, argv);
}

static const char *hello(struct fixture *f)
{
	return ut_path_join(&f->arena, f->build, "examples/hello");
}

static const char *ending(struct fixture *f)
{
	return ut_path_join(&f->arena, f->build, "tests/programs/ending");
}

/* ---- tests --------------------------------------------------------------------------------- */

static void a_run_is_reported_from_its_start_to_its_end(void **state)
{
	struct fixture *f = *state;
	const char *const argv[] = { hello(f), NULL };
	const struct heard *starting, *ended, *timeline, *table, *results, *finished;
	size_t from = 0;

	assert_int_equal(run(f, argv), 0);
	starting = next(f, UT_SESSION_EVENT_STARTING, &from);
	ended = next(f, UT_SESSION_EVENT_ENDED, &from);
	timeline = next(f, UT_SESSION_EVENT_TIMELINE, &from);
	table = next(f, UT_SESSION_EVENT_TABLE, &from);
	results = next(f, UT_SESSION_EVENT_RESULTS, &from);
	finished = next(f, UT_SESSION_EVENT_FINISHED, &from);
	assert_true(starting && ended && timeline && table && results && finished);
	assert_int_equal(f->count, 6); /* and nothing else */
	assert_string_equal(starting->path, ended->path);
	assert_int_equal(ended->event.status, 0);
	assert_true(ut_path_exists(timeline->path));
	assert_string_equal(timeline->path, results->path);
	assert_int_equal(results->event.count, 1);
	assert_non_null(strstr(table->text, "greet"));
	assert_int_equal(finished->event.code, 0);
	assert_false(ut_path_exists(starting->path)); /* the recording is gone */
	assert_true(f->result.ran);
}

static void the_status_of_the_program_is_reported_and_why_there_is_nothing(void **state)
{
	struct fixture *f = *state;
	const char *const argv[] = { "/bin/sh", "-c", "exit 3", NULL };
	const struct heard *nothing;

	assert_int_equal(run(f, argv), 0);
	assert_true(f->result.ran);
	assert_int_equal(WEXITSTATUS(f->result.status), 3);
	assert_int_equal(WEXITSTATUS(find(f, UT_SESSION_EVENT_ENDED)->event.status), 3);
	assert_int_equal(WEXITSTATUS(find(f, UT_SESSION_EVENT_FINISHED)->event.status), 3);
	nothing = find(f, UT_SESSION_EVENT_EMPTY);
	assert_non_null(nothing);
	assert_ptr_equal(strstr(nothing->text, "nothing was recorded: "), nothing->text);
	assert_null(find(f, UT_SESSION_EVENT_TIMELINE));
	assert_null(find(f, UT_SESSION_EVENT_TABLE));
	assert_int_equal(find(f, UT_SESSION_EVENT_RESULTS)->event.count, 0);
}

static void a_program_that_is_not_there_is_no_failure_of_the_session(void **state)
{
	struct fixture *f = *state;
	const char *const argv[] = { "/nonexistent/program", NULL };
	const struct heard *event;

	assert_int_equal(run(f, argv), 0);
	assert_false(f->result.ran);
	assert_int_equal(f->result.exec_errno, ENOENT);
	event = find(f, UT_SESSION_EVENT_NOT_STARTED);
	assert_non_null(event);
	assert_int_equal(event->event.code, ENOENT);
	assert_string_equal(event->path, argv[0]);
	assert_null(find(f, UT_SESSION_EVENT_ENDED));
	assert_false(ut_path_exists(find(f, UT_SESSION_EVENT_STARTING)->path));
}

static void losses_are_reported_by_kind_and_number(void **state)
{
	struct fixture *f = *state;
	/* it says itself how it ends */
	const char *const argv[] = { "/bin/sh", "-c", "exec \"$0\" kill 2>/dev/null", ending(f),
				     NULL };
	const struct heard *lost;

	if (!ut_path_exists(argv[3]))
		skip();
	assert_int_equal(run(f, argv), 0);
	assert_true(WIFSIGNALED(f->result.status));
	lost = find(f, UT_SESSION_EVENT_LOST);
	assert_non_null(lost);
	assert_int_equal(lost->event.loss, UT_LOSS_UNFINISHED);
	assert_int_equal(lost->event.count, 2);
	assert_string_equal(lost->text, "2 tasks never ended; shown up to the end of the process");
}

static void children_that_go_on_are_reported(void **state)
{
	struct fixture *f = *state;
	const char *const argv[] = { "/bin/sh", "-c", "sleep 2 & exit 0", NULL };
	const struct heard *event;

	assert_int_equal(run(f, argv), 0);
	event = find(f, UT_SESSION_EVENT_STILL_RUNNING);
	assert_non_null(event);
	assert_int_equal(event->event.count, 1);
	assert_true(ut_path_is_dir(event->path));     /* their recording stays */
	assert_null(find(f, UT_SESSION_EVENT_EMPTY)); /* who knows yet */
}

static void a_failure_to_write_is_reported_and_the_recording_stays(void **state)
{
	struct fixture *f = *state;
	/* the folder of the results becomes a file while the program runs */
	const char *const argv[] = { "/bin/sh",
				     "-c",
				     ": > \"$1\"; exec \"$0\"",
				     hello(f),
				     ut_path_join(&f->arena, f->dir, "results"),
				     NULL };
	const struct heard *failed;
	size_t from = 0;
	int rc;

	f->plan.spool_dir = f->dir;
	f->plan.out.dir = argv[4];
	rc = run(f, argv);
	assert_true(rc < 0);
	assert_non_null(next(f, UT_SESSION_EVENT_ENDED, &from));
	failed = next(f, UT_SESSION_EVENT_FAILED, &from);
	assert_non_null(failed);
	assert_non_null(strstr(failed->text, "results"));
	assert_string_equal(failed->text, f->err.text);
	assert_true(ut_path_is_dir(failed->path));
	assert_int_equal(next(f, UT_SESSION_EVENT_FINISHED, &from)->event.code, rc);
	assert_true(f->result.ran);
}

static void a_name_without_sense_is_refused_before_anything_runs(void **state)
{
	struct fixture *f = *state;
	const char *const argv[] = { hello(f), NULL };

	f->plan.out.dir = "%z";
	assert_int_equal(run(f, argv), -EINVAL);
	assert_int_equal(f->count, 0);
}

static void nobody_needs_to_listen(void **state)
{
	struct fixture *f = *state;
	const char *const argv[] = { hello(f), NULL };

	f->plan.out.output = "unheard.json";
	assert_int_equal(run_for(f, NULL, argv), 0);
	assert_true(ut_path_exists(ut_path_join(&f->arena, f->dir, "unheard.json")));
	assert_int_equal(f->count, 0);
}

/* What a server does: one after the other, none leaves traces in its environment. */
static void sessions_leave_the_environment_as_it_was(void **state)
{
	struct fixture *f = *state;
	const char *const argv[] = { "/bin/sh", "-c", "echo $UT_SESSION $PYTHONPATH > \"$0\"",
				     ut_path_join(&f->arena, f->dir, "seen"), NULL };
	char first[1024] = "", second[1024] = "";
	const char *before = getenv("PYTHONPATH");
	FILE *file;

	before = before ? ut_arena_copy(&f->arena, before, strlen(before)) : NULL;
	for (int i = 0; i < 2; i++) {
		char *line = i ? second : first;

		assert_int_equal(run(f, argv), 0);
		file = fopen(argv[3], "re");
		assert_non_null(file);
		assert_non_null(fgets(line, 1024, file));
		fclose(file);
		assert_non_null(strstr(line, ".session"));
	}
	assert_null(getenv("UT_SESSION"));
	if (before)
		assert_string_equal(getenv("PYTHONPATH"), before);
	else
		assert_null(getenv("PYTHONPATH"));
	/* the second run sees as many folders of ours as the first */
	assert_string_equal(strchr(first, ' '), strchr(second, ' '));
}

static void a_recording_that_was_kept_can_be_exported(void **state)
{
	struct fixture *f = *state;
	const char *const argv[] = { hello(f), NULL };
	const struct heard *kept, *timeline;
	struct ut_export_plan plan = { .out = { .export_mode = true }, .count = 1, .remove = true };
	const char *input;
	int rc;

	f->plan.keep_session = true;
	assert_int_equal(run(f, argv), 0);
	kept = find(f, UT_SESSION_EVENT_KEPT);
	assert_non_null(kept);
	assert_true(ut_path_is_dir(kept->path));
	input = ut_arena_copy(&f->arena, kept->path, strlen(kept->path));

	plan.inputs = &input;
	plan.out.dir = f->dir;
	plan.out.formats[plan.out.format_count++] = &ut_export_perfetto;
	f->count = 0;
	silence(f);
	rc = ut_session_export_check(&plan, &f->client, &f->err);
	if (!rc)
		rc = ut_session_export(&plan, &f->client, &f->err);
	listen_again(f);
	assert_int_equal(rc, 0);
	timeline = find(f, UT_SESSION_EVENT_TIMELINE);
	assert_non_null(timeline);
	assert_true(ut_str_ends(timeline->path, ".pftrace"));
	assert_true(ut_path_exists(timeline->path));
	assert_false(ut_path_exists(input));
}

UT_TESTS(session_run)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, make, release)
	const struct CMUnitTest tests[] = {
		TEST(a_run_is_reported_from_its_start_to_its_end),
		TEST(the_status_of_the_program_is_reported_and_why_there_is_nothing),
		TEST(a_program_that_is_not_there_is_no_failure_of_the_session),
		TEST(losses_are_reported_by_kind_and_number),
		TEST(children_that_go_on_are_reported),
		TEST(a_failure_to_write_is_reported_and_the_recording_stays),
		TEST(a_name_without_sense_is_refused_before_anything_runs),
		TEST(nobody_needs_to_listen),
		TEST(sessions_leave_the_environment_as_it_was),
		TEST(a_recording_that_was_kept_can_be_exported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
