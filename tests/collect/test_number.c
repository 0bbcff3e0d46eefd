/* test_number.c - tests src/record/collect/number.h: what a forked child knows of its parent's
 * objects. */
#include "collect/number.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/session.h"
#define INTEL_NO_MACRO_BODY
#include "itt/abi.h"
#include "support/unit.h"

#define THREADS 4
#define EACH    10000

static void *take_numbers(void *arg)
{
	unsigned char *seen = arg;

	for (int i = 0; i < EACH; i++)
		__atomic_fetch_add(&seen[ut_number_next()], 1, __ATOMIC_RELAXED);
	return NULL;
}

static void every_number_is_given_once(void **state)
{
	static unsigned char seen[THREADS * EACH + 100];
	pthread_t threads[THREADS];
	size_t given = 0;

	(void)state;
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, take_numbers, seen);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (size_t i = 0; i < sizeof(seen); i++) {
		assert_in_range(seen[i], 0, 1);
		given += seen[i];
	}
	assert_int_equal(given, THREADS * EACH);
	assert_int_equal(seen[0], 0);
}

static void count_in_a_child(void)
{
	__itt_counter c = __itt_counter_create("speed", "dom");
	__itt_context_metadata unit = { __itt_context_unitsA, (char[]){ "MB/s" } };
	unsigned long long value = 1;

	__itt_bind_context_metadata_to_counter(c, 1, &unit);
	__itt_counter_set_value(c, &value);
	if (!fork()) {
		value = 2;
		__itt_counter_set_value(c, &value);
		_exit(0);
	}
	wait(NULL);
}

static void a_child_knows_its_parents_counters_and_what_was_said_of_them(void **state)
{
	struct session *s = *state;

	session_run(s, count_in_a_child);
	assert_int_equal(s->spools, 2);
	assert_string_equal(s->text, "counter dom: speed=1 MB/s\ncounter dom: speed=2 MB/s\n");
}

static unsigned long long clock_base;

static void ITTAPI say_clock(__itt_clock_info *info, void *data)
{
	(void)data;
	info->clock_freq = 1000000000;
	info->clock_base = clock_base;
}

/* The clock was set after it was made: with the first setting its task would lie 1000 s ahead. */
static void child_of_a_clock(void)
{
	__itt_clock_domain *clock = __itt_clock_domain_create(say_clock, NULL);
	__itt_domain *dom = __itt_domain_create("dom");

	clock_base = 1000000000000;
	__itt_clock_domain_reset();
	if (!fork()) {
		__itt_task_begin_ex(dom, clock, clock_base, __itt_null, __itt_null,
				    __itt_string_handle_create("on its clock"));
		__itt_task_end_ex(dom, clock, clock_base + 1000);
		__itt_task_begin_ex(dom, NULL, __itt_get_timestamp(), __itt_null, __itt_null,
				    __itt_string_handle_create("on ours"));
		__itt_task_end_ex(dom, NULL, __itt_get_timestamp());
		_exit(0);
	}
	wait(NULL);
}

static void a_child_knows_the_latest_setting_of_a_clock(void **state)
{
	struct session *s = *state;

	session_run(s, child_of_a_clock);
	assert_string_equal(s->text, "span on its clock\nspan on ours\n");
}

UT_TESTS(number)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_child_knows_its_parents_counters_and_what_was_said_of_them, session_make,
			session_drop),
		cmocka_unit_test_setup_teardown(a_child_knows_the_latest_setting_of_a_clock,
						session_make, session_drop),
		cmocka_unit_test(every_number_is_given_once),
	};

	return cmocka_run_group_tests_name("collect/number", tests, NULL, NULL);
}
