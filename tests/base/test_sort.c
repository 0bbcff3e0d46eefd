/* test_sort.c - tests src/base/sort.h */
#include "base/sort.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/unit.h"

static int calls;

static int compare(const void *a, const void *b)
{
	const int *x = a, *y = b;

	calls++;
	return (*x > *y) - (*x < *y);
}

static void nothing_is_in_order(void **state)
{
	(void)state;
	ut_sort(NULL, 0, sizeof(int), compare);
}

static void what_is_in_order_is_looked_at_once(void **state)
{
	int items[] = { 1, 2, 2, 3, 9 };

	(void)state;
	calls = 0;
	ut_sort(items, 5, sizeof(*items), compare);
	assert_int_equal(calls, 4);
	assert_int_equal(items[4], 9);
}

static void what_is_not_is_sorted(void **state)
{
	int items[] = { 1, 2, 9, 3, 2 };

	(void)state;
	ut_sort(items, 5, sizeof(*items), compare);
	for (int i = 1; i < 5; i++)
		assert_true(items[i - 1] <= items[i]);
	assert_int_equal(items[4], 9);
}

UT_TESTS(sort)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_in_order),
		cmocka_unit_test(what_is_in_order_is_looked_at_once),
		cmocka_unit_test(what_is_not_is_sorted),
	};

	return cmocka_run_group_tests_name("base/sort", tests, NULL, NULL);
}
