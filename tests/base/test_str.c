/* test_str.c - tests src/base/str.h */
#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"

static void buffer_grows_and_stays_terminated(void **state)
{
	struct ut_buf b = { 0 };

	(void)state;
	for (int i = 0; i < 1000; i++)
		ut_buf_fmt(&b, "%d,", i);
	assert_int_equal(strlen(b.data), b.len);
	assert_int_equal(b.len, 10 * 2 + 90 * 3 + 900 * 4);
	ut_buf_release(&b);
	assert_null(b.data);
}

static void empty_buffer_gives_empty_text(void **state)
{
	struct ut_arena a = { 0 };
	struct ut_buf b = { 0 };

	(void)state;
	assert_string_equal(ut_buf_take(&b, &a), "");
	ut_arena_release(&a);
}

static void distance_counts_slips(void **state)
{
	(void)state;
	assert_int_equal(ut_str_distance("export", "export"), 0);
	assert_int_equal(ut_str_distance("exprot", "export"), 1); /* swapped */
	assert_int_equal(ut_str_distance("exort", "export"), 1);
	assert_int_equal(ut_str_distance("exxport", "export"), 1);
	assert_int_equal(ut_str_distance("import", "export"), 2);
	assert_int_equal(ut_str_distance("", "info"), 4);
}

static void only_near_words_are_suggested(void **state)
{
	unsigned int distance = 99;

	(void)state;
	assert_false(ut_str_closer("ls", "info", &distance));
	assert_false(ut_str_closer("python", "export", &distance));
	assert_true(ut_str_closer("infoo", "info", &distance));
	assert_int_equal(distance, 1);
	assert_false(ut_str_closer("infoo", "inf", &distance));
}

static void starts_and_ends(void **state)
{
	(void)state;
	assert_true(ut_str_starts("oneCCL", "one"));
	assert_false(ut_str_starts("on", "one"));
	assert_true(ut_str_ends("a.json", ".json"));
	assert_false(ut_str_ends("json", ".json"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buffer_grows_and_stays_terminated),
		cmocka_unit_test(empty_buffer_gives_empty_text),
		cmocka_unit_test(distance_counts_slips),
		cmocka_unit_test(only_near_words_are_suggested),
		cmocka_unit_test(starts_and_ends),
	};

	return cmocka_run_group_tests_name("base/str", tests, NULL, NULL);
}
