/*
 * test_levelzero_metrics.c - hardware metrics of src/record/backend/levelzero (query.c, stream.c)
 * in this process, on the simulated driver, so that sanitizers see them: queries around kernels,
 * streams of reports, instructions that wait, while several threads make and end what they measure.
 * What the values are is tested by tests/e2e/test_levelzero_metrics.py as well.
 */
#include <stdio.h>

#if __has_include(<level_zero/ze_ddi.h>)

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "backend/ze_program.h"
#include "support/unit.h"
#include "support/wait.h"

#define THREADS 4
#define ROUNDS  40

extern const struct ut_backend unitrace_backend;

/* ---- the host ------------------------------------------------------------------------------ */

/* Metrics of the group ComputeBasic that are told, in its order; times are told otherwise. */
enum {
	CLOCKS,
	FREQUENCY,
	ACTIVE,
	STALL,
	READ,
	REASON,
	METRICS,
};

static struct {
	_Atomic uint32_t values, samples;
	uint32_t set;
} measured;

static uint32_t host_metrics(const struct ut_metric_set *set)
{
	assert_true(set->size == sizeof(*set) && set->device && set->count == METRICS);
	assert_string_equal(set->metrics[ACTIVE].key, "XVE_ACTIVE");
	assert_string_equal(set->metrics[READ].unit, "bytes");
	return ++measured.set;
}

static double number(uint64_t bits)
{
	double d;

	memcpy(&d, &bits, sizeof(d));
	return d;
}

/* Four bytes are read in each nanosecond that a kernel runs; half of the engines are active. */
static void host_values(const struct ut_values *v)
{
	double active = number(v->values[ACTIVE]);

	assert_true(v->set && v->count == METRICS && v->begin < v->end);
	if (v->flags & UT_VALUES_SAMPLE) {
		assert_true(active >= 0 && active <= 50);
	} else {
		assert_true(active > 49.9 && active < 50.1);
		assert_int_equal(v->values[READ], 4 * (v->end - v->begin));
	}
	atomic_fetch_add(&measured.values, 1);
}

static int host_was_on(uint64_t time)
{
	return time != 0;
}

static uint32_t host_frame(const struct ut_code *c)
{
	assert_true(c->size == sizeof(*c) && c->function && c->address < 128);
	return 1;
}

static uint32_t host_stack(uint32_t parent, uint32_t frame)
{
	assert_true(!parent && frame);
	return 1;
}

static void host_samples(const struct ut_sample *samples, size_t count, size_t size)
{
	assert_int_equal(size, sizeof(*samples));
	for (size_t i = 0; i < count; i++)
		assert_true(samples[i].queue && samples[i].reason && samples[i].weight);
	atomic_fetch_add(&measured.samples, (uint32_t)count);
}

static const char *host_option(const char *key)
{
	return !strcmp(key, "metrics.interval") ? "10000" : NULL;
}

static int begin(uint32_t want)
{
	static struct ut_host functions;

	functions = host_functions(UT_WANT_WORK | UT_WANT_SUBMITS | want);
	functions.metrics = host_metrics;
	functions.values = host_values;
	functions.was_on = host_was_on;
	functions.frame = host_frame;
	functions.stack = host_stack;
	functions.samples = host_samples;
	functions.option = host_option;
	begin_program(&functions);
	return 0;
}

static int begin_query(void **state)
{
	(void)state;
	return begin(UT_WANT_QUERY);
}

static int begin_stream(void **state)
{
	(void)state;
	return begin(UT_WANT_SAMPLING);
}

static int begin_stalls(void **state)
{
	(void)state;
	return begin(UT_WANT_STALLS);
}

static int end(void **state)
{
	(void)state;
	end_program();
	return 0;
}

/* ---- claims -------------------------------------------------------------------------------- */

static void every_run_of_a_kernel_has_values(void **state)
{
	ze_command_queue_handle_t queue = new_queue(0);
	ze_command_list_handle_t list = new_list();
	uint32_t works = reported(), values = atomic_load(&measured.values);

	(void)state;
	for (int i = 0; i < 3; i++)
		launch(list, NULL);
	assert_int_equal(ze.list.pfnClose(list), 0);
	for (int i = 0; i < ROUNDS; i++) {
		execute(queue, list);
		wait_for(queue);
	}
	assert_int_equal(reported() - works, 3 * ROUNDS);
	assert_int_equal(atomic_load(&measured.values) - values, 3 * ROUNDS);
	assert_int_equal(ze.list.pfnDestroy(list), 0);
	assert_int_equal(ze.queue.pfnDestroy(queue), 0);
}

