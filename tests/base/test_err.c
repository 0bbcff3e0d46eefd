/* test_err.c - tests src/base/err.h */
#include "base/err.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/unit.h"

static void returns_the_code_it_was_given(void **state)
{
	struct ut_err err = { 0 };

	(void)state;
	assert_int_equal(ut_err_set(&err, -EINVAL, "bad %s", "thing"), -EINVAL);
	assert_int_equal(err.code, -EINVAL);
	assert_string_equal(err.text, "bad thing");
}

static void first_text_wins(void **state)
{
	struct ut_err err = { 0 };

	(void)state;
	ut_err_set(&err, -ENOENT, "the cause");
	assert_int_equal(ut_err_set(&err, -EIO, "the consequence"), -EIO);
	assert_int_equal(err.code, -ENOENT);
	assert_string_equal(err.text, "the cause");
}

static void null_only_returns_the_code(void **state)
{
	(void)state;
	assert_int_equal(ut_err_set(NULL, -EIO, "unheard"), -EIO);
}

static void long_text_is_cut(void **state)
{
	struct ut_err err = { 0 };
	char text[3000];

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	ut_err_set(&err, -1, "%s", text);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
}

UT_TESTS(err)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(returns_the_code_it_was_given),
		cmocka_unit_test(first_text_wins),
		cmocka_unit_test(null_only_returns_the_code),
		cmocka_unit_test(long_text_is_cut),
	};

	return cmocka_run_group_tests_name("base/err", tests, NULL, NULL);
}
