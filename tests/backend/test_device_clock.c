/* test_device_clock.c - tests src/record/backend/opencl/device_clock.h */
#include "backend/opencl/device_clock.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "support/unit.h"
#include "support/wait.h"

#define AWAY UINT64_C(777000000000000) /* the device's clock is ahead by this */
#define US   UINT64_C(1000)

/* A command that was queued at a time of ours, in a call that began and ended around it. */
static bool feed(struct ut_cl_clock *c, uint64_t at, uint64_t before, uint64_t after)
{
	return ut_cl_clock_feed(c, UT_CL_CLOCK_QUEUED, at + AWAY, at - before, at + after);
}

static int64_t error_of(const struct ut_cl_clock *c, uint64_t at)
{
	return (int64_t)(ut_cl_clock_map(c, at + AWAY) - at);
}

static void nothing_is_known_at_first(void **state)
{
	struct ut_cl_clock c = { 0 };

	(void)state;
	assert_int_equal(ut_cl_clock_map(&c, 5), 0);
}

static void the_offset_is_within_the_bound(void **state)
{
	struct ut_cl_clock c = { 0 };
	uint64_t now = 1000 * US * US;

	(void)state;
	srand(1);
	for (int i = 0; i < 1000; i++) {
		now += 20 * US;
		assert_true(feed(&c, now, (uint64_t)rand() % 5000, (uint64_t)rand() % 5000));
		assert_true(llabs(error_of(&c, now)) <= (long long)ut_cl_clock_error(&c));
	}
	assert_true(ut_cl_clock_error(&c) < 1000);
}

static void a_wide_interval_does_not_widen_what_is_known(void **state)
{
	struct ut_cl_clock c = { 0 };

	(void)state;
	feed(&c, 1000 * US, 100, 100);
	feed(&c, 1001 * US, 500 * US, 500 * US);
	assert_true(ut_cl_clock_error(&c) < 400);
}

static void the_offset_stays_while_it_is_possible(void **state)
{
	struct ut_cl_clock c = { 0 };
	int64_t first;

	(void)state;
	feed(&c, 1000 * US, 1000, 3000);
	first = c.offset;
	feed(&c, 1010 * US, 2500, 1500);
	assert_int_equal(c.offset, first);
}

static void clocks_that_drift_are_followed(void **state)
{
	struct ut_cl_clock c = { 0 };
	uint64_t now = 1000 * US * US;

	(void)state;
	/* 100 ppm for ten seconds: a millisecond in all */
	for (int i = 0; i < 10000; i++) {
		uint64_t device = now + AWAY + (uint64_t)i * 100;

		ut_cl_clock_feed(&c, UT_CL_CLOCK_QUEUED, device, now - 2 * US, now + 2 * US);
		assert_true(llabs((int64_t)(ut_cl_clock_map(&c, device) - now)) <= 4000);
		now += 1000 * US;
	}
}

static void a_clock_that_jumps_is_believed_again(void **state)
{
	struct ut_cl_clock c = { 0 };

	(void)state;
	feed(&c, 1000 * US, 100, 100);
	assert_false(ut_cl_clock_feed(&c, UT_CL_CLOCK_QUEUED, 50, 1010 * US, 1012 * US));
	assert_true(llabs((int64_t)(ut_cl_clock_map(&c, 50) - 1011 * US)) <= 1000);
}

static void a_timer_is_believed_more_than_queued_times(void **state)
{
	struct ut_cl_clock c = { 0 };

	(void)state;
	ut_cl_clock_feed(&c, UT_CL_CLOCK_TIMER, 1000 * US + AWAY, 1000 * US - 50, 1000 * US + 50);
	/* stamped by another clock: an hour off */
	assert_false(ut_cl_clock_feed(&c, UT_CL_CLOCK_QUEUED, 3600 * US * US * US, 1001 * US,
				      1002 * US));
	assert_true(llabs(error_of(&c, 1003 * US)) <= 100);
	ut_cl_clock_feed(&c, UT_CL_CLOCK_QUEUED, 3600 * US * US * US, 1003 * US, 1004 * US);
	assert_true(llabs(error_of(&c, 1005 * US)) <= 100);
}

static void a_clock_of_the_systems_is_recognised(void **state)
{
	struct ut_cl_clock c = { 0 };
	struct timespec raw, ours;
	int64_t expected;
	uint64_t now, device;

	(void)state;
	clock_gettime(CLOCK_MONOTONIC, &ours);
	clock_gettime(CLOCK_MONOTONIC_RAW, &raw);
	now = (uint64_t)ours.tv_sec * US * US * US + (uint64_t)ours.tv_nsec;
	device = (uint64_t)raw.tv_sec * US * US * US + (uint64_t)raw.tv_nsec;
	expected = (int64_t)(now - device);
	/* a first call of 20 ms: the middle of that would be off by milliseconds */
	ut_cl_clock_feed(&c, UT_CL_CLOCK_QUEUED, device, now - 1000 * US, now + 19000 * US);
	/* either of the two, should they stand so close: then it does not matter */
	assert_true(llabs(c.offset - expected) < 1000 * (int64_t)US || c.offset == 0);
}

static void an_interval_that_ends_before_it_begins_is_ignored(void **state)
{
	struct ut_cl_clock c = { 0 };

	(void)state;
	ut_cl_clock_feed(&c, UT_CL_CLOCK_QUEUED, 100, 2000, 1000);
	assert_false(c.known);
}

static atomic_bool feeding, fed;

static void *feed_once(void *arg)
{
	feeding = true;
	feed(arg, 1000 * US, 50, 50);
	fed = true;
	return NULL;
}

/* Of CPU time, which it only takes because it waits. */
static bool has_used_a_millisecond(pthread_t thread)
{
	struct timespec used;
	clockid_t clock;

	return !pthread_getcpuclockid(thread, &clock) && !clock_gettime(clock, &used) &&
	       (used.tv_sec || used.tv_nsec > 1000000);
}

/* Without it the command that came second would stand at 0. */
static void the_first_word_waits_for_another_thread(void **state)
{
	struct ut_cl_clock c = { 0 };
	pthread_t thread;

	(void)state;
	atomic_flag_test_and_set(&c.busy); /* as a thread that has just come in */
	assert_int_equal(pthread_create(&thread, NULL, feed_once, &c), 0);
	UT_WAIT_UNTIL(feeding && (fed || has_used_a_millisecond(thread)));
	atomic_flag_clear(&c.busy);
	pthread_join(thread, NULL);
	assert_true(c.known);
}

UT_TESTS(device_clock)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_known_at_first),
		cmocka_unit_test(the_offset_is_within_the_bound),
		cmocka_unit_test(a_wide_interval_does_not_widen_what_is_known),
		cmocka_unit_test(the_offset_stays_while_it_is_possible),
		cmocka_unit_test(clocks_that_drift_are_followed),
		cmocka_unit_test(a_clock_that_jumps_is_believed_again),
		cmocka_unit_test(a_timer_is_believed_more_than_queued_times),
		cmocka_unit_test(a_clock_of_the_systems_is_recognised),
		cmocka_unit_test(an_interval_that_ends_before_it_begins_is_ignored),
		cmocka_unit_test(the_first_word_waits_for_another_thread),
	};

	return cmocka_run_group_tests_name("backend/opencl_clock", tests, NULL, NULL);
}
