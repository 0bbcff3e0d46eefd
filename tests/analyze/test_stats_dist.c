/* test_stats_dist.c - tests src/analysis/analyze/stats_dist.h and stats_exact.h against plain
 * arithmetic. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/make_store.h"
#include "analyze/stats_dist.h"
#include "analyze/stats_exact.h"
#include "support/unit.h"

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Lengths from a nanosecond to a minute, as traces have them. */
static void fill(uint64_t *values, size_t n, uint64_t seed)
{
	for (size_t i = 0; i < n; i++) {
		unsigned int bits = (unsigned int)(make_random(&seed) % 36);

		values[i] = make_random(&seed) & ((UINT64_C(1) << bits) - 1);
	}
}

static uint64_t nearest_rank(const uint64_t *sorted, size_t n, unsigned int per_mille)
{
	size_t rank = (n * per_mille + 999) / 1000;

	return sorted[rank ? rank - 1 : 0];
}

static void check_quantiles(size_t n, double tolerance)
{
	static const unsigned int wanted[] = { 0, 1, 100, 250, 500, 900, 990, 999, 1000 };
	uint64_t *values = malloc(n * sizeof(*values));
	struct ut_dist d = { 0 };

	fill(values, n, n);
	for (size_t i = 0; i < n; i++)
		ut_dist_add(&d, values[i]);
	ut_dist_finalize(&d);
	qsort(values, n, sizeof(*values), compare);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		double exact = (double)nearest_rank(values, n, wanted[i]);
		double got = (double)ut_dist_quantile(&d, wanted[i]);

		assert_true(fabs(got - exact) <= tolerance * exact);
	}
	assert_int_equal(d.min, values[0]);
	assert_int_equal(d.max, values[n - 1]);
	ut_dist_release(&d);
	free(values);
}

static void quantiles_of_few_values_are_exact(void **state)
{
	(void)state;
	for (size_t n = 1; n < 40; n++)
		check_quantiles(n, 0);
	check_quantiles(UT_DIST_EXACT, 0);
}

static void quantiles_of_many_values_are_within_four_tenths_of_a_percent(void **state)
{
	(void)state;
	check_quantiles(UT_DIST_EXACT + 1, 0.004);
	check_quantiles(100000, 0.004);
}

static void every_value_lies_in_its_step(void **state)
{
	uint64_t seed = 7;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		uint64_t v = make_random(&seed) << 33 | make_random(&seed) << 2;
		struct ut_dist_step s = { 0 };
		struct ut_dist d = { 0 };

		v >>= make_random(&seed) % 64;
		v = i == 0 ? UINT64_MAX : i == 1 ? 0 : v;
		ut_dist_add(&d, v);
		ut_dist_spread(&d);
		assert_true(ut_dist_next(&d, &s));
		assert_true(s.low <= v && v <= s.high);
		assert_true(s.high - s.low <= s.low / 128);
		assert_false(ut_dist_next(&d, &s));
		ut_dist_release(&d);
	}
}

static void assert_same(const struct ut_dist *a, const struct ut_dist *b)
{
	struct ut_dist_step x = { 0 }, y = { 0 };

	assert_int_equal(a->count, b->count);
	assert_int_equal(a->min, b->min);
	assert_int_equal(a->max, b->max);
	assert_true(a->total == b->total && a->squares == b->squares);
	assert_int_equal(!a->powers, !b->powers);
	while (ut_dist_next(a, &x)) {
		assert_true(ut_dist_next(b, &y));
		assert_memory_equal(&x, &y, sizeof(x));
	}
	assert_false(ut_dist_next(b, &y));
}

static void merging_any_split_is_the_same_as_adding_all(void **state)
{
	static const size_t sizes[] = { 3, 4095, 4096, 4097, 9000 };
	uint64_t seed = 3;

	(void)state;
	for (size_t k = 0; k < 5 * 6; k++) {
		size_t n = sizes[k % 5], parts = 1 + make_random(&seed) % 7;
		uint64_t *values = malloc(n * sizeof(*values));
		struct ut_dist whole = { 0 }, merged = { 0 }, part[8] = { 0 };

		fill(values, n, k);
		for (size_t i = 0; i < n; i++) {
			ut_dist_add(&whole, values[i]);
			ut_dist_add(&part[make_random(&seed) % parts], values[i]);
		}
		for (size_t i = parts; i-- > 0;)
			ut_dist_merge(&merged, &part[i]);
		ut_dist_finalize(&whole);
		ut_dist_finalize(&merged);
		assert_same(&whole, &merged);
		for (size_t i = 0; i < 8; i++)
			ut_dist_release(&part[i]);
		ut_dist_release(&whole);
		ut_dist_release(&merged);
		free(values);
	}
}

