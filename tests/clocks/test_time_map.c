/* test_time_map.c - tests src/trace/clocks/time_map.h */
#include "clocks/time_map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/unit.h"

static struct ut_time_map map_of(size_t count, const int64_t (*knots)[2])
{
	struct ut_time_map m = { 0 };

	for (size_t i = 0; i < count; i++)
		ut_time_map_knot(&m, knots[i][0], knots[i][1], 10 * (i + 1));
	return m;
}

static void nothing_adds_nothing_and_one_knot_shifts(void **state)
{
	struct ut_time_map none = { 0 }, one = map_of(1, (const int64_t[][2]){ { 500, -7 } });

	(void)state;
	assert_int_equal(ut_time_map_to(&none, 4711), 4711);
	assert_int_equal(ut_time_map_error(&none, 0), 0);
	assert_int_equal(ut_time_map_to(&one, 0), -7);
	assert_int_equal(ut_time_map_to(&one, INT64_MAX), INT64_MAX - 7);
	assert_int_equal(ut_time_map_to(&one, INT64_MIN), INT64_MIN);
	assert_true(ut_time_map_is_shift(&one));
	assert_int_equal(ut_time_map_drift(&one), 0);
	ut_time_map_release(&one);
}

static void between_knots_it_changes_evenly_and_outside_it_goes_on(void **state)
{
	struct ut_time_map m =
		map_of(3, (const int64_t[][2]){ { 1000, 0 }, { 2000, 10 }, { 4000, 10 } });

	(void)state;
	assert_int_equal(ut_time_map_add(&m, 1000), 0);
	assert_int_equal(ut_time_map_add(&m, 1500), 5);
	assert_int_equal(ut_time_map_add(&m, 2000), 10);
	assert_int_equal(ut_time_map_add(&m, 3000), 10);
	assert_int_equal(ut_time_map_add(&m, 0), -10);
	assert_int_equal(ut_time_map_add(&m, 9000), 10);
	assert_int_equal(ut_time_map_error(&m, 1500), 20);
	assert_int_equal(ut_time_map_error(&m, 3000), 30);
	assert_int_equal(ut_time_map_worst(&m), 30);
	assert_false(ut_time_map_is_shift(&m));
	ut_time_map_shift(&m, 100);
	assert_int_equal(ut_time_map_add(&m, 1500), 105);
	ut_time_map_release(&m);
}

static void a_knot_that_is_not_behind_the_last_takes_its_place(void **state)
{
	struct ut_time_map m = map_of(2, (const int64_t[][2]){ { 1000, 0 }, { 2000, 10 } });

	(void)state;
	ut_time_map_knot(&m, 2000, 30, 1);
	assert_int_equal(m.count, 2);
	assert_int_equal(ut_time_map_add(&m, 1500), 15);
	ut_time_map_release(&m);
}

static void the_way_back_ends_where_it_began(void **state)
{
	struct ut_time_map m = map_of(
		3,
		(const int64_t[][2]){ { 1000000, 500 }, { 9000000, -2000 }, { 90000000, 9000 } });

	(void)state;
	for (int64_t at = 0; at < 100000000; at += 77777) {
		int64_t back = ut_time_map_from(&m, ut_time_map_to(&m, at));

		assert_in_range(back - at + 1, 0, 2);
	}
	ut_time_map_release(&m);
}

static void maps_are_chained_knot_by_knot(void **state)
{
	struct ut_time_map a =
		map_of(2, (const int64_t[][2]){ { 1000000, 100000 }, { 1000000000, 200000 } });
	struct ut_time_map b = map_of(
		3,
		(const int64_t[][2]){ { 0, -50000 }, { 500000000, 0 }, { 2000000000, 1000000 } });
	struct ut_time_map shift = map_of(1, (const int64_t[][2]){ { 77, 1000000000 } });
	struct ut_time_map both = { 0 }, later = { 0 };

	(void)state;
	ut_time_map_chain(&a, &b, &both);
	ut_time_map_chain(&shift, &b, &later);
	assert_int_equal(both.count, 3);
	for (int64_t at = 1000000; at < 1000000000; at += 1234567) {
		int64_t want = ut_time_map_to(&b, ut_time_map_to(&a, at));

		assert_in_range(ut_time_map_to(&both, at) - want + 2, 0, 4);
		want = ut_time_map_to(&b, at + 1000000000);
		assert_in_range(ut_time_map_to(&later, at) - want + 2, 0, 4);
	}
	assert_int_equal(ut_time_map_error(&both, 600000000), 20 + 30);
	ut_time_map_release(&a);
	ut_time_map_release(&b);
	ut_time_map_release(&shift);
	ut_time_map_release(&both);
	ut_time_map_release(&later);
}

UT_TESTS(time_map)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_adds_nothing_and_one_knot_shifts),
		cmocka_unit_test(between_knots_it_changes_evenly_and_outside_it_goes_on),
		cmocka_unit_test(a_knot_that_is_not_behind_the_last_takes_its_place),
		cmocka_unit_test(the_way_back_ends_where_it_began),
		cmocka_unit_test(maps_are_chained_knot_by_knot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
