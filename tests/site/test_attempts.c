/* test_attempts.c - tests src/app/site/attempts.h: guessing becomes slow, for one and for many. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "site/attempts.h"
#include "support/unit.h"

static void the_first_few_are_free_and_then_it_doubles(void **state)
{
	struct ut_attempts *a = calloc(1, sizeof(*a));
	unsigned int last = 0;
	int64_t now = 1000000;

	(void)state;
	for (unsigned int i = 1; i < UT_ATTEMPT_FREE; i++) {
		ut_attempts_wrong(a, "192.0.2.1", now);
		assert_int_equal(ut_attempts_wait(a, "192.0.2.1", now), 0);
	}
	for (int i = 0; i < 20; i++) {
		unsigned int wait;

		now += last + 60;
		assert_int_equal(ut_attempts_wait(a, "192.0.2.1", now), 0);
		ut_attempts_wrong(a, "192.0.2.1", now);
		wait = ut_attempts_wait(a, "192.0.2.1", now);
		assert_true(wait > 0 && wait >= last && wait <= UT_ATTEMPT_MOST_S);
		assert_int_equal(ut_attempts_wait(a, "192.0.2.2", now), 0);
		last = wait;
	}
	assert_int_equal(last, UT_ATTEMPT_MOST_S);
	ut_attempts_right(a, "192.0.2.1");
	ut_attempts_wrong(a, "192.0.2.1", now);
	assert_int_equal(ut_attempts_wait(a, "192.0.2.1", now + 1), 0);
	free(a);
}

static void guesses_of_all_cost_more_and_lock_nobody_out(void **state)
{
	struct ut_attempts *a = calloc(1, sizeof(*a));
	unsigned int last = 0;
	int64_t now = 600;
	char name[32];

	(void)state;
	for (unsigned int i = 0; i < 1000; i++) {
		unsigned int cost = ut_attempts_cost(a, now);

		snprintf(name, sizeof(name), "10.0.%u.%u", i / 256, i % 256);
		assert_true(cost >= last && cost <= UT_ATTEMPT_COST_MS);
		assert_int_equal(cost > 0, i > UT_ATTEMPT_COST_FREE);
		assert_int_equal(ut_attempts_wait(a, name, now), 0);
		ut_attempts_wrong(a, name, now);
		last = cost;
	}
	assert_int_equal(last, UT_ATTEMPT_COST_MS);
	assert_int_equal(ut_attempts_wait(a, "the owner", now), 0);
	assert_int_equal(ut_attempts_count(a, "the owner"), 0);
	assert_int_equal(ut_attempts_count(a, name), 1);
	assert_int_equal(ut_attempts_cost(a, now + 3601), 0);
	ut_attempts_wrong(a, name, now + 3601);
	assert_int_equal(ut_attempts_cost(a, now + 3601), 0);
	free(a);
}

static void what_is_remembered_is_bounded(void **state)
{
	struct ut_attempts *a = calloc(1, sizeof(*a));
	char name[32];

	(void)state;
	for (unsigned int k = 0; k < 20; k++)
		ut_attempts_wrong(a, "192.0.2.1", 1000);
	for (unsigned int i = 0; i < 10 * UT_ATTEMPT_CLIENTS; i++) {
		snprintf(name, sizeof(name), "10.0.%u.%u", i >> 8, i & 255);
		ut_attempts_wrong(a, name, 1001 + i * 60);
	}
	snprintf(name, sizeof(name), "a name that is longer %d", 1);
	ut_attempts_wrong(a, name, 1001);
	free(a);
}

UT_TESTS(attempts)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_few_are_free_and_then_it_doubles),
		cmocka_unit_test(guesses_of_all_cost_more_and_lock_nobody_out),
		cmocka_unit_test(what_is_remembered_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