/* In a context of its own, which ends each time with all that measured in it. */
static void *churn(void *arg)
{
	ze_context_desc_t desc = { .stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC };
	ze_command_queue_desc_t queue_desc = { .stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
					       .index = (uint32_t)(uintptr_t)arg % 4 };
	ze_command_list_desc_t list_desc = { .stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC };
	ze_driver_handle_t driver;
	uint32_t one = 1;

	assert_int_equal(ze.driver.pfnGet(&one, &driver), 0);
	for (int i = 0; i < ROUNDS; i++) {
		ze_context_handle_t mine;
		ze_command_queue_handle_t queue;
		ze_command_list_handle_t list;

		assert_int_equal(ze.context.pfnCreate(driver, &desc, &mine), 0);
		assert_int_equal(ze.queue.pfnCreate(mine, device, &queue_desc, &queue), 0);
		assert_int_equal(ze.list.pfnCreate(mine, device, &list_desc, &list), 0);
		for (int k = 0; k < 5; k++)
			launch(list, NULL);
		assert_int_equal(ze.list.pfnClose(list), 0);
		execute(queue, list);
		wait_for(queue);
		assert_int_equal(ze.list.pfnDestroy(list), 0);
		assert_int_equal(ze.queue.pfnDestroy(queue), 0);
		assert_int_equal(ze.context.pfnDestroy(mine), 0);
	}
	return NULL;
}

static void run_threads(void)
{
	pthread_t all[THREADS];

	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&all[i], NULL, churn, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(all[i], NULL);
	unitrace_backend.flush();
}

static void threads_measure_beside_each_other(void **state)
{
	uint32_t works = reported(), values = atomic_load(&measured.values);

	(void)state;
	run_threads();
	assert_int_equal(reported() - works, THREADS * ROUNDS * 5);
	assert_int_equal(atomic_load(&measured.values) - values, THREADS * ROUNDS * 5);
}

/* The device works until somebody has heard of it: how soon that is, is the machine's. */
static bool work_and_look(const _Atomic uint32_t *count)
{
	ze_command_queue_handle_t queue = new_queue(0);
	ze_command_list_handle_t list = new_list();

	for (int k = 0; k < 50; k++)
		launch(list, NULL);
	assert_int_equal(ze.list.pfnClose(list), 0);
	execute(queue, list);
	wait_for(queue);
	assert_int_equal(ze.list.pfnDestroy(list), 0);
	assert_int_equal(ze.queue.pfnDestroy(queue), 0);
	return atomic_load(count) > 0;
}

static void work_until(const _Atomic uint32_t *count)
{
	UT_WAIT_UNTIL(work_and_look(count));
}

static void reports_come_while_threads_work(void **state)
{
	uint32_t works = reported();

	(void)state;
	run_threads();
	assert_int_equal(reported() - works, THREADS * ROUNDS * 5);
	work_until(&measured.values);
}

static void instructions_that_wait_are_reported(void **state)
{
	(void)state;
	run_threads();
	work_until(&measured.samples);
}

/* ---- each way of measuring has a process of its own ------------------------------------------ */

static int query(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_run_of_a_kernel_has_values),
		cmocka_unit_test(threads_measure_beside_each_other),
	};

	return cmocka_run_group_tests(tests, begin_query, end);
}

static int stream(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(reports_come_while_threads_work) };

	return cmocka_run_group_tests(tests, begin_stream, end);
}

static int stalls(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(instructions_that_wait_are_reported) };

	return cmocka_run_group_tests(tests, begin_stalls, end);
}

static int run_apart(int (*tests)(void))
{
	pid_t pid = fork();
	int status = 0;

	if (!pid)
		exit(find_driver() ? tests() : 77);
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

UT_TESTS(levelzero_metrics)
{
	int (*const ways[])(void) = { query, stream, stalls };
	int failed = 0;

	setenv("ZET_ENABLE_METRICS", "1", 1);
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		int status = run_apart(ways[i]);

		if (status == 77)
			return 77;
		failed += status != 0;
	}
	return failed;
}

#else

UT_TESTS(levelzero_metrics)
{
	puts("SKIP: no headers of Level Zero (Debian: libze-dev)");
	return 77;
}

#endif
