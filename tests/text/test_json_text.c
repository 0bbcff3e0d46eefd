/* test_json_text.c - tests src/trace/text/json_text.h and src/base/utf8.h: valid for any bytes,
 * exact for any number. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/str.h"
#include "base/utf8.h"
#include "support/unit.h"
#include "text/json_text.h"

#define BAD UT_UTF8_BAD

static void expect(const char *s, size_t len, const char *want)
{
	struct ut_buf b = { 0 };

	ut_json_text_str(&b, s, len);
	assert_string_equal(b.data, want);
	ut_buf_release(&b);
}

static void strings_are_escaped(void **state)
{
	(void)state;
	expect("", 0, "\"\"");
	expect("a\0b\"\\\n\x1f\x7f", 8, "\"a\\u0000b\\\"\\\\\\n\\u001f\x7f\"");
	expect("caf\xc3\xa9 \xf0\x9f\x98\x80", 10, "\"caf\xc3\xa9 \xf0\x9f\x98\x80\"");
}

static void bad_bytes_are_replaced(void **state)
{
	(void)state;
	expect("\x80x", 2, "\"" BAD "x\"");
	expect("\xe2\x82", 2, "\"" BAD "\"");                     /* cut off: one replacement */
	expect("\xed\xa0\x80", 3, "\"" BAD BAD BAD "\"");         /* a surrogate */
	expect("\xe2\xe2\x82\xac", 4, "\"" BAD "\xe2\x82\xac\""); /* a good one behind a bad one */
}

static void a_repaired_copy_is_valid(void **state)
{
	char bytes[64], copy[3 * sizeof(bytes)];
	uint32_t seed = 1;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		size_t len;

		for (size_t i = 0; i < sizeof(bytes); i++) {
			seed = seed * 1664525u + 1013904223u;
			bytes[i] = (char)(seed >> 24 | (seed >> 9 & 0x80));
		}
		len = ut_utf8_copy(copy, bytes, sizeof(bytes));
		assert_true(len <= sizeof(copy));
		assert_true(ut_utf8_valid(copy, len));
		if (ut_utf8_valid(bytes, sizeof(bytes)))
			assert_memory_equal(copy, bytes, sizeof(bytes));
	}
}

static void numbers_read_back_and_are_short(void **state)
{
	static const double values[] = { 0.1, 1.0 / 3, 5, -0.0, 1e300, DBL_MIN, DBL_MAX, 4.9e-324 };
	char text[UT_DOUBLE_ROOM];

	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		double back;

		ut_double_digits(text, values[i]);
		back = strtod(text, NULL);
		assert_memory_equal(&back, &values[i], sizeof(back));
	}
	ut_double_digits(text, 0.1);
	assert_string_equal(text, "0.1");
}

static void what_json_has_no_number_for_is_a_string(void **state)
{
	struct ut_buf b = { 0 };

	(void)state;
	ut_json_text_double(&b, NAN);
	ut_json_text_double(&b, INFINITY);
	ut_json_text_double(&b, -INFINITY);
	assert_string_equal(b.data, "\"NaN\"\"Infinity\"\"-Infinity\"");
	ut_buf_release(&b);
}

UT_TESTS(json_text)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strings_are_escaped),
		cmocka_unit_test(bad_bytes_are_replaced),
		cmocka_unit_test(a_repaired_copy_is_valid),
		cmocka_unit_test(numbers_read_back_and_are_short),
		cmocka_unit_test(what_json_has_no_number_for_is_a_string),
	};

	return cmocka_run_group_tests_name("text/json_text", tests, NULL, NULL);
}
