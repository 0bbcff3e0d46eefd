/* test_live_set.c - tests src/record/backend/memory/live_set.h against a plain set, alone and with
 * threads
 */
#include "backend/memory/live_set.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/unit.h"

#define ADDRESSES 20000u /* more than the first level has room for */
#define STEPS     400000u

static uintptr_t address(unsigned int i)
{
	return 0x7f0000001000u + (uintptr_t)i * 48;
}

static void it_is_a_set(void **state)
{
	static bool in[ADDRESSES];
	uint64_t count = 0;

	(void)state;
	srand(1);
	ut_live_all(false);
	for (unsigned int i = 0; i < STEPS; i++) {
		unsigned int at = (unsigned int)rand() % ADDRESSES;

		if (in[at]) {
			assert_true(ut_live_maybe(address(at)));
			assert_true(ut_live_take(address(at)));
			assert_false(ut_live_take(address(at)));
		} else {
			assert_false(ut_live_take(address(at)));
			assert_true(ut_live_add(address(at)));
		}
		in[at] = !in[at];
		count += in[at] ? 1u : (uint64_t)-1;
		assert_int_equal(ut_live_count(), count);
	}
	for (unsigned int at = 0; at < ADDRESSES; at++)
		assert_int_equal(ut_live_take(address(at)), in[at]);
	assert_int_equal(ut_live_count(), 0);
}

static void few_others_are_looked_for(void **state)
{
	unsigned int maybe = 0;

	(void)state;
	ut_live_all(false);
	for (unsigned int i = 0; i < 2000; i++)
		assert_true(ut_live_add(address(i)));
	for (unsigned int i = 2000; i < 102000; i++)
		maybe += ut_live_maybe(address(i));
	assert_true(maybe < 10000); /* of 100,000 */
	ut_live_all(false);
	assert_false(ut_live_take(address(0)));
	assert_false(ut_live_maybe(address(0)));
	ut_live_all(true);
	assert_true(ut_live_maybe(address(0)));
	assert_false(ut_live_take(address(0)));
	ut_live_all(false);
}

/* Each adds its own; those of one are taken out by the other. */
static void *work(void *arg)
{
	unsigned int me = *(unsigned int *)arg;

	for (unsigned int i = me; i < ADDRESSES; i += 2) {
		if (!ut_live_add(address(i)))
			return arg;
		if (i % 5 && !ut_live_take(address(i)))
			return arg;
	}
	return NULL;
}

static void threads_do_not_disturb_each_other(void **state)
{
	unsigned int numbers[2] = { 0, 1 };
	pthread_t threads[2];
	void *failed;

	(void)state;
	ut_live_all(false);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, work, &numbers[i]), 0);
	for (int i = 0; i < 2; i++) {
		pthread_join(threads[i], &failed);
		assert_null(failed);
	}
	assert_int_equal(ut_live_count(), ADDRESSES / 5);
	for (unsigned int i = 0; i < ADDRESSES; i++)
		assert_int_equal(ut_live_take(address(i)), i % 5 == 0);
}

UT_TESTS(live_set)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_a_set),
		cmocka_unit_test(few_others_are_looked_for),
		cmocka_unit_test(threads_do_not_disturb_each_other),
	};

	return cmocka_run_group_tests_name("backend/live_set", tests, NULL, NULL);
}
