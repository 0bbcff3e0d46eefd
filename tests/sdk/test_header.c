/*
 * test_header.c - tests include/ittnotify.h and jitprofiling.h: they compile without a word in
 * every language a program may be written in. Skipped where there is no compiler.
 *
 * All tests of this room get the fake collectors, and these want:
 * link: -Wl,--wrap=dlopen -Wl,--wrap=dlsym
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/unit.h"

static const char *source; /* the repository */

/* 0 when the compiler has nothing to say. */
static int compile(const char *compiler, const char *language, const char *std, const char *more)
{
	char command[2048];
	int len = snprintf(command, sizeof(command),
			   "%s -std=%s -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wundef "
			   "-Wcast-qual -Werror -I%s/include -I%s/src/record %s -x %s -c "
			   "%s/tests/sdk/header_uses.inc -o /dev/null",
			   compiler, std, source, source, more, language, source);

	assert_in_range(len, 1, sizeof(command) - 1);
	return system(command);
}

static int have(const char *compiler)
{
	char command[64];

	snprintf(command, sizeof(command), "%s --version >/dev/null 2>&1", compiler);
	return !system(command);
}

static void header_is_clean_in_every_version_of_c(void **state)
{
	static const char *const versions[] = { "c99", "c11", "c17", "gnu17" };

	(void)state;
	if (!source || !have("cc"))
		skip();
	for (size_t i = 0; i < sizeof(versions) / sizeof(*versions); i++)
		assert_int_equal(compile("cc", "c", versions[i], "-Wstrict-prototypes"), 0);
}

static void header_is_clean_in_every_version_of_cplusplus(void **state)
{
	static const char *const versions[] = { "c++11", "c++14", "c++17", "c++20" };

	(void)state;
	if (!source || !have("c++"))
		skip();
	for (size_t i = 0; i < sizeof(versions) / sizeof(*versions); i++)
		assert_int_equal(compile("c++", "c++", versions[i], ""), 0);
}

static void header_compiled_out_leaves_no_warnings(void **state)
{
	(void)state;
	if (!source || !have("cc"))
		skip();
	assert_int_equal(compile("cc", "c", "c99", "-DINTEL_NO_ITTNOTIFY_API"), 0);
	if (have("c++"))
		assert_int_equal(compile("c++", "c++", "c++11", "-DINTEL_NO_ITTNOTIFY_API"), 0);
}

UT_TESTS(header)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(header_is_clean_in_every_version_of_c),
		cmocka_unit_test(header_is_clean_in_every_version_of_cplusplus),
		cmocka_unit_test(header_compiled_out_leaves_no_warnings),
	};

	source = getenv("UNITRACE_SOURCE");
	return cmocka_run_group_tests_name("sdk/header", tests, NULL, NULL);
}
