/* test_pytext.c - tests src/analysis/tt/pytext.h: as Python prints it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "support/unit.h"
#include "text/out.h"
#include "tt/pytext.h"

static void strings_are_quoted_as_repr_does(void **state)
{
	static const char *const cases[][2] = {
		{ "", "''" },
		{ "a b", "'a b'" },
		{ "it's", "\"it's\"" },
		{ "say \"it\"", "'say \"it\"'" },
		{ "it's \"it\"", "'it\\'s \"it\"'" },
		{ "a\\b\n\t\r\x01\x7f", "'a\\\\b\\n\\t\\r\\x01\\x7f'" },
		{ "\xc3\xa4", "'\xc3\xa4'" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ut_buf b = { 0 };

		ut_py_str(&b, (struct ut_str){ cases[i][0], strlen(cases[i][0]) });
		assert_string_equal(b.data, cases[i][1]);
		ut_buf_release(&b);
	}
}

static void json_is_laid_out_as_with_indent_2(void **state)
{
	struct ut_py_json j = { .out = ut_out_open_memory() };
	static const char want[] =
		"{\n  \"a\": 1.0,\n  \"b\": [],\n  \"c\": [\n    \"x\"\n  ],\n"
		"  \"d\": 77.25,\n  \"e\": 0.1,\n  \"f\": 1e+16,\n  \"g\": true\n}";
	const char *got;
	size_t len;

	(void)state;
	ut_py_open(&j, '{');
	ut_py_put_double(&j, "a", 1);
	ut_py_put_list(&j, "b", (const char *const[]){ NULL });
	ut_py_put_list(&j, "c", (const char *const[]){ "x", NULL });
	ut_py_put_double(&j, "d", 77.25);
	ut_py_put_double(&j, "e", 0.1);
	ut_py_put_double(&j, "f", 1e16);
	ut_py_put_bool(&j, "g", true);
	ut_py_close(&j, '}');
	got = ut_out_data(j.out, &len);
	assert_int_equal(len, strlen(want));
	assert_memory_equal(got, want, len);
	ut_out_abandon(j.out);
}

UT_TESTS(pytext)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strings_are_quoted_as_repr_does),
		cmocka_unit_test(json_is_laid_out_as_with_indent_2),
	};

	return cmocka_run_group_tests_name("tt/pytext", tests, NULL, NULL);
}
