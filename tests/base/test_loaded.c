/* test_loaded.c - tests src/base/loaded.h */
#include "base/loaded.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "support/unit.h"

static double (*cosine)(double);
static void (*nowhere)(void);

static int load(const char *file, const struct ut_loaded_function *functions, size_t count,
		struct ut_err *err)
{
	return ut_loaded_open(
		&(struct ut_loaded){ "maths", file, "maths is not installed", functions, count },
		err);
}

static void what_is_there_can_be_called(void **state)
{
	const struct ut_loaded_function functions[] = { { "cos", &cosine, false },
							{ "no_such_thing", &nowhere, true } };

	(void)state;
	assert_int_equal(load("libm.so.6", functions, 2, NULL), 0);
	assert_true(cosine(0) == 1);
	assert_null(nowhere);
}

static void what_is_missing_is_named(void **state)
{
	const struct ut_loaded_function functions[] = { { "cos", &cosine, false },
							{ "no_such_thing", &nowhere, false } };
	struct ut_err err = { 0 };

	(void)state;
	assert_int_equal(load("libm.so.6", functions, 2, &err), -ELIBBAD);
	assert_string_equal(err.text, "maths cannot be used: libm.so.6 has no no_such_thing");
}

static void a_library_that_is_not_installed_is_reported(void **state)
{
	struct ut_err err = { 0 };

	(void)state;
	assert_int_equal(load("libnobodyhasthis.so.77", NULL, 0, &err), -ELIBACC);
	assert_string_equal(err.text, "maths is not installed");
}

UT_TESTS(loaded)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_there_can_be_called),
		cmocka_unit_test(what_is_missing_is_named),
		cmocka_unit_test(a_library_that_is_not_installed_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
