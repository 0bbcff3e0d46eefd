/*
 * test_levelzero.c - the whole of src/backend/levelzero in this process, between a host of our own
 * and the simulated driver, so that sanitizers see all of it: what the host is told is what the
 * driver has done, from several threads, whatever becomes of lists and events.
 */
#include <stdio.h>

#if __has_include(<level_zero/ze_ddi.h>)

#include <dlfcn.h>
#include <level_zero/ze_ddi.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "backend/levelzero/levelzero.h"

#define MOST_WORKS 200000u
#define MOST_NAMES 1024u

extern const struct ut_backend unitrace_backend;

/* ---- the host ------------------------------------------------------------------------------ */

static struct {
	pthread_mutex_t lock;
	char *names[MOST_NAMES];
	uint32_t name_count;
	struct ut_work works[MOST_WORKS];
	uint32_t work_count, untimed;
	_Atomic uint32_t begun, ended;
	uint32_t last_id;
	char note[200];
} host = { .lock = PTHREAD_MUTEX_INITIALIZER };

static uint64_t host_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int host_on(void)
{
	return 1;
}

static uint32_t host_name(const char *text, size_t len)
{
	uint32_t i = 0;

	pthread_mutex_lock(&host.lock);
	while (i < host.name_count &&
	       (strlen(host.names[i]) != len || memcmp(host.names[i], text, len) != 0))
		i++;
	if (i == host.name_count) {
		assert_true(i < MOST_NAMES);
		host.names[host.name_count++] = strndup(text, len);
	}
	pthread_mutex_unlock(&host.lock);
	return i + 1;
}

static int host_wants(const char *name)
{
	return strcmp(name, "unwanted") != 0;
}

static uint32_t host_device(const struct ut_device *d)
{
	assert_true(d->size == sizeof(*d) && d->name[0]);
	return ++host.last_id;
}

static uint32_t host_queue(uint32_t device, const char *name, uint64_t id)
{
	(void)id;
	assert_true(device && name[0]);
	return ++host.last_id;
}

static void host_call_begin(uint32_t api, uint32_t name, uint64_t correlation)
{
	(void)correlation;
	assert_true(api && name);
	atomic_fetch_add(&host.begun, 1);
}

static void host_call_end(uint32_t api, const struct ut_fact *facts, size_t count)
{
	(void)facts;
	assert_true(api && count < 20);
	atomic_fetch_add(&host.ended, 1);
}

static void host_work(const struct ut_work *w)
{
	pthread_mutex_lock(&host.lock);
	assert_true(host.work_count < MOST_WORKS);
	host.works[host.work_count++] = *w;
	assert_true(w->queue && w->name && w->start <= w->end && w->submitted <= w->start);
	for (size_t i = 0; i < w->fact_count; i++)
		host.untimed += !strcmp(host.names[w->facts[i].key - 1], "times");
	pthread_mutex_unlock(&host.lock);
}

static void host_counter(uint32_t device, uint32_t name, uint64_t time, double value)
{
	assert_true(device && name && time && value >= 0);
}

static void host_note(const char *text)
{
	snprintf(host.note, sizeof(host.note), "%s", text);
}

static const char *host_option(const char *key)
{
	(void)key;
	return NULL;
}

static const struct ut_host functions = {
	.version = UT_BACKEND_VERSION,
	.size = sizeof(functions),
	.want = UT_WANT_WORK | UT_WANT_SUBMITS | UT_WANT_CALLS | UT_WANT_CALL_ARGS,
	.now = host_now,
	.on = host_on,
	.name = host_name,
	.wants_kernel = host_wants,
	.device = host_device,
	.queue = host_queue,
	.call_begin = host_call_begin,
	.call_end = host_call_end,
	.work = host_work,
	.counter = host_counter,
	.note = host_note,
	.option = host_option,
};

/* ---- what a program has -------------------------------------------------------------------- */

static struct {
	ze_global_dditable_t global;
	ze_driver_dditable_t driver;
	ze_device_dditable_t device;
	ze_context_dditable_t context;
	ze_command_queue_dditable_t queue;
	ze_command_list_dditable_t list;
	ze_fence_dditable_t fence;
	ze_event_pool_dditable_t pool;
	ze_event_dditable_t event;
	ze_module_dditable_t module;
	ze_kernel_dditable_t kernel;
	ze_mem_dditable_t mem;
} ze;

static ze_context_handle_t context;
static ze_device_handle_t device;
static ze_module_handle_t module;
static ze_kernel_handle_t kernel;

typedef ze_result get_table_fn(uint32_t version, ut_ze_fn **table);

