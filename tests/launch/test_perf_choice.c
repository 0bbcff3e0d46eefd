/* test_perf_choice.c - tests src/record/launch/cpu/perf_choice.h on machines that are not here. */
#include "launch/cpu/perf_choice.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/unit.h"

/* What the machine can do. */
static struct {
	bool counters, lbr;
	unsigned int precise;
	int refuses; /* errno */
} machine;

static int asked;

static int open_there(struct perf_event_attr *attr)
{
	asked++;
	errno = machine.refuses   ? machine.refuses
		: !attr->disabled ? EINVAL /* it would count at once */
		: attr->type == PERF_TYPE_HARDWARE && !machine.counters          ? ENOENT
		: attr->precise_ip > machine.precise                             ? EOPNOTSUPP
		: (attr->sample_type & PERF_SAMPLE_BRANCH_STACK) && !machine.lbr ? EOPNOTSUPP
										 : 0;
	return errno ? -1 : open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static struct ut_perf_choice choose(enum ut_perf_event event, bool lbr, int expected)
{
	struct ut_perf_choice c = { .precise = 99 };
	int before = dup(0), after;

	asked = 0;
	close(before);
	assert_int_equal(ut_perf_choose(&c, event, lbr, 1000, open_there), expected);
	after = dup(0); /* the lowest that is free: nothing was left open */
	close(after);
	assert_int_equal(after, before);
	return c;
}

static void without_counters_it_is_the_clock(void **state)
{
	struct ut_perf_choice c;

	(void)state;
	memset(&machine, 0, sizeof(machine));
	c = choose(UT_PERF_AUTO, true, 0);
	assert_false(c.cycles || c.lbr || c.precise);
	(void)choose(UT_PERF_CYCLES, false, -ENOENT);
}

static void cycles_are_as_precise_as_can_be(void **state)
{
	(void)state;
	for (unsigned int precise = 0; precise <= 3; precise++) {
		struct ut_perf_choice c;

		memset(&machine, 0, sizeof(machine));
		machine.counters = true;
		machine.precise = precise;
		c = choose(UT_PERF_AUTO, true, 0);
		assert_true(c.cycles);
		assert_false(c.lbr);
		assert_int_equal(c.precise, precise);
	}
}

static void calls_are_remembered_where_that_is_wanted_and_offered(void **state)
{
	struct ut_perf_choice c;

	(void)state;
	memset(&machine, 0, sizeof(machine));
	machine.counters = machine.lbr = true;
	machine.precise = 2;
	c = choose(UT_PERF_CYCLES, true, 0);
	assert_true(c.cycles && c.lbr);
	assert_int_equal(c.precise, 2);
	assert_false(choose(UT_PERF_CYCLES, false, 0).lbr);
}

static void the_clock_is_not_asked_for(void **state)
{
	(void)state;
	memset(&machine, 0, sizeof(machine));
	machine.counters = true;
	assert_false(choose(UT_PERF_CLOCK, true, 0).cycles);
	assert_int_equal(asked, 0);
	machine.refuses = EACCES;
	assert_false(choose(UT_PERF_AUTO, true, 0).cycles);
	(void)choose(UT_PERF_CYCLES, true, -EACCES);
}

static void what_was_chosen_is_what_is_opened(void **state)
{
	const struct ut_perf_choice clock = { .cycles = false };
	const struct ut_perf_choice cycles = { .cycles = true, .precise = 2, .lbr = true };
	struct perf_event_attr attr = { .size = sizeof(attr) };

	(void)state;
	ut_perf_choice_apply(&clock, &attr, 4000);
	assert_int_equal(attr.type, PERF_TYPE_SOFTWARE);
	assert_int_equal(attr.config, PERF_COUNT_SW_CPU_CLOCK);
	assert_int_equal(attr.sample_period, 250000);
	assert_false(attr.freq);
	attr = (struct perf_event_attr){ .sample_type = PERF_SAMPLE_IP };
	ut_perf_choice_apply(&cycles, &attr, 4000);
	assert_int_equal(attr.type, PERF_TYPE_HARDWARE);
	assert_int_equal(attr.config, PERF_COUNT_HW_CPU_CYCLES);
	assert_int_equal(attr.sample_freq, 4000);
	assert_true(attr.freq);
	assert_int_equal(attr.precise_ip, 2);
	assert_int_equal(attr.sample_type, PERF_SAMPLE_IP | PERF_SAMPLE_BRANCH_STACK);
	assert_true(attr.branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK);
}

UT_TESTS(perf_choice)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_counters_it_is_the_clock),
		cmocka_unit_test(cycles_are_as_precise_as_can_be),
		cmocka_unit_test(calls_are_remembered_where_that_is_wanted_and_offered),
		cmocka_unit_test(the_clock_is_not_asked_for),
		cmocka_unit_test(what_was_chosen_is_what_is_opened),
	};

	return cmocka_run_group_tests_name("launch/perf_choice", tests, NULL, NULL);
}
