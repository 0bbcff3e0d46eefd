/*
 * test_levelzero.c - the whole of src/record/backend/levelzero in this process, between a host of
 * our own and the simulated driver, so that sanitizers see all of it: what the host is told is what
 * the driver has done, from several threads, whatever becomes of lists and events.
 */
#include <stdio.h>

#if __has_include(<level_zero/ze_ddi.h>)

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "backend/ze_program.h"
#include "support/unit.h"

extern const struct ut_backend unitrace_backend;

static int begin(void **state)
{
	static struct ut_host functions;

	(void)state;
	functions =
		host_functions(UT_WANT_WORK | UT_WANT_SUBMITS | UT_WANT_CALLS | UT_WANT_CALL_ARGS);
	begin_program(&functions);
	return 0;
}

static int end(void **state)
{
	(void)state;
	end_program();
	return 0;
}

/* ---- claims -------------------------------------------------------------------------------- */

static void a_list_is_reported_each_time_that_it_is_executed(void **state)
{
	ze_command_queue_handle_t queue = new_queue(0);
	ze_command_list_handle_t list = new_list();
	uint32_t before = reported();

	(void)state;
	for (int i = 0; i < 3; i++)
		launch(list, NULL);
	assert_int_equal(ze.list.pfnClose(list), 0);
	for (int i = 0; i < 40; i++) {
		execute(queue, list);
		if (i % 5 == 0)
			wait_for(queue);
	}
	wait_for(queue);
	assert_int_equal(reported() - before, 120);
	assert_int_equal(host.untimed, 0);
	for (uint32_t i = before; i < reported(); i++)
		assert_int_equal(host.works[i].end - host.works[i].start, 2000);
	assert_int_equal(ze.list.pfnDestroy(list), 0);
	assert_int_equal(ze.queue.pfnDestroy(queue), 0);
}

static void kernels_that_nobody_wants_are_not_reported(void **state)
{
	ze_kernel_desc_t desc = { .stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
				  .pKernelName = "unwanted" };
	ze_command_queue_handle_t queue = new_queue(1);
	ze_command_list_handle_t list = new_list();
	ze_kernel_handle_t other;
	uint32_t before = reported();

	(void)state;
	assert_int_equal(ze.kernel.pfnCreate(module, &desc, &other), 0);
	assert_int_equal(ze.list.pfnAppendLaunchKernel(list, other, &groups, NULL, 0, NULL), 0);
	launch(list, NULL);
	assert_int_equal(ze.list.pfnClose(list), 0);
	execute(queue, list);
	wait_for(queue);
	assert_int_equal(reported() - before, 1);
	assert_int_equal(ze.list.pfnDestroy(list), 0);
	assert_int_equal(ze.kernel.pfnDestroy(other), 0);
	assert_int_equal(ze.queue.pfnDestroy(queue), 0);
}

/* Half of it leaves in the middle: reset lists, events that live for one kernel. */
static void *churn(void *arg)
{
	ze_command_queue_handle_t queue = new_queue((uint32_t)(uintptr_t)arg % 4);
	ze_command_list_handle_t list = new_list();

	for (int i = 0; i < 60; i++) {
		ze_event_pool_handle_t pool =
			new_pool(i % 2 ? ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP : 0);
		ze_event_handle_t event = new_event(pool);

		launch(list, NULL);
		launch(list, event);
		assert_int_equal(ze.list.pfnClose(list), 0);
		execute(queue, list);
		assert_int_equal(ze.event.pfnHostSynchronize(event, UINT64_MAX), 0);
		if (i % 3 == 0)
			assert_int_equal(ze.event.pfnHostReset(event), 0);
		assert_int_equal(ze.event.pfnDestroy(event), 0);
		assert_int_equal(ze.pool.pfnDestroy(pool), 0);
		wait_for(queue);
		assert_int_equal(ze.list.pfnReset(list), 0);
	}
	assert_int_equal(ze.list.pfnDestroy(list), 0);
	assert_int_equal(ze.queue.pfnDestroy(queue), 0);
	return NULL;
}

/* Immediate lists that nobody waits for but at the end. */
static void *stream(void *arg)
{
	ze_command_queue_desc_t desc = { .stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
					 .index = (uint32_t)(uintptr_t)arg % 4,
					 .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS };
	ze_event_pool_handle_t pool = new_pool(0);
	ze_event_handle_t event = new_event(pool);
	ze_command_list_handle_t list;

	assert_int_equal(ze.list.pfnCreateImmediate(context, device, &desc, &list), 0);
	for (int i = 0; i < 200; i++)
		launch(list, NULL);
	launch(list, event);
	while (ze.event.pfnQueryStatus(event) == ZE_RESULT_NOT_READY)
		;
	assert_int_equal(ze.event.pfnDestroy(event), 0);
	assert_int_equal(ze.pool.pfnDestroy(pool), 0);
	assert_int_equal(ze.list.pfnDestroy(list), 0);
	return NULL;
}

static void threads_do_not_disturb_each_other(void **state)
{
	uint32_t before = reported();
	pthread_t all[6];

	(void)state;
	for (uintptr_t i = 0; i < 6; i++)
		pthread_create(&all[i], NULL, i % 2 ? churn : stream, (void *)i);
	for (int i = 0; i < 6; i++)
		pthread_join(all[i], NULL);
	unitrace_backend.flush();
	assert_int_equal(reported() - before, 3 * 120 + 3 * 201);
	assert_int_equal(host.untimed, 0);
}

static void what_the_driver_refuses_is_not_reported(void **state)
{
	ze_event_pool_desc_t bad = { .stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC };
	ze_event_desc_t beyond = { .stype = ZE_STRUCTURE_TYPE_EVENT_DESC, .index = 7 };
	ze_command_list_handle_t list = new_list();
	ze_event_pool_handle_t pool = new_pool(0);
	ze_kernel_desc_t desc = { .stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = "none" };
	ze_event_handle_t event;
	ze_kernel_handle_t other;
	uint32_t before = reported();

	(void)state;
	(void)bad;
	assert_int_equal(ze.event.pfnCreate(pool, &beyond, &event),
			 ZE_RESULT_ERROR_INVALID_ARGUMENT);
	assert_int_equal(ze.kernel.pfnCreate(module, &desc, &other),
			 ZE_RESULT_ERROR_INVALID_KERNEL_NAME);
	assert_int_equal(
		ze.list.pfnAppendMemoryFill(list, NULL, "0123456789abcdefg", 17, 4, NULL, 0, NULL),
		ZE_RESULT_ERROR_INVALID_SIZE);
	assert_int_equal(ze.list.pfnDestroy(list), 0);
	assert_int_equal(ze.pool.pfnDestroy(pool), 0);
	assert_int_equal(reported(), before);
}

UT_TESTS(levelzero)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_list_is_reported_each_time_that_it_is_executed),
		cmocka_unit_test(kernels_that_nobody_wants_are_not_reported),
		cmocka_unit_test(threads_do_not_disturb_each_other),
		cmocka_unit_test(what_the_driver_refuses_is_not_reported),
	};

	if (!find_driver())
		return 77;
	return cmocka_run_group_tests(tests, begin, end);
}

#else

UT_TESTS(levelzero)
{
	puts("SKIP: no headers of Level Zero (Debian: libze-dev)");
	return 77;
}

#endif
