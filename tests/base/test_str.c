/* test_str.c - tests src/base/str.h */
#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "support/unit.h"

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

static void pieces_are_compared_by_their_bytes(void **state)
{
	const struct ut_str none = { NULL, 0 }, nul = { "a\0b", 3 }, a = ut_str_of("a");
	const struct ut_str ab = { "abc", 2 }, high = ut_str_of("\xc3\xa4");

	(void)state;
	assert_int_equal(ut_str_of("three").len, 5);
	assert_true(ut_str_is(ab, "ab"));
	assert_false(ut_str_is(ab, "abc"));
	assert_false(ut_str_is(nul, "a"));
	assert_true(ut_str_eq(none, ut_str_of("")));
	assert_true(ut_str_eq(ab, ut_str_of("ab")));
	assert_false(ut_str_eq(nul, ab));
	assert_int_equal(ut_str_cmp(none, none), 0);
	assert_int_equal(ut_str_cmp(ab, ut_str_of("ab")), 0);
	assert_true(ut_str_cmp(none, a) < 0);
	assert_true(ut_str_cmp(a, ab) < 0);
	assert_true(ut_str_cmp(ab, nul) > 0);
	assert_true(ut_str_cmp(high, ab) > 0);
}

static void pieces_start_and_end(void **state)
{
	const struct ut_str s = { "process_name, and more", 12 };

	(void)state;
	assert_true(ut_str_has_start(s, "process"));
	assert_true(ut_str_has_start(s, "process_name"));
	assert_false(ut_str_has_start(s, "process_name,"));
	assert_true(ut_str_has_end(s, "_name"));
	assert_false(ut_str_has_end(s, "more"));
	assert_true(ut_str_has_end(s, ""));
}

UT_TESTS(str)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buffer_grows_and_stays_terminated),
		cmocka_unit_test(empty_buffer_gives_empty_text),
		cmocka_unit_test(distance_counts_slips),
		cmocka_unit_test(only_near_words_are_suggested),
		cmocka_unit_test(starts_and_ends),
		cmocka_unit_test(pieces_are_compared_by_their_bytes),
		cmocka_unit_test(pieces_start_and_end),
	};

	return cmocka_run_group_tests_name("base/str", tests, NULL, NULL);
}
