/* test_memory_rate.c - tests src/record/backend/memory/poisson.h and rate.h */
#include "backend/memory/rate.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "backend/memory/poisson.h"
#include "support/unit.h"

static void logarithms_are_those_of_libm(void **state)
{
	uint64_t x = 1;

	(void)state;
	for (int i = 0; i < 100000; i++) {
		uint64_t some = ut_poisson_random(&x) >> i % 64 | 1;

		assert_true(fabs(ut_poisson_log2(some) - log2((double)some)) < 3e-6);
	}
	assert_true(fabs(ut_poisson_log2(UINT64_MAX) - 64) < 3e-6);
	assert_true(ut_poisson_log2(1) == 0);
}

/* Mean and variance of an exponential distribution, and how much of it lies below its mean. */
static void distances_are_exponential(void **state)
{
	const int count = 200000;
	double sum = 0, squares = 0;
	uint64_t x = 4711;
	int below = 0;

	(void)state;
	for (int i = 0; i < count; i++) {
		double d = (double)ut_poisson_next(&x, 16) / 65536;

		assert_true(d > 0);
		sum += d;
		squares += d * d;
		below += d < 1;
	}
	assert_true(fabs(sum / count - 1) < 0.01);
	assert_true(fabs(squares / count - 2) < 0.05);
	assert_true(fabs((double)below / count - (1 - exp(-1))) < 0.005);
}

/* A million blocks of sizes from 16 bytes to 64 KiB: what is drawn, scaled up, is what there was.
 */
static void estimates_have_no_bias(void **state)
{
	uint64_t x = 99, left = ut_poisson_next(&x, 14), y = 7;
	double bytes = 0, count = 0, estimated_bytes = 0, estimated_count = 0, variance = 0;

	(void)state;
	for (int i = 0; i < 1000000; i++) {
		uint64_t size = 16u << ut_poisson_random(&y) % 13;
		double p = 1 - exp(-(double)size / 16384);

		bytes += (double)size;
		count++;
		if (size < left) {
			left -= size;
			continue;
		}
		left = ut_poisson_next(&x, 14);
		estimated_bytes += (double)size / p;
		estimated_count += 1 / p;
		variance += (double)size / p * (double)size / p * (1 - p);
	}
	assert_true(fabs(estimated_bytes - bytes) < 4 * sqrt(variance));
	assert_true(sqrt(variance) / bytes < 0.01);
	assert_true(fabs(estimated_count / count - 1) < 0.1);
}

/* So many allocations, a microsecond of work for each, this far apart. */
static void run(int count, uint64_t ns_apart, uint64_t live, uint64_t *now)
{
	for (int i = 0; i < count; i++) {
		*now += ns_apart;
		ut_rate_spent(1000, *now, live);
	}
}

static void it_keeps_to_its_share_of_the_time(void **state)
{
	uint64_t now = 1000;

	(void)state;
	ut_rate_init(0, now);
	assert_int_equal(ut_rate_bits(), UT_RATE_LEAST);
	run(1280, 2000, 0, &now); /* half of the time: a bit more for each of ten rounds */
	assert_int_equal(ut_rate_bits(), UT_RATE_LEAST + 10);
	run(1280, 80000, 0, &now); /* 1.25 %: it is right */
	assert_int_equal(ut_rate_bits(), UT_RATE_LEAST + 10);
	run(100000, 1000000, 0, &now); /* hardly any */
	assert_int_equal(ut_rate_bits(), UT_RATE_LEAST);
	run(100000, 1001, 0, &now);
	assert_int_equal(ut_rate_bits(), UT_RATE_MOST);
}

static void what_kept_us_from_running_is_not_our_time(void **state)
{
	uint64_t now = 1000;

	(void)state;
	ut_rate_init(0, now);
	for (int i = 0; i < 1280; i++) {
		now += 3000000;
		ut_rate_spent(2000000, now, 0); /* preempted for most of it */
	}
	assert_int_equal(ut_rate_bits(), UT_RATE_LEAST);
}

static void many_live_blocks_need_fewer_new_ones(void **state)
{
	uint64_t now = 1000;

	(void)state;
	ut_rate_init(0, now);
	run(10, 1000000, 5 * 4096 + 1, &now);
	assert_int_equal(ut_rate_bits(), UT_RATE_LEAST + 5);
	run(10, 1000000, 10, &now);
	assert_int_equal(ut_rate_bits(), UT_RATE_LEAST);
}

static void what_the_user_says_stays(void **state)
{
	uint64_t now = 1000;

	(void)state;
	ut_rate_init(14, now);
	run(1280, 1001, 1000000, &now);
	assert_int_equal(ut_rate_bits(), 14);
}

UT_TESTS(memory_rate)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(logarithms_are_those_of_libm),
		cmocka_unit_test(distances_are_exponential),
		cmocka_unit_test(estimates_have_no_bias),
		cmocka_unit_test(it_keeps_to_its_share_of_the_time),
		cmocka_unit_test(what_kept_us_from_running_is_not_our_time),
		cmocka_unit_test(many_live_blocks_need_fewer_new_ones),
		cmocka_unit_test(what_the_user_says_stays),
	};

	return cmocka_run_group_tests_name("backend/memory_rate", tests, NULL, NULL);
}
