/* test_user_code.c - tests src/trace/model/user_code.h: whose code a file is */
#include "model/user_code.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/unit.h"

static void packages_and_the_interpreter_are_not_the_users(void **state)
{
	static const char *const theirs[] = {
		"/usr/lib/python3.11/json/decoder.py",
		"/usr/lib64/python3.12/os.py",
		"/home/me/venv/lib/python3.11/site-packages/torch/_ops.py",
		"/usr/lib/python3/dist-packages/numpy/__init__.py",
		"torch/nn/modules/module.py",
		"<frozen importlib._bootstrap>",
		"<string>",
	};
	static const char *const own[] = { "/home/me/train.py", "train.py", "",
					   "lib/python/mine.py", "/home/me/torch/mine.py" };

	(void)state;
	for (size_t i = 0; i < sizeof(theirs) / sizeof(theirs[0]); i++)
		assert_true(ut_is_library_file(ut_str_of(theirs[i])));
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		assert_false(ut_is_library_file(ut_str_of(own[i])));
}

UT_TESTS(user_code)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packages_and_the_interpreter_are_not_the_users),
	};

	return cmocka_run_group_tests_name("model/user_code", tests, NULL, NULL);
}
