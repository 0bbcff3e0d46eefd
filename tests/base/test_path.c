/* test_path.c - tests src/base/path.h */
#include "base/path.h"

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
#include <unistd.h>

#include <cmocka.h>

#include "base/arena.h"
#include "support/unit.h"

struct fixture {
	struct ut_arena arena;
	char dir[64];
};

static int make(void **state)
{
	static struct fixture f;

	snprintf(f.dir, sizeof(f.dir), "/tmp/ut_path_XXXXXX");
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

static void touch(const char *path, mode_t mode)
{
	int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, mode);

	assert_true(fd >= 0);
	close(fd);
}

static void join_knows_absolute_names_and_slashes(void **state)
{
	struct fixture *f = *state;

	assert_string_equal(ut_path_join(&f->arena, "a", "b"), "a/b");
	assert_string_equal(ut_path_join(&f->arena, "a/", "b"), "a/b");
	assert_string_equal(ut_path_join(&f->arena, "a", "/b"), "/b");
	assert_string_equal(ut_path_join(&f->arena, NULL, "b"), "b");
	assert_string_equal(ut_path_join(&f->arena, "", "b"), "b");
}

static void base_and_dir_split_at_the_last_slash(void **state)
{
	struct fixture *f = *state;

	assert_string_equal(ut_path_base("/usr/bin/sh"), "sh");
	assert_string_equal(ut_path_base("sh"), "sh");
	assert_string_equal(ut_path_dir(&f->arena, "/usr/bin/sh"), "/usr/bin");
	assert_string_equal(ut_path_dir(&f->arena, "sh"), ".");
	assert_string_equal(ut_path_dir(&f->arena, "/sh"), "/");
}

static void absolute_counts_from_here(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(chdir("/usr"), 0);
	assert_string_equal(ut_path_absolute(&f->arena, "/a/../b"), "/a/../b");
	assert_string_equal(ut_path_absolute(&f->arena, "bin"), "/usr/bin");
	assert_string_equal(ut_path_absolute(&f->arena, ".//././bin"), "/usr/bin");
	assert_string_equal(ut_path_absolute(&f->arena, "."), "/usr");
	assert_string_equal(ut_path_absolute(&f->arena, ".hidden"), "/usr/.hidden");
}

static void mkdirs_makes_parents_and_may_be_repeated(void **state)
{
	struct fixture *f = *state;
	const char *deep = ut_path_join(&f->arena, f->dir, "a/b//c/");

	assert_int_equal(ut_path_mkdirs(deep, NULL), 0);
	assert_int_equal(ut_path_mkdirs(deep, NULL), 0);
	assert_true(ut_path_is_dir(deep));
	assert_int_equal(ut_path_mkdirs("/", NULL), 0);
}

static void mkdirs_names_the_part_that_is_in_the_way(void **state)
{
	struct fixture *f = *state;
	const char *file = ut_path_join(&f->arena, f->dir, "file");
	struct ut_err err = { 0 };

	touch(file, 0644);
	assert_int_equal(ut_path_mkdirs(ut_path_join(&f->arena, file, "x/y"), &err), -ENOTDIR);
	assert_non_null(strstr(err.text, file));
	assert_int_not_equal(ut_path_mkdirs("", NULL), 0);
}

static void remove_tree_does_not_follow_links(void **state)
{
	struct fixture *f = *state;
	const char *keep = ut_path_join(&f->arena, f->dir, "keep");
	const char *gone = ut_path_join(&f->arena, f->dir, "gone");

	assert_int_equal(ut_path_mkdirs(keep, NULL), 0);
	assert_int_equal(ut_path_mkdirs(gone, NULL), 0);
	assert_int_equal(symlink(keep, ut_path_join(&f->arena, gone, "link")), 0);
	touch(ut_path_join(&f->arena, keep, "file"), 0644);
	assert_int_equal(ut_path_remove_tree(gone, NULL), 0);
	assert_false(ut_path_exists(gone));
	assert_true(ut_path_exists(ut_path_join(&f->arena, keep, "file")));
	assert_int_equal(ut_path_remove_tree(gone, NULL), 0);
}

static void program_is_searched_as_exec_does(void **state)
{
	struct fixture *f = *state;
	int code = 0;

	touch(ut_path_join(&f->arena, f->dir, "ut_plain"), 0644);
	touch(ut_path_join(&f->arena, f->dir, "ut_prog"), 0755);
	setenv("PATH", f->dir, 1);
	assert_string_equal(ut_path_find_program(&f->arena, "ut_prog", &code),
			    ut_path_join(&f->arena, f->dir, "ut_prog"));
	assert_null(ut_path_find_program(&f->arena, "ut_plain", &code));
	assert_int_equal(code, EACCES);
	assert_null(ut_path_find_program(&f->arena, "ut_none", &code));
	assert_int_equal(code, ENOENT);
	assert_null(ut_path_find_program(&f->arena, f->dir, &code));
	assert_int_equal(code, EACCES);
	assert_null(ut_path_find_program(&f->arena, "", &code));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, make, release)

UT_TESTS(path)
{
	const struct CMUnitTest tests[] = {
		CASE(join_knows_absolute_names_and_slashes),
		CASE(base_and_dir_split_at_the_last_slash),
		CASE(absolute_counts_from_here),
		CASE(mkdirs_makes_parents_and_may_be_repeated),
		CASE(mkdirs_names_the_part_that_is_in_the_way),
		CASE(remove_tree_does_not_follow_links),
		CASE(program_is_searched_as_exec_does),
	};

	return cmocka_run_group_tests_name("base/path", tests, NULL, NULL);
}