static void deviation_survives_long_durations(void **state)
{
	struct ut_dist d = { 0 };
	uint64_t hour = UINT64_C(3600000000000);

	(void)state;
	for (int i = 0; i < 1000; i++)
		ut_dist_add(&d, hour + (i & 1 ? 3 : 1));
	assert_true(fabs(ut_dist_stddev(&d) - 1.0) < 1e-9);
	assert_int_equal(ut_dist_mean(&d), hour + 2);
	ut_dist_release(&d);
	assert_true(ut_dist_stddev(&d) == 0);
}

static void squares_that_do_not_fit_stop_at_the_top(void **state)
{
	struct ut_dist d = { 0 };

	(void)state;
	for (int i = 0; i < 5; i++)
		ut_dist_add(&d, UINT64_MAX);
	assert_true(d.squares == UT_U128_MAX);
	assert_true(d.total == (ut_u128)UINT64_MAX * 5);
	assert_int_equal(ut_dist_mean(&d), UINT64_MAX);
	ut_dist_release(&d);
}

static void exact_sums_do_not_depend_on_order(void **state)
{
	struct ut_exact forward = { 0 }, backward = { 0 }, half = { 0 };
	double values[2000];
	uint64_t seed = 1;

	(void)state;
	for (int i = 0; i < 2000; i++) {
		int power = (int)(make_random(&seed) % 600) - 300;

		values[i] = ldexp((double)make_random(&seed) - 1e9, power);
	}
	for (int i = 0; i < 2000; i++) {
		ut_exact_add(&forward, values[i], (uint64_t)i * 12345);
		ut_exact_add(i < 1000 ? &half : &backward, values[1999 - i],
			     (uint64_t)(1999 - i) * 12345);
	}
	ut_exact_merge(&backward, &half);
	assert_memory_equal(&forward, &backward, sizeof(forward));
}

static void exact_sums_cancel_to_nothing_or_to_the_smallest_number(void **state)
{
	struct ut_exact e = { 0 }, zero = { 0 };
	double tiny = 4.9406564584124654e-324, huge = 1.7976931348623157e308;

	(void)state;
	ut_exact_add(&e, huge, UINT64_MAX);
	ut_exact_add(&e, tiny, 1);
	ut_exact_add(&e, -huge, UINT64_MAX);
	assert_true((double)ut_exact_value(&e) == tiny);
	ut_exact_add(&e, -tiny, 2);
	assert_true((double)ut_exact_value(&e) == -tiny);
	ut_exact_add(&e, tiny, 1);
	assert_memory_equal(&e, &zero, sizeof(e));
	ut_exact_add(&e, NAN, 1);
	ut_exact_add(&e, INFINITY, 1);
	assert_memory_equal(&e, &zero, sizeof(e));
}

static void exact_sums_of_whole_numbers_keep_the_last_digit(void **state)
{
	struct ut_exact e = { 0 };

	(void)state;
	ut_exact_add_int(&e, false, UINT64_MAX, 10);
	ut_exact_add_int(&e, true, UINT64_MAX - 1, 10);
	assert_true(ut_exact_value(&e) == 10);
	ut_exact_add(&e, 0.5, 4);
	ut_exact_add_int(&e, true, 20, 1);
	assert_true(ut_exact_value(&e) == -8);
}

UT_TESTS(stats_dist)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quantiles_of_few_values_are_exact),
		cmocka_unit_test(quantiles_of_many_values_are_within_four_tenths_of_a_percent),
		cmocka_unit_test(every_value_lies_in_its_step),
		cmocka_unit_test(merging_any_split_is_the_same_as_adding_all),
		cmocka_unit_test(deviation_survives_long_durations),
		cmocka_unit_test(squares_that_do_not_fit_stop_at_the_top),
		cmocka_unit_test(exact_sums_do_not_depend_on_order),
		cmocka_unit_test(exact_sums_cancel_to_nothing_or_to_the_smallest_number),
		cmocka_unit_test(exact_sums_of_whole_numbers_keep_the_last_digit),
	};

	return cmocka_run_group_tests_name("analyze/stats_dist", tests, NULL, NULL);
}
