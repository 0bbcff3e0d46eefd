/* test_library.c - tests src/record/launch/library.h */
#include "launch/library.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/unit.h"

static void missing_file_is_named(void **state)
{
	struct ut_err err = { 0 };

	(void)state;
	assert_int_equal(ut_library_check("/nowhere/libunitrace.so", &err), -ENOENT);
	assert_non_null(strstr(err.text, "/nowhere/libunitrace.so"));
}

static void other_files_are_refused(void **state)
{
	struct ut_err err = { 0 };

	(void)state;
	assert_int_equal(ut_library_check("/etc/passwd", &err), -ENOEXEC);
	assert_non_null(strstr(err.text, "not a shared library"));
}

/* An executable is an ELF file of the right kind, but it cannot be loaded. */
static void library_that_does_not_load_is_refused(void **state)
{
	struct ut_err err = { 0 };

	(void)state;
	assert_int_not_equal(ut_library_check("/proc/self/exe", &err), 0);
	assert_int_not_equal(err.text[0], 0);
}

UT_TESTS(library)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(missing_file_is_named),
		cmocka_unit_test(other_files_are_refused),
		cmocka_unit_test(library_that_does_not_load_is_refused),
	};

	return cmocka_run_group_tests_name("launch/library", tests, NULL, NULL);
}