/* As a loader of version 1.4 asks; what is behind a table must not be touched. */
static void get(get_table_fn *getter, void *table, size_t size)
{
	ut_ze_fn *entries[128];

	memset(entries, 0x5a, sizeof(entries));
	memset(entries, 0, size);
	assert_int_equal(getter(ZE_VERSION(1, 4), entries), 0);
	memcpy(table, entries, size);
	for (size_t i = size; i < sizeof(entries); i++)
		assert_int_equal(((unsigned char *)entries)[i], 0x5a);
}

#define GET(table, name)                                                                           \
	get((get_table_fn *)(ut_ze_fn *)zeGet##name##ProcAddrTable, &ze.table, sizeof(ze.table))

static const char source[] = "simulated\nkernel work ns=2000 simd=16\nkernel unwanted ns=1000\n";

static void make_objects(void)
{
	ze_context_desc_t context_desc = { .stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC };
	ze_module_desc_t module_desc = { .stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
					 .inputSize = sizeof(source),
					 .pInputModule = (const uint8_t *)source };
	ze_kernel_desc_t kernel_desc = { .stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
					 .pKernelName = "work" };
	ze_driver_handle_t driver;
	uint32_t n = 1;

	assert_int_equal(ze.global.pfnInit(0), 0);
	assert_int_equal(ze.driver.pfnGet(&n, &driver), 0);
	n = 1;
	assert_int_equal(ze.device.pfnGet(driver, &n, &device), 0);
	assert_int_equal(ze.context.pfnCreate(driver, &context_desc, &context), 0);
	assert_int_equal(ze.module.pfnCreate(context, device, &module_desc, &module, NULL), 0);
	assert_int_equal(ze.kernel.pfnCreate(module, &kernel_desc, &kernel), 0);
	assert_int_equal(ze.kernel.pfnSetGroupSize(kernel, 8, 4, 2), 0);
}

/* The file that says for which driver we stand, in a session of our own. */
static bool name_driver(const char *driver)
{
	static char dir[] = "/tmp/ut_levelzero_XXXXXX";
	char path[200];
	Dl_info self;
	FILE *f;

	if (access(driver, R_OK) || !mkdtemp(dir) || !dladdr((void *)ut_ze_next, &self))
		return false;
	snprintf(path, sizeof(path), "%s/levelzero", dir);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/levelzero/drivers", dir);
	f = fopen(path, "we");
	if (!f)
		return false;
	fprintf(f, "%s\t%s\n", self.dli_fname, driver);
	fclose(f);
	setenv("UT_SESSION", dir, 1);
	(void)ut_ze_driver_open();
	unlink(path);
	snprintf(path, sizeof(path), "%s/levelzero", dir);
	rmdir(path);
	rmdir(dir);
	return true;
}

static int begin(void **state)
{
	(void)state;
	assert_int_equal(unitrace_backend.start(&functions), 0);
	GET(global, Global);
	GET(driver, Driver);
	GET(device, Device);
	GET(context, Context);
	GET(queue, CommandQueue);
	GET(list, CommandList);
	GET(fence, Fence);
	GET(pool, EventPool);
	GET(event, Event);
	GET(module, Module);
	GET(kernel, Kernel);
	GET(mem, Mem);
	make_objects();
	return 0;
}

static int end(void **state)
{
	(void)state;
	assert_int_equal(ze.kernel.pfnDestroy(kernel), 0);
	assert_int_equal(ze.module.pfnDestroy(module), 0);
	/* The driver ends the process if anything of ours is left in it. */
	assert_int_equal(ze.context.pfnDestroy(context), 0);
	unitrace_backend.flush();
	unitrace_backend.stop();
	assert_int_equal(atomic_load(&host.begun), atomic_load(&host.ended));
	for (uint32_t i = 0; i < host.name_count; i++)
		free(host.names[i]);
	return 0;
}

/* ---- short words --------------------------------------------------------------------------- */

static const ze_group_count_t groups = { 4, 2, 1 };

static ze_command_list_handle_t new_list(void)
{
	ze_command_list_desc_t desc = { .stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC };
	ze_command_list_handle_t list;

	assert_int_equal(ze.list.pfnCreate(context, device, &desc, &list), 0);
	return list;
}

static ze_command_queue_handle_t new_queue(uint32_t index)
{
	ze_command_queue_desc_t desc = { .stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
					 .index = index };
	ze_command_queue_handle_t queue;

	assert_int_equal(ze.queue.pfnCreate(context, device, &desc, &queue), 0);
	return queue;
}

static void launch(ze_command_list_handle_t list, ze_event_handle_t event)
{
	assert_int_equal(ze.list.pfnAppendLaunchKernel(list, kernel, &groups, event, 0, NULL), 0);
}

static void execute(ze_command_queue_handle_t queue, ze_command_list_handle_t list)
{
	assert_int_equal(ze.queue.pfnExecuteCommandLists(queue, 1, &list, NULL), 0);
}

static void wait_for(ze_command_queue_handle_t queue)
{
	assert_int_equal(ze.queue.pfnSynchronize(queue, UINT64_MAX), 0);
}

static ze_event_pool_handle_t new_pool(uint32_t flags)
{
	ze_event_pool_desc_t desc = { .stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
				      .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE | flags,
				      .count = 1 };
	ze_event_pool_handle_t pool;

	assert_int_equal(ze.pool.pfnCreate(context, &desc, 0, NULL, &pool), 0);
	return pool;
}

static ze_event_handle_t new_event(ze_event_pool_handle_t pool)
{
	ze_event_desc_t desc = { .stype = ZE_STRUCTURE_TYPE_EVENT_DESC };
	ze_event_handle_t event;

	assert_int_equal(ze.event.pfnCreate(pool, &desc, &event), 0);
	return event;
}

static uint32_t told(void)
{
	uint32_t count;

	pthread_mutex_lock(&host.lock);
	count = host.work_count;
	pthread_mutex_unlock(&host.lock);
	return count;
}

/* ---- claims -------------------------------------------------------------------------------- */

static void a_list_is_told_each_time_that_it_is_executed(void **state)
{
	ze_command_queue_handle_t queue = new_queue(0);
	ze_command_list_handle_t list = new_list();
	uint32_t before = told();

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
	assert_int_equal(told() - before, 120);
	assert_int_equal(host.untimed, 0);
	for (uint32_t i = before; i < told(); i++)
		assert_int_equal(host.works[i].end - host.works[i].start, 2000);
	assert_int_equal(ze.list.pfnDestroy(list), 0);
	assert_int_equal(ze.queue.pfnDestroy(queue), 0);
}

static void kernels_that_nobody_wants_are_not_told(void **state)
{
	ze_kernel_desc_t desc = { .stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
				  .pKernelName = "unwanted" };
	ze_command_queue_handle_t queue = new_queue(1);
	ze_command_list_handle_t list = new_list();
	ze_kernel_handle_t other;
	uint32_t before = told();

	(void)state;
	assert_int_equal(ze.kernel.pfnCreate(module, &desc, &other), 0);
	assert_int_equal(ze.list.pfnAppendLaunchKernel(list, other, &groups, NULL, 0, NULL), 0);
	launch(list, NULL);
	assert_int_equal(ze.list.pfnClose(list), 0);
	execute(queue, list);
	wait_for(queue);
	assert_int_equal(told() - before, 1);
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
	uint32_t before = told();
	pthread_t all[6];

	(void)state;
	for (uintptr_t i = 0; i < 6; i++)
		pthread_create(&all[i], NULL, i % 2 ? churn : stream, (void *)i);
	for (int i = 0; i < 6; i++)
		pthread_join(all[i], NULL);
	unitrace_backend.flush();
	assert_int_equal(told() - before, 3 * 120 + 3 * 201);
	assert_int_equal(host.untimed, 0);
}

static void what_the_driver_refuses_is_not_told(void **state)
{
	ze_event_pool_desc_t bad = { .stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC };
	ze_event_desc_t beyond = { .stype = ZE_STRUCTURE_TYPE_EVENT_DESC, .index = 7 };
	ze_command_list_handle_t list = new_list();
	ze_event_pool_handle_t pool = new_pool(0);
	ze_kernel_desc_t desc = { .stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = "none" };
	ze_event_handle_t event;
	ze_kernel_handle_t other;
	uint32_t before = told();

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
	assert_int_equal(told(), before);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_list_is_told_each_time_that_it_is_executed),
		cmocka_unit_test(kernels_that_nobody_wants_are_not_told),
		cmocka_unit_test(threads_do_not_disturb_each_other),
		cmocka_unit_test(what_the_driver_refuses_is_not_told),
	};
	const char *build = getenv("UNITRACE_BUILD");
	char driver[4096];

	(void)argc;
	(void)argv;
	for (int i = 0; i < 2; i++) {
		snprintf(driver, sizeof(driver), "%s/tests/levelzero/libze_simulated%s.so",
			 build ? build : "build", i ? "" : "_checked");
		if (!access(driver, R_OK))
			break;
	}
	if (!name_driver(driver)) {
		printf("SKIP: %s is not built\n", driver);
		return 77;
	}
	return cmocka_run_group_tests(tests, begin, end);
}

#else

int main(void)
{
	puts("SKIP: no headers of Level Zero (Debian: libze-dev)");
	return 77;
}

#endif
