/* test_json_piece.c - tests src/base/json_piece.h: any bytes, and never behind the end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json_piece.h"
#include "support/unit.h"

static size_t behind_value(const char *text)
{
	return (size_t)(ut_json_behind_value(text, text + strlen(text)) - text);
}

static size_t behind_string(const char *text)
{
	return (size_t)(ut_json_behind_string(text, text + strlen(text)) - text);
}

static void a_value_ends_where_its_neighbour_begins(void **state)
{
	(void)state;
	assert_int_equal(behind_value("12,3"), 2);
	assert_int_equal(behind_value("{\"a\":[1,2]},3"), 11);
	assert_int_equal(behind_value("[[],{}]]"), 7);
	assert_int_equal(behind_value("\"a,b]\"}"), 6);
	assert_int_equal(behind_value("{\"}\":1}"), 7);
	assert_int_equal(behind_value("5 }"), 2);
}

static void a_string_ends_at_its_own_quote(void **state)
{
	const char *open = "\"no end\\\"";

	(void)state;
	assert_int_equal(behind_string("\"\"x"), 2);
	assert_int_equal(behind_string("\"a\\\"b\"c"), 6);
	assert_int_equal(behind_string("\"\\\\\"c"), 4);
	assert_int_equal(behind_string(open), strlen(open));
	assert_ptr_equal(ut_json_closing_quote(open, open + strlen(open)), open + strlen(open));
}

static void blanks_are_those_of_c(void **state)
{
	const char *text = " \t\r\n x";

	(void)state;
	assert_ptr_equal(ut_json_behind_blanks(text, text + 6), text + 5);
	assert_ptr_equal(ut_json_behind_blanks(text, text + 2), text + 2);
}

/* Bytes in a block of their own, so that a sanitizer sees a read behind them. */
static void nothing_is_read_behind_the_end(void **state)
{
	static const char bytes[] = "\"\\{}[],: a";
	uint32_t seed = 7;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		size_t len = seed % 12 + 1;
		char *text = malloc(len), *end = text + len;

		assert_non_null(text);
		for (size_t i = 0; i < len; i++) {
			seed = seed * 1664525 + 1013904223;
			text[i] = bytes[(seed >> 16) % (sizeof(bytes) - 1)];
		}
		assert_true(ut_json_behind_value(text, end) <= end);
		assert_true(ut_json_behind_string(text, end) <= end);
		assert_true(ut_json_behind_blanks(text, end) <= end);
		free(text);
	}
}

UT_TESTS(json_piece)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_value_ends_where_its_neighbour_begins),
		cmocka_unit_test(a_string_ends_at_its_own_quote),
		cmocka_unit_test(blanks_are_those_of_c),
		cmocka_unit_test(nothing_is_read_behind_the_end),
	};

	return cmocka_run_group_tests_name("json_piece", tests, NULL, NULL);
}
