/* Which files a command line means, and that they are handed over in order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <errno.h>

#include "base/path.h"
#include "import/inputs.h"
#include "support/unit.h"

static char dir[64];

static void write_file(const char *name, const char *text)
{
	FILE *f = fopen(name, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void write_trace(const char *name, int pid)
{
	char text[256];

	snprintf(text, sizeof(text),
		 "[{\"ph\":\"X\",\"pid\":%d,\"tid\":1,\"ts\":1,\"dur\":2,\"name\":\"a\"}]", pid);
	write_file(name, text);
}

static int setup(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/unitrace-test-inputs-XXXXXX");
	assert_non_null(mkdtemp(dir));
	assert_int_equal(chdir(dir), 0);
	return 0;
}

static int teardown(void **state)
{
	struct ut_err err = { 0 };

	(void)state;
	assert_int_equal(chdir("/"), 0);
	return ut_path_remove_tree(dir, &err);
}

static void find(struct ut_inputs *in, const char *a, const char *b, const char *c)
{
	const char *words[] = { a, b, c };
	struct ut_err err = { 0 };
	int argc = c ? 3 : b ? 2 : 1;

	assert_int_equal(ut_inputs_find(in, argc, words, NULL, &err), 0);
}

static void rank_10_comes_after_rank_9(void **state)
{
	struct ut_inputs in;

	(void)state;
	write_trace("rank-10.json", 1);
	write_trace("rank-9.json", 1);
	write_trace("rank-09.json", 1);
	find(&in, "rank-*.json", NULL, NULL);
	assert_int_equal(in.count, 3);
	assert_string_equal(in.paths[0], "rank-09.json");
	assert_string_equal(in.paths[1], "rank-9.json");
	assert_string_equal(in.paths[2], "rank-10.json");
	assert_true(in.bytes > 100);
	ut_inputs_release(&in);
	/* As a shell would have expanded it. */
	find(&in, "rank-09.json", "rank-10.json", "rank-9.json");
	assert_string_equal(in.paths[2], "rank-10.json");
	ut_inputs_release(&in);
	/* But an order that somebody chose stays. */
	find(&in, "rank-9.json", "rank-10.json", "rank-09.json");
	assert_string_equal(in.paths[0], "rank-9.json");
	assert_string_equal(in.paths[2], "rank-09.json");
	ut_inputs_release(&in);
}

static void a_directory_stands_for_the_traces_in_it(void **state)
{
	struct ut_err err = { 0 };
	const char *words[] = { "ranks", "empty" };
	struct ut_inputs in;

	(void)state;
	assert_int_equal(ut_path_mkdirs("ranks/deep/deeper", &err), 0);
	assert_int_equal(ut_path_mkdirs("empty", &err), 0);
	write_trace("ranks/b.json", 1);
	write_trace("ranks/a.trace", 1);
	write_trace("ranks/deep/c.json", 1);
	write_trace("ranks/deep/deeper/d.json", 1);
	write_file("ranks/notes.txt", "remember the milk\n");
	find(&in, "ranks", NULL, NULL);
	assert_int_equal(in.count, 3);
	assert_string_equal(in.paths[0], "ranks/a.trace");
	ut_inputs_release(&in);
	assert_int_equal(ut_inputs_find(&in, 2, words, NULL, &err), -ENODATA);
	assert_non_null(strstr(err.text, "empty: no trace"));
}

/* Of launchers that were killed while they put their recordings away. */
static void recordings_whose_results_are_stored_are_left_out(void **state)
{
	struct ut_err err = { 0 };
	struct ut_inputs in;

	(void)state;
	assert_int_equal(ut_path_mkdirs("stored.session", &err), 0);
	assert_int_equal(ut_path_mkdirs("open.session", &err), 0);
	assert_int_equal(ut_path_mkdirs("nothing.session", &err), 0);
	write_trace("result.json", 1);
	write_trace("stored.session/1-2.spool", 1); /* by content */
	write_trace("open.session/2-2.spool", 1);
	write_file("stored.session/1-2.spool.stored", "");
	find(&in, "result.json", "stored.session", "nothing.session");
	assert_int_equal(in.count, 1);
	assert_string_equal(in.paths[0], "result.json");
	ut_inputs_release(&in);
	find(&in, "result.json", "*.session", NULL);
	assert_int_equal(in.count, 2);
	assert_string_equal(in.paths[1], "open.session/2-2.spool");
	ut_inputs_release(&in);
	/* There is nothing else. */
	find(&in, "stored.session", NULL, NULL);
	assert_int_equal(in.count, 1);
	ut_inputs_release(&in);
	assert_int_equal(ut_inputs_find(&in, 1, (const char *[]){ "nothing.session" }, NULL, &err),
			 -ENODATA);
	assert_non_null(strstr(err.text, "nothing.session: no trace"));
}

