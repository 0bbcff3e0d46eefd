/* test_text.c - tests src/record/wire/text.h against the C library's own printf. */
#include "wire/text.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support/unit.h"

static uint64_t seed = 1;

static uint64_t next_random(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static void expect_u64(uint64_t value)
{
	char ours[64], theirs[64];
	struct ut_text t = ut_text_init(ours, sizeof(ours));

	ut_text_u64(&t, value);
	ut_text_str(&t, " ");
	ut_text_i64(&t, (int64_t)value);
	ut_text_str(&t, " ");
	ut_text_hex(&t, value);
	snprintf(theirs, sizeof(theirs), "%" PRIu64 " %" PRId64 " %" PRIx64, value, (int64_t)value,
		 value);
	assert_string_equal(ours, theirs);
	assert_int_equal(t.len, strlen(theirs));
	assert_false(t.cut);
}

static void integers_print_as_printf_does(void **state)
{
	(void)state;
	expect_u64(0);
	expect_u64(UINT64_MAX);
	expect_u64((uint64_t)INT64_MIN);
	expect_u64(INT64_MAX);
	for (int i = 0; i < 20000; i++)
		expect_u64(next_random() >> (next_random() & 63));
}

static void expect_double(double value, unsigned int decimals)
{
	char ours[512], theirs[512];
	struct ut_text t = ut_text_init(ours, sizeof(ours));

	ut_text_double(&t, value, decimals);
	snprintf(theirs, sizeof(theirs), "%.*f", (int)decimals, value);
	assert_string_equal(ours, theirs);
}

static void doubles_round_as_printf_does_also_at_ties(void **state)
{
	static const double values[] = { 0.0,
					 -0.0,
					 0.5,
					 1.5,
					 2.5,
					 0.125,
					 0.375,
					 -2.5,
					 1e-9,
					 5e-10,
					 1.005,
					 0.285,
					 1e15,
					 999.9999995,
					 0.9999,
					 1e-300,
					 4e18,
					 DBL_MIN,
					 0.49999999999999994 };

	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		for (unsigned int d = 0; d <= 9; d++)
			expect_double(values[i], d);
	for (int i = 0; i < 50000; i++) {
		double whole = (double)(next_random() >> (next_random() & 63) >> 1);
		double scale = (double)(1ull << (next_random() & 62));

		if (whole / scale < 9.2e18)
			expect_double(whole / scale, (unsigned int)(next_random() % 10));
	}
}

static void numbers_past_the_integers_have_an_exponent(void **state)
{
	char buf[64];
	struct ut_text t = ut_text_init(buf, sizeof(buf));
	double back;

	(void)state;
	ut_text_double(&t, -1e300, 3);
	assert_int_equal(sscanf(buf, "%lf", &back), 1);
	assert_true(fabs(back / -1e300 - 1) < 1e-12);
	t = ut_text_init(buf, sizeof(buf));
	ut_text_double(&t, (double)INFINITY, 1);
	ut_text_double(&t, (double)-INFINITY, 1);
	ut_text_double(&t, (double)NAN, 1);
	assert_string_equal(buf, "inf-infnan");
}

static void what_does_not_fit_is_cut_and_said_so(void **state)
{
	char buf[8];
	struct ut_text t = ut_text_init(buf, sizeof(buf));

	(void)state;
	ut_text_str(&t, "1234567");
	assert_false(t.cut);
	ut_text_str(&t, "");
	assert_false(t.cut);
	ut_text_u64(&t, 8);
	assert_true(t.cut);
	assert_string_equal(buf, "1234567");
	t = ut_text_init(buf, 1);
	ut_text_str(&t, NULL);
	assert_true(t.cut);
	assert_string_equal(buf, "");
	t = ut_text_init(buf, sizeof(buf));
	ut_text_str(&t, NULL);
	assert_string_equal(buf, "(null)");
}

UT_TESTS(text)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(integers_print_as_printf_does),
		cmocka_unit_test(doubles_round_as_printf_does_also_at_ties),
		cmocka_unit_test(numbers_past_the_integers_have_an_exponent),
		cmocka_unit_test(what_does_not_fit_is_cut_and_said_so),
	};

	return cmocka_run_group_tests_name("wire/text", tests, NULL, NULL);
}
