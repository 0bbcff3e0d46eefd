/* ze_program.c - see ze_program.h. */
#if __has_include(<level_zero/ze_ddi.h>)

#include "backend/ze_program.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

extern const struct ut_backend unitrace_backend;

/* ---- the host ------------------------------------------------------------------------------ */

struct host_notified host = { .lock = PTHREAD_MUTEX_INITIALIZER };

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

static uint32_t host_queue(uint32_t of, const char *name, uint64_t id)
{
	(void)id;
	assert_true(of && name[0]);
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

static void host_counter(uint32_t of, uint32_t name, uint64_t time, double value)
{
	assert_true(of && name && time && value >= 0);
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

struct ut_host host_functions(uint32_t want)
{
	return (struct ut_host){
		.version = UT_BACKEND_VERSION,
		.size = sizeof(struct ut_host),
		.want = want,
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
}

uint32_t reported(void)
{
	uint32_t count;

	pthread_mutex_lock(&host.lock);
	count = host.work_count;
	pthread_mutex_unlock(&host.lock);
	return count;
}

/* ---- what a program has -------------------------------------------------------------------- */

struct ze_tables ze;
ze_context_handle_t context;
ze_device_handle_t device;
ze_module_handle_t module;
ze_kernel_handle_t kernel;

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

bool find_driver(void)
{
	const char *build = getenv("UNITRACE_BUILD");
	char driver[4096];

	for (int i = 0; i < 2; i++) {
		snprintf(driver, sizeof(driver), "%s/tests/levelzero/libze_simulated%s.so",
			 build ? build : "build", i ? "" : "_checked");
		if (!access(driver, R_OK))
			break;
	}
	if (name_driver(driver))
		return true;
	printf("SKIP: %s is not built\n", driver);
	return false;
}

void begin_program(const struct ut_host *functions)
{
	assert_int_equal(unitrace_backend.start(functions), 0);
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
}

void end_program(void)
{
	assert_int_equal(ze.kernel.pfnDestroy(kernel), 0);
	assert_int_equal(ze.module.pfnDestroy(module), 0);
	/* The driver ends the process if anything of ours is left in it. */
	assert_int_equal(ze.context.pfnDestroy(context), 0);
	unitrace_backend.flush();
	unitrace_backend.stop();
	assert_int_equal(atomic_load(&host.begun), atomic_load(&host.ended));
	for (uint32_t i = 0; i < host.name_count; i++)
		free(host.names[i]);
}

/* ---- short words --------------------------------------------------------------------------- */

const ze_group_count_t groups = { 4, 2, 1 };

ze_command_list_handle_t new_list(void)
{
	ze_command_list_desc_t desc = { .stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC };
	ze_command_list_handle_t list;

	assert_int_equal(ze.list.pfnCreate(context, device, &desc, &list), 0);
	return list;
}

ze_command_queue_handle_t new_queue(uint32_t index)
{
	ze_command_queue_desc_t desc = { .stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
					 .index = index };
	ze_command_queue_handle_t queue;

	assert_int_equal(ze.queue.pfnCreate(context, device, &desc, &queue), 0);
	return queue;
}

void launch(ze_command_list_handle_t list, ze_event_handle_t event)
{
	assert_int_equal(ze.list.pfnAppendLaunchKernel(list, kernel, &groups, event, 0, NULL), 0);
}

void execute(ze_command_queue_handle_t queue, ze_command_list_handle_t list)
{
	assert_int_equal(ze.queue.pfnExecuteCommandLists(queue, 1, &list, NULL), 0);
}

void wait_for(ze_command_queue_handle_t queue)
{
	assert_int_equal(ze.queue.pfnSynchronize(queue, UINT64_MAX), 0);
}

ze_event_pool_handle_t new_pool(uint32_t flags)
{
	ze_event_pool_desc_t desc = { .stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
				      .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE | flags,
				      .count = 1 };
	ze_event_pool_handle_t pool;

	assert_int_equal(ze.pool.pfnCreate(context, &desc, 0, NULL, &pool), 0);
	return pool;
}

ze_event_handle_t new_event(ze_event_pool_handle_t pool)
{
	ze_event_desc_t desc = { .stype = ZE_STRUCTURE_TYPE_EVENT_DESC };
	ze_event_handle_t event;

	assert_int_equal(ze.event.pfnCreate(pool, &desc, &event), 0);
	return event;
}

#else

typedef int ze_program_is_left_out; /* no headers of Level Zero */

#endif