static void a_file_is_read_once(void **state)
{
	struct ut_inputs in;

	(void)state;
	write_trace("a.json", 1);
	assert_int_equal(symlink("a.json", "link.json"), 0);
	find(&in, "a.json", "./a.json", "link.json");
	assert_int_equal(in.count, 1);
	ut_inputs_release(&in);
}

static void what_is_not_there_is_said(void **state)
{
	const char *missing[] = { "nothing.json" }, *pattern[] = { "no*thing" };
	struct ut_err err = { 0 };
	struct ut_inputs in;

	(void)state;
	assert_int_equal(ut_inputs_find(&in, 1, missing, NULL, &err), -ENOENT);
	assert_non_null(strstr(err.text, "nothing.json"));
	err = (struct ut_err){ 0 };
	assert_int_equal(ut_inputs_find(&in, 1, pattern, NULL, &err), -ENOENT);
	assert_non_null(strstr(err.text, "no*thing: no file matches"));
}

struct seen {
	size_t count;
	uint64_t pids[64];
};

static int note(void *ctx, size_t i, struct ut_store *store, struct ut_err *err)
{
	struct seen *s = ctx;

	(void)err;
	assert_int_equal(s->count, i);
	s->pids[s->count++] = store->trace.processes[0].pid;
	return 0;
}

static void inputs_come_in_order_however_many_threads(void **state)
{
	(void)state;
	for (unsigned int threads = 1; threads < 6; threads++) {
		const struct ut_import_opts opts = { .threads = threads };
		struct seen seen = { 0 };
		struct ut_err err = { 0 };
		struct ut_inputs in;
		char name[32];

		for (int i = 0; i < 40; i++) {
			snprintf(name, sizeof(name), "t%d.json", i);
			write_trace(name, 1000 + i);
		}
		find(&in, "t*.json", NULL, NULL);
		assert_int_equal(in.count, 40);
		assert_int_equal(ut_inputs_each(&in, &opts, note, &seen, &err), 0);
		assert_int_equal(seen.count, 40);
		for (uint64_t i = 0; i < 40; i++)
			assert_int_equal(seen.pids[i], 1000 + i);
		ut_inputs_release(&in);
	}
}

static void the_first_failure_is_the_one_that_is_reported(void **state)
{
	const struct ut_import_opts opts = { .threads = 3 };
	struct seen seen = { 0 };
	struct ut_err err = { 0 };
	struct ut_inputs in;

	(void)state;
	write_trace("u0.json", 1);
	write_file("u1.json", "this is not a trace");
	write_file("u2.json", "");
	write_trace("u3.json", 1);
	find(&in, "u*.json", NULL, NULL);
	assert_int_equal(ut_inputs_each(&in, &opts, note, &seen, &err), -EPROTO);
	assert_int_equal(seen.count, 1);
	assert_non_null(strstr(err.text, "u1.json: offset 0: not a trace that we know"));
	assert_non_null(strstr(err.text, "'this is not a trace'"));
	ut_inputs_release(&in);
}

UT_TESTS(inputs)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(rank_10_comes_after_rank_9, setup, teardown),
		cmocka_unit_test_setup_teardown(a_directory_stands_for_the_traces_in_it, setup,
						teardown),
		cmocka_unit_test_setup_teardown(recordings_whose_results_are_stored_are_left_out,
						setup, teardown),
		cmocka_unit_test_setup_teardown(a_file_is_read_once, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_not_there_is_said, setup, teardown),
		cmocka_unit_test_setup_teardown(inputs_come_in_order_however_many_threads, setup,
						teardown),
		cmocka_unit_test_setup_teardown(the_first_failure_is_the_one_that_is_reported,
						setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
