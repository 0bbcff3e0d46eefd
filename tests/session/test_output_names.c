/* test_output_names.c - tests src/app/session/output_names.h: what result files are called */
#include "session/output_names.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/path.h"
#include "export/exporter.h"
#include "support/unit.h"

struct fixture {
	struct ut_arena arena;
	char dir[64];
	struct ut_output_opts opts;
	struct ut_output_names names;
};

static int make(void **state)
{
	static struct fixture f;

	f = (struct fixture){ .dir = "/tmp/ut_outputs_XXXXXX" };
	f.names = (struct ut_output_names){ .opts = &f.opts, .arena = &f.arena };
	*state = &f;
	return mkdtemp(f.dir) && !chdir(f.dir) ? 0 : -1;
}

static int release(void **state)
{
	struct fixture *f = *state;
	int rc = chdir("/");

	rc = rc ? rc : ut_path_remove_tree(f->dir, NULL);
	ut_arena_release(&f->arena);
	return rc;
}

static void touch(const char *path)
{
	close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
}

static const struct ut_output_who lone = { "app", 12, -1, true };
static const struct ut_output_who second = { "app", 13, -1, false };
static const struct ut_output_who ranked = { "app", 12, 3, true };

static const char *timeline(struct fixture *f, const struct ut_output_who *who)
{
	const char *path = NULL;

	assert_int_equal(ut_output_timeline(&f->names, who, &ut_export_chrome, &path, NULL), 0);
	return path;
}

static const char *report(struct fixture *f, const struct ut_output_who *who)
{
	const char *path = NULL;

	assert_int_equal(ut_output_report(&f->names, who, "itt_summary", &path, NULL), 0);
	return path;
}

static void plain_name_is_app_pid_rank(void **state)
{
	struct fixture *f = *state;

	assert_string_equal(timeline(f, &lone), "app.12.json");
	assert_string_equal(timeline(f, &ranked), "app.12.3.json");
	assert_null(report(f, &lone));
}

static void name_in_use_gets_a_number(void **state)
{
	struct fixture *f = *state;

	touch("app.12.json");
	assert_string_equal(timeline(f, &lone), "app.12-2.json");
	assert_string_equal(timeline(f, &lone), "app.12-3.json"); /* exec of the same program */
}

static void overwriting_is_only_for_older_files(void **state)
{
	struct fixture *f = *state;

	f->opts.overwrite = true;
	touch("app.12.json");
	assert_string_equal(timeline(f, &lone), "app.12.json");
	assert_string_equal(timeline(f, &lone), "app.12-2.json");
}

static void directory_takes_the_timeline(void **state)
{
	struct fixture *f = *state;

	f->opts.dir = "out/%p";
	assert_string_equal(timeline(f, &lone), "out/12/app.12.json");
	f->opts.output = "t.json";
	assert_string_equal(timeline(f, &lone), "out/12/t.json");
	f->opts.output = "/abs/t.json";
	assert_string_equal(timeline(f, &lone), "/abs/t.json");
}

static void fixed_timeline_name_goes_to_the_first_process(void **state)
{
	struct fixture *f = *state;

	f->opts.output = "t.json";
	assert_string_equal(timeline(f, &lone), "t.json");
	assert_string_equal(timeline(f, &second), "t.13.json");
	assert_string_equal(timeline(f, &ranked), "t.12.3.json");
	f->opts.output = "d.ir/t.json.gz";
	assert_string_equal(timeline(f, &second), "d.ir/t.13.json.gz");
	assert_null(report(f, &lone));
}

static void pattern_gets_nothing_inserted(void **state)
{
	struct fixture *f = *state;

	setenv("UT_TEST_VAR", "value", 1);
	f->opts.output = "t-%p-%r-%q{UT_TEST_VAR}-%%.json";
	assert_string_equal(timeline(f, &second), "t-13-0-value-%.json");
	assert_string_equal(timeline(f, &ranked), "t-12-3-value-%.json");
}

