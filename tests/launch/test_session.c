/* test_session.c - tests src/record/launch/session.h */
#include "launch/session.h"

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
#include "base/str.h"
#include "support/unit.h"
#include "wire/control.h"

struct fixture {
	struct ut_arena arena;
	char dir[64];
};

static int make(void **state)
{
	static struct fixture f;

	snprintf(f.dir, sizeof(f.dir), "/tmp/ut_session_XXXXXX");
	*state = &f;
	return mkdtemp(f.dir) ? 0 : -1;
}

static int release(void **state)
{
	struct fixture *f = *state;
	int rc = ut_path_remove_tree(f->dir, NULL);

	ut_arena_release(&f->arena);
	return rc;
}

static void directory_is_named_after_program_and_process(void **state)
{
	struct fixture *f = *state;
	struct ut_session s;

	assert_int_equal(ut_session_create(&s, &f->arena, f->dir, "/usr/bin/app", NULL), 0);
	assert_string_equal(s.dir, ut_str_fmt(&f->arena, "%s/unitrace.app.%ld.session", f->dir,
					      (long)getpid()));
	assert_int_equal(s.control->rank, -1);
	assert_true(ut_path_exists(ut_path_join(&f->arena, s.dir, UT_CONTROL_FILE)));
	assert_int_equal(ut_session_remove(&s, NULL), 0);
	assert_false(ut_path_exists(s.dir));
}

static void leftover_is_left_alone(void **state)
{
	struct fixture *f = *state;
	struct ut_session first, second;

	assert_int_equal(ut_session_create(&first, &f->arena, f->dir, "app", NULL), 0);
	assert_int_equal(ut_session_create(&second, &f->arena, f->dir, "app", NULL), 0);
	assert_true(ut_str_ends(second.dir, ".session-2"));
	assert_int_equal(ut_session_remove(&second, NULL), 0);
	assert_true(ut_path_exists(first.dir));
	assert_int_equal(ut_session_remove(&first, NULL), 0);
}

static void missing_parents_are_made(void **state)
{
	struct fixture *f = *state;
	struct ut_session s;

	assert_int_equal(ut_session_create(&s, &f->arena, ut_path_join(&f->arena, f->dir, "a/b"),
					   "app", NULL),
			 0);
	ut_session_close(&s);
	ut_session_close(&s);
}

static void relative_parent_gives_an_absolute_directory(void **state)
{
	struct fixture *f = *state;
	struct ut_session s;

	assert_int_equal(chdir(f->dir), 0);
	assert_int_equal(ut_session_create(&s, &f->arena, ".", "app", NULL), 0);
	assert_int_equal(s.dir[0], '/');
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(ut_session_remove(&s, NULL), 0);
}

static void failure_says_where_and_what_to_do(void **state)
{
	struct fixture *f = *state;
	struct ut_err err = { 0 };
	struct ut_session s;

	assert_int_not_equal(ut_session_create(&s, &f->arena, "/proc", "app", &err), 0);
	assert_non_null(strstr(err.text, "/proc/unitrace.app."));
	assert_non_null(strstr(err.text, "--spool-dir"));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, make, release)

UT_TESTS(session)
{
	const struct CMUnitTest tests[] = {
		CASE(directory_is_named_after_program_and_process),
		CASE(leftover_is_left_alone),
		CASE(missing_parents_are_made),
		CASE(relative_parent_gives_an_absolute_directory),
		CASE(failure_says_where_and_what_to_do),
	};

	return cmocka_run_group_tests_name("launch/session", tests, NULL, NULL);
}
