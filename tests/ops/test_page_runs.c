/* test_page_runs.c - tests src/analysis/ops/page_runs.h: lists of JSON in which runs are one item.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "ops/page_runs.h"
#include "support/unit.h"

static void check(struct ut_page_runs *r, const char *want)
{
	ut_page_runs_close(r);
	assert_string_equal(r->text.data ? r->text.data : "", want);
	ut_buf_release(&r->text);
}

static void few_equal_items_stand_alone(void **state)
{
	struct ut_page_runs r = { 0 };

	(void)state;
	check(&r, "");
	for (int i = 0; i < 3; i++)
		ut_page_runs_number(&r, -7);
	ut_page_runs_number(&r, INT64_MIN);
	check(&r, "-7,-7,-7,-9223372036854775808");
}

static void many_equal_items_are_one(void **state)
{
	struct ut_page_runs r = { 0 };

	(void)state;
	for (int i = 0; i < 100000; i++)
		ut_page_runs_number(&r, 5);
	ut_page_runs_number(&r, 6);
	for (int i = 0; i < 4; i++)
		ut_page_runs_text(&r, UT_PAGE_RUNS_STRING, ut_str_of("a\"b"));
	check(&r, "[100000,5],6,[4,\"a\\\"b\"]");
}

static void texts_and_numbers_are_not_the_same(void **state)
{
	struct ut_page_runs r = { 0 };

	(void)state;
	for (int i = 0; i < 2; i++)
		ut_page_runs_number(&r, 7);
	for (int i = 0; i < 2; i++)
		ut_page_runs_text(&r, UT_PAGE_RUNS_NULL, ut_str_of("7"));
	for (int i = 0; i < 2; i++)
		ut_page_runs_text(&r, UT_PAGE_RUNS_DIGITS, ut_str_of("7"));
	for (int i = 0; i < 2; i++)
		ut_page_runs_text(&r, UT_PAGE_RUNS_STRING, ut_str_of("7"));
	check(&r, "7,7,null,null,7,7,\"7\",\"7\"");
}

static void a_text_again_is_what_it_was(void **state)
{
	struct ut_page_runs r = { 0 };

	(void)state;
	assert_false(ut_page_runs_again(&r, ut_str_of("")));
	ut_page_runs_text(&r, UT_PAGE_RUNS_NULL, ut_str_of("-"));
	for (int i = 0; i < 3; i++)
		assert_true(ut_page_runs_again(&r, ut_str_of("-")));
	assert_false(ut_page_runs_again(&r, ut_str_of("")));
	ut_page_runs_number(&r, 7);
	assert_false(ut_page_runs_again(&r, ut_str_of("-")));
	check(&r, "[4,null],7");
}

static void what_is_taken_back_was_never_put(void **state)
{
	struct ut_page_runs r = { 0 };

	(void)state;
	ut_page_runs_number(&r, 1);
	ut_page_runs_take_back(&r);
	for (int i = 0; i < 5; i++)
		ut_page_runs_number(&r, 2);
	ut_page_runs_take_back(&r);
	ut_page_runs_number(&r, 3);
	ut_page_runs_take_back(&r);
	ut_page_runs_number(&r, 3);
	check(&r, "[4,2],3");
}

UT_TESTS(page_runs)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_equal_items_stand_alone),
		cmocka_unit_test(many_equal_items_are_one),
		cmocka_unit_test(texts_and_numbers_are_not_the_same),
		cmocka_unit_test(a_text_again_is_what_it_was),
		cmocka_unit_test(what_is_taken_back_was_never_put),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