static void wrong_pattern_is_refused(void **state)
{
	static const char *const bad[] = { "%x", "a%", "%q", "%q{X", "%qX}" };
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct ut_err err = { 0 };
		const char *out;

		assert_int_equal(ut_output_expand(&f->arena, bad[i], &lone, &out, &err), -EINVAL);
		assert_non_null(strstr(err.text, bad[i]));
	}
}

static void other_suffix_names_the_text_report(void **state)
{
	struct fixture *f = *state;

	f->opts.output = "perf.out.csv";
	assert_string_equal(report(f, &lone), "perf.out.12.csv");
	assert_string_equal(report(f, &ranked), "perf.out.12.3.csv");
	assert_string_equal(timeline(f, &lone), "app.12.json");
	f->opts.output = "d.x/perf";
	assert_string_equal(report(f, &lone), "d.x/perf.12");
	f->opts.output = "perf.%p.txt";
	assert_string_equal(report(f, &lone), "perf.12.txt");
}

static void result_dir_has_a_folder_per_process(void **state)
{
	struct fixture *f = *state;

	f->opts.result_dir = "r";
	assert_string_equal(timeline(f, &lone), "r/app.12/chrome_trace.json");
	assert_string_equal(timeline(f, &ranked), "r/rank_3.app.12/chrome_trace.json");
	assert_string_equal(report(f, &lone), "r/app.12/itt_summary.txt");
}

static void odd_program_names_stay_in_one_folder(void **state)
{
	struct fixture *f = *state;
	const struct ut_output_who odd = { "../a\nb", 1, -1, true };
	const struct ut_output_who none = { "", 1, -1, true };

	assert_string_equal(timeline(f, &odd), ".._a_b.1.json");
	assert_string_equal(timeline(f, &none), "app.1.json");
}

static void second_format_gets_its_own_suffix(void **state)
{
	struct fixture *f = *state;
	const char *path;

	f->opts.output = "t.json";
	assert_int_equal(ut_output_timeline(&f->names, &lone, &ut_export_perfetto, &path, NULL), 0);
	assert_string_equal(path, "t.pftrace");
}

static void formats_and_suffix_must_agree(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(ut_output_add_formats(&f->opts, "chrome,perfetto,chrome", NULL), 0);
	assert_int_equal(f->opts.format_count, 2);
	assert_int_not_equal(ut_output_add_formats(&f->opts, "chrome,", NULL), 0);
	assert_int_not_equal(ut_output_add_formats(&f->opts, "pdf", NULL), 0);
	f->opts.format_count = 1;
	f->opts.output = "t.pftrace";
	assert_int_not_equal(ut_output_finalize_formats(&f->opts, NULL), 0);
	f->opts.format_count = 0;
	assert_int_equal(ut_output_finalize_formats(&f->opts, NULL), 0);
	assert_ptr_equal(f->opts.formats[0], &ut_export_perfetto);
}

static void export_puts_all_processes_into_a_fixed_name(void **state)
{
	struct fixture *f = *state;

	f->opts.export_mode = true;
	f->opts.output = "all";
	assert_true(ut_output_is_single(&f->opts));
	assert_int_not_equal(ut_output_finalize_formats(&f->opts, NULL), 0);
	f->opts.output = "all.json";
	assert_string_equal(timeline(f, &ranked), "all.json");
	f->opts.output = "all.%p.json";
	assert_false(ut_output_is_single(&f->opts));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, make, release)

UT_TESTS(output_names)
{
	const struct CMUnitTest tests[] = {
		CASE(plain_name_is_app_pid_rank),
		CASE(name_in_use_gets_a_number),
		CASE(overwriting_is_only_for_older_files),
		CASE(directory_takes_the_timeline),
		CASE(fixed_timeline_name_goes_to_the_first_process),
		CASE(pattern_gets_nothing_inserted),
		CASE(wrong_pattern_is_refused),
		CASE(other_suffix_names_the_text_report),
		CASE(result_dir_has_a_folder_per_process),
		CASE(odd_program_names_stay_in_one_folder),
		CASE(second_format_gets_its_own_suffix),
		CASE(formats_and_suffix_must_agree),
		CASE(export_puts_all_processes_into_a_fixed_name),
	};

	return cmocka_run_group_tests_name("session/output_names", tests, NULL, NULL);
}
