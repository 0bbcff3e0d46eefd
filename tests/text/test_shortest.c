/* test_shortest.c - tests src/trace/text/shortest.h: doubles as text, there and back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/unit.h"
#include "text/shortest.h"

static void check(double v, const char *expected)
{
	char text[UT_SHORTEST_ROOM];

	assert_string_equal(ut_shortest(text, v), expected);
}

static void the_shortest_text_that_reads_back_is_printed(void **state)
{
	(void)state;
	check(0.1, "0.1");
	check(0.30000000000000004, "0.30000000000000004");
	check(1475000719619.0938, "1475000719619.0938");
	check(2097962448902.686, "2097962448902.686");
	check(173.17857142857142, "173.17857142857142");
	check(1.0 / 3, "0.3333333333333333");
	check(-46.614285714285714, "-46.614285714285714");
	check(0.00036427468774107453, "0.00036427468774107453");
}

static void whole_numbers_keep_a_point(void **state)
{
	(void)state;
	check(0, "0.0");
	check(-0.0, "-0.0");
	check(1, "1.0");
	check(1024, "1024.0");
	check(9007199254740992.0, "9007199254740992.0");
}

static void very_large_and_small_ones_are_powers_of_ten(void **state)
{
	(void)state;
	check(1e16, "1e+16");
	check(1.5e300, "1.5e+300");
	check(1e-05, "1e-05");
	check(0.0001, "0.0001");
	check(5e-324, "5e-324");
}

static void what_is_no_number_is_null(void **state)
{
	(void)state;
	check(0.0 / 0.0, "null");
	check(1e308 * 10, "null");
}

/* xorshift: the same numbers every time. */
static uint64_t next(uint64_t *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 7;
	*s ^= *s << 17;
	return *s;
}

static void any_double_reads_back_as_itself(void **state)
{
	uint64_t seed = 88172645463325252u, bits;
	char text[UT_SHORTEST_ROOM];
	double v;

	(void)state;
	for (int i = 0; i < 200000; i++) {
		bits = next(&seed);
		if (i % 2) /* times and durations in us */
			v = (double)(bits >> 12) / (double)(1 << (bits % 30));
		else
			memcpy(&v, &bits, sizeof(v));
		if (v != v || v > 1e308 || v < -1e308)
			continue;
		ut_shortest(text, v);
		assert_true(strlen(text) < 30);
		assert_true(strtod(text, NULL) == v);
	}
}

static void rounding_is_that_of_the_decimal(void **state)
{
	(void)state;
	assert_true(ut_round(2.675, 2) == 2.67); /* it is 2.67499999... */
	assert_true(ut_round(0.5, 0) == 0);
	assert_true(ut_round(1.5, 0) == 2);
	assert_true(ut_round(-1.0005, 3) == -1.0);
}

UT_TESTS(shortest)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_shortest_text_that_reads_back_is_printed),
		cmocka_unit_test(whole_numbers_keep_a_point),
		cmocka_unit_test(very_large_and_small_ones_are_powers_of_ten),
		cmocka_unit_test(what_is_no_number_is_null),
		cmocka_unit_test(any_double_reads_back_as_itself),
		cmocka_unit_test(rounding_is_that_of_the_decimal),
	};

	return cmocka_run_group_tests_name("text/shortest", tests, NULL, NULL);
}
