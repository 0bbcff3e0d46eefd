/* test_sqlite.c - tests src/analysis/report/sqlite.c and the files of their own in
 * src/trace/text/out.h. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sqlite3.h>
#include <cmocka.h>

#include "export/exporter.h"
#include "model/event.h"
#include "model/trace.h"
#include "support/unit.h"
#include "text/out.h"

struct here {
	char dir[64], path[128];
};

static int make(void **state)
{
	struct here *h = calloc(1, sizeof(*h));

	snprintf(h->dir, sizeof(h->dir), "/tmp/ut_sqlite_XXXXXX");
	if (!mkdtemp(h->dir))
		return -1;
	snprintf(h->path, sizeof(h->path), "%s/t.sqlite", h->dir);
	*state = h;
	return 0;
}

/* Nothing but the result may be left. */
static int drop(void **state)
{
	struct here *h = *state;
	int rc;

	unlink(h->path);
	rc = rmdir(h->dir);
	free(h);
	return rc;
}

/* Two traces with a span each; the second has an argument with an array. */
static void write_traces(struct ut_out *out)
{
	struct ut_sink *sink = ut_export_sqlite.open(out);

	for (uint32_t i = 0; i < 2; i++) {
		struct ut_trace t;
		struct ut_event e = { .ts = 100 + i, .val = 10 };

		ut_trace_init(&t);
		e.track = ut_trace_add_track(&t, ut_trace_add_process(&t, 7 + i), UT_TRACK_THREAD);
		e.name = ut_strtab_intern_z(&t.strings, i ? "second" : "first");
		if (i) {
			struct ut_arg *a;

			e.args = (uint32_t)t.arg_count;
			for (uint64_t k = 0; k < 3; k++) {
				a = ut_trace_add_arg(&t, ut_strtab_intern_z(&t.strings, "list"),
						     UT_ARG_U64);
				a->value.u64 = k;
				a->flags = k < 2 ? UT_ARG_ARRAY | UT_ARG_MORE : UT_ARG_ARRAY;
			}
			ut_trace_add_arg(&t, ut_strtab_intern_z(&t.strings, "at"), UT_ARG_PTR)
				->value.u64 = 0xff;
			ut_trace_close_args(&t);
		}
		ut_sink_event(sink, &t, &e);
		ut_export_sqlite.end_trace(sink, &t);
		ut_trace_release(&t);
	}
	ut_export_sqlite.close(sink);
}

static void ask(const char *path, const char *sql, const char *expected)
{
	sqlite3_stmt *stmt;
	sqlite3 *db;

	assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK)
		fail_msg("%s", sqlite3_errmsg(db));
	assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
	assert_string_equal(sqlite3_column_text(stmt, 0), expected);
	sqlite3_finalize(stmt);
	sqlite3_close(db);
}

static void all_traces_are_in_the_database(void **state)
{
	struct here *h = *state;
	struct ut_out *out = ut_out_open(h->path, 0);
	struct ut_err err = { 0 };

	write_traces(out);
	assert_int_equal(access(h->path, F_OK), -1);
	assert_int_equal(ut_out_commit(out, &err), 0);
	ask(h->path,
	    "select group_concat(name || ' ' || ts || ' ' || dur || ' ' || pid) from slice",
	    "first 100 10 7,second 101 10 8");
	ask(h->path, "select args from slice where name = 'second'",
	    "{\"list\":[0,1,2],\"at\":\"0xff\"}");
	ask(h->path, "select group_concat(key || '=' || value || ' ' || int_value) from args",
	    "list[0]=0 0,list[1]=1 1,list[2]=2 2,at=0xff 255");
}

static void what_is_abandoned_leaves_nothing(void **state)
{
	struct here *h = *state;
	struct ut_out *out = ut_out_open(h->path, 0);

	write_traces(out);
	ut_out_abandon(out);
	assert_int_equal(access(h->path, F_OK), -1);
}

static void an_existing_file_stays(void **state)
{
	struct here *h = *state;
	struct ut_err err = { 0 };
	struct ut_out *out;
	struct stat st;

	fclose(fopen(h->path, "w"));
	out = ut_out_open(h->path, 0);
	write_traces(out);
	assert_int_equal(ut_out_commit(out, &err), -EEXIST);
	assert_int_equal(stat(h->path, &st), 0);
	assert_int_equal(st.st_size, 0);
	out = ut_out_open(h->path, UT_OUT_OVERWRITE);
	write_traces(out);
	assert_int_equal(ut_out_commit(out, &err), 0);
	ask(h->path, "select count(*) from slice", "2");
}

static void only_plain_files_will_do(void **state)
{
	static const char *const others[] = { "-", "/dev/null", "/tmp/ut_sqlite.gz" };
	struct ut_out *memory = ut_out_open_memory();

	(void)state;
	assert_null(ut_out_file(memory));
	ut_out_abandon(memory);
	for (size_t i = 0; i < 3; i++) {
		struct ut_out *out = ut_out_open(others[i], 0);
		struct ut_err err = { 0 };

		write_traces(out);
		assert_int_equal(ut_out_commit(out, &err), -EINVAL);
		assert_non_null(strstr(err.text, "needs a plain file"));
	}
}

static void errors_of_the_writer_stick(void **state)
{
	struct here *h = *state;
	struct ut_out *out = ut_out_open(h->path, 0);
	struct ut_err err = { 0 };

	assert_non_null(ut_out_file(out));
	ut_out_fail(out, -ENOSPC, "no room");
	assert_int_equal(ut_out_commit(out, &err), -ENOSPC);
	assert_non_null(strstr(err.text, "t.sqlite: no room"));
	assert_int_equal(access(h->path, F_OK), -1);
}

static void it_is_found_by_its_names(void **state)
{
	(void)state;
	assert_ptr_equal(ut_exporter_by_name("sqlite"), &ut_export_sqlite);
	assert_ptr_equal(ut_exporter_by_file("x.sqlite"), &ut_export_sqlite);
	assert_ptr_equal(ut_exporter_by_file("x.db"), &ut_export_sqlite);
}

UT_TESTS(sqlite)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, make, drop)
		TEST(all_traces_are_in_the_database), TEST(what_is_abandoned_leaves_nothing),
		TEST(an_existing_file_stays),         TEST(only_plain_files_will_do),
		TEST(errors_of_the_writer_stick),     TEST(it_is_found_by_its_names),
	};

	return cmocka_run_group_tests_name("report/sqlite", tests, NULL, NULL);
}
