/*
 * ze_odd.c - Level Zero in ways that few would think of: ze_odd WAY [COUNT]. It says how many
 * commands it has submitted as soon as it has, since it does not always get to its end.
 * link: -lze_loader
 */
#include "ze_use.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned int count = 10;

typedef void any_fn(void);

static any_fn *extension(const char *name)
{
	union {
		void *pointer;
		any_fn *function;
	} address = { 0 };

	CHECK(zeDriverGetExtensionFunctionAddress(use.driver, name, &address.pointer));
	return address.function;
}

static void say(uint64_t submitted)
{
	use.submitted = submitted;
	printf("submitted %llu\n", (unsigned long long)submitted);
}

/* ---- events that count --------------------------------------------------------------------- */

struct counted_desc {
	uint32_t stype;
	const void *next;
	uint32_t flags, signal, wait;
};

typedef ze_result_t make_counted_fn(ze_context_handle_t, ze_device_handle_t,
				    const struct counted_desc *, ze_event_handle_t *);

static ze_event_handle_t counted_event(bool timed)
{
	make_counted_fn *make = (make_counted_fn *)extension("zexCounterBasedEventCreate2");
	struct counted_desc desc = { .flags = 1u | 1u << 2 | (timed ? 1u << 4 : 0) };
	ze_event_handle_t event;

	CHECK(make(use.context, use.device, &desc, &event));
	return event;
}

/* Used again without a wait, and destroyed while they are under way. */
static void counted(void)
{
	ze_command_list_handle_t list =
		use_immediate(0, USE_IN_ORDER, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
	ze_event_handle_t event = counted_event(false), last = counted_event(false);

	for (unsigned int i = 0; i < count; i++)
		use_launch(list, use.scale, event, 0, NULL);
	CHECK(zeEventDestroy(event));
	use_launch(list, use.tiny, last, 0, NULL);
	CHECK(zeEventHostSynchronize(last, UINT64_MAX));
	printf("done %d\n", zeEventQueryStatus(last) == ZE_RESULT_SUCCESS);
	CHECK(zeEventDestroy(last));
	CHECK(zeCommandListDestroy(list));
	say(count + 1);
}

/* The same with timestamps that the program wants: they are those of the last command. */
static void counted_timed(void)
{
	ze_command_list_handle_t list =
		use_immediate(0, USE_IN_ORDER, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
	ze_event_handle_t event = counted_event(true);
	ze_kernel_timestamp_result_t t;

	for (unsigned int i = 0; i < count; i++)
		use_launch(list, i + 1 < count ? use.scale : use.gemm, event, 0, NULL);
	CHECK(zeEventHostSynchronize(event, UINT64_MAX));
	CHECK(zeEventQueryKernelTimestamp(event, &t));
	printf("took %u\n", (unsigned int)((t.global.kernelEnd - t.global.kernelStart) / 10));
	CHECK(zeEventDestroy(event));
	CHECK(zeCommandListDestroy(list));
	say(count);
}

/* ---- newer functions ----------------------------------------------------------------------- */

typedef ze_result_t append_lists_fn(ze_command_list_handle_t, uint32_t, ze_command_list_handle_t *,
				    ze_event_handle_t, uint32_t, ze_event_handle_t *);

/* A regular list, appended to an immediate one again and again, as graphs are. */
static void append_lists(void)
{
	append_lists_fn *append =
		(append_lists_fn *)extension("zeCommandListImmediateAppendCommandListsExp");
	ze_command_list_handle_t list =
		use_immediate(0, USE_IN_ORDER, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
	ze_command_list_handle_t graph = use_list(0);
	ze_event_handle_t done = counted_event(false);

	use_launch(graph, use.scale, NULL, 0, NULL);
	use_launch(graph, use.tiny, NULL, 0, NULL);
	CHECK(zeCommandListClose(graph));
	for (unsigned int i = 0; i < count; i++)
		CHECK(append(list, 1, &graph, i + 1 < count ? NULL : done, 0, NULL));
	CHECK(zeEventHostSynchronize(done, UINT64_MAX));
	CHECK(zeCommandListDestroy(graph));
	CHECK(zeCommandListDestroy(list));
	CHECK(zeEventDestroy(done));
	say(2 * (uint64_t)count);
}

struct size {
	uint32_t x, y, z;
};

typedef ze_result_t launch_fn(ze_command_list_handle_t, ze_kernel_handle_t, ze_group_count_t,
			      struct size, void **, const void *, ze_event_handle_t, uint32_t,
			      ze_event_handle_t *);

static void with_arguments(void)
{
	launch_fn *launch = (launch_fn *)extension("zeCommandListAppendLaunchKernelWithArguments");
	ze_command_list_handle_t list = use_immediate(0, 0, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
	void *arguments[] = { &use.on_device };

	CHECK(launch(list, use.gemm, (ze_group_count_t){ 3, 2, 1 }, (struct size){ 8, 4, 2 },
		     arguments, NULL, NULL, 0, NULL));
	CHECK(zeCommandListDestroy(list));
	say(1);
}

/* ---- ends ---------------------------------------------------------------------------------- */

static ze_command_list_handle_t begun(unsigned int kernels, ze_kernel_handle_t kernel)
{
	ze_command_list_handle_t list = use_immediate(0, 0, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);

	for (unsigned int i = 0; i < kernels; i++)
		use_launch(list, kernel, NULL, 0, NULL);
	say(kernels);
	return list;
}

/* What is under way gets a moment. */
static void leaves(void)
{
	begun(count, use.gemm);
	exit(3);
}

/* What takes too long does not. */
static void leaves_early(void)
{
	ze_command_list_handle_t list = begun(2, use.scale);
	ze_kernel_handle_t kernel = use_kernel("slow", 1, 1);

	use_launch(list, kernel, NULL, 0, NULL);
	exit(3);
}

static void vanishes(void)
{
	ze_command_list_handle_t list = begun(count, use.scale);
	ze_event_pool_handle_t pool = use_pool(1, ZE_EVENT_POOL_FLAG_HOST_VISIBLE);
	ze_event_handle_t event = use_event(pool, 0);

	CHECK(zeCommandListAppendBarrier(list, event, 0, NULL));
	CHECK(zeEventHostSynchronize(event, UINT64_MAX));
	say(count + 1);
	_exit(3);
}

/* Does not look, and waits to be killed. */
static void killed(void)
{
	begun(count, use.scale);
	fflush(stdout);
	for (;;)
		pause();
}

static void on_signal(int number)
{
	exit(number == SIGUSR1 ? 4 : 5);
}

/* The driver raises a signal while it holds its lock (raise=FUNCTION). */
static void inside(void)
{
	ze_command_list_handle_t list;

	signal(SIGUSR1, on_signal);
	list = begun(count, use.scale);
	CHECK(zeCommandListClose(list));
}

/* A child of a fork uses what it has inherited. */
static void forked(void)
{
	ze_command_list_handle_t list = use_immediate(0, 0, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
	int status = 0;
	pid_t child;

	use_launch(list, use.gemm, NULL, 0, NULL);
	fflush(stdout);
	child = fork();
	if (!child) {
		for (unsigned int i = 0; i < count; i++)
			use_launch(list, use.scale, NULL, 0, NULL);
		_exit(0);
	}
	waitpid(child, &status, 0);
	printf("child %d\n", status);
	use_launch(list, use.saxpy, NULL, 0, NULL);
	CHECK(zeCommandListDestroy(list));
	say(2);
}

/* ---- threads that get in each other's way -------------------------------------------------- */

static ze_command_queue_handle_t shared_queue;

/* Lists of its own in a queue of all, events that live for one kernel. */
static void *quarrel(void *arg)
{
	for (unsigned int i = 0; i < count; i++) {
		ze_event_pool_handle_t pool = use_pool(1, ZE_EVENT_POOL_FLAG_HOST_VISIBLE);
		ze_event_handle_t event = use_event(pool, 0);
		ze_command_list_handle_t list = use_list(0);

		use_launch(list, use.tiny, NULL, 0, NULL);
		use_launch(list, use.tiny, event, 0, NULL);
		CHECK(zeCommandListClose(list));
		CHECK(zeCommandQueueExecuteCommandLists(shared_queue, 1, &list, NULL));
		CHECK(zeEventHostSynchronize(event, UINT64_MAX));
		CHECK(zeEventHostReset(event));
		CHECK(zeEventDestroy(event));
		CHECK(zeEventPoolDestroy(pool));
		CHECK(zeCommandQueueSynchronize(shared_queue, UINT64_MAX));
		CHECK(zeCommandListDestroy(list));
	}
	return arg;
}

static void quarrels(void)
{
	pthread_t all[4];

	shared_queue = use_queue(0, 0);
	for (int i = 0; i < 4; i++)
		pthread_create(&all[i], NULL, quarrel, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(all[i], NULL);
	CHECK(zeCommandQueueDestroy(shared_queue));
	say(4 * 2 * (uint64_t)count);
}

/* ---- more than one driver ------------------------------------------------------------------ */

static void on_driver(ze_driver_handle_t driver)
{
	ze_context_desc_t context = { .stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC };
	ze_module_desc_t module = { .stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
				    .inputSize = sizeof(use_source),
				    .pInputModule = (const uint8_t *)use_source };
	uint32_t one = 1;

	use.driver = driver;
	CHECK(zeDeviceGet(driver, &one, &use.device));
	CHECK(zeContextCreate(driver, &context, &use.context));
	CHECK(zeModuleCreate(use.context, use.device, &module, &use.module, NULL));
	use.scale = use_kernel("scale", 64, 1);
	{
		ze_command_list_handle_t list =
			use_immediate(0, 0, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);

		use_launch(list, use.scale, NULL, 0, NULL);
		CHECK(zeCommandListDestroy(list));
	}
	CHECK(zeKernelDestroy(use.scale));
	CHECK(zeModuleDestroy(use.module));
	CHECK(zeContextDestroy(use.context));
}

static int drivers(void)
{
	ze_driver_handle_t all[8];
	uint32_t n = 8;

	setvbuf(stdout, NULL, _IOLBF, 0);
	CHECK(zeInit(0));
	CHECK(zeDriverGet(&n, all));
	for (uint32_t i = 0; i < n && i < 8; i++)
		on_driver(all[i]);
	say(n);
	return 0;
}

/* ---- which --------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	void (*run)(void);
} ways[] = {
	{ "counted", counted },
	{ "counted-timed", counted_timed },
	{ "append-lists", append_lists },
	{ "with-arguments", with_arguments },
	{ "leaves", leaves },
	{ "leaves-early", leaves_early },
	{ "vanishes", vanishes },
	{ "killed", killed },
	{ "inside", inside },
	{ "forked", forked },
	{ "quarrels", quarrels },
};

int main(int argc, char **argv)
{
	if (argc > 2)
		count = (unsigned int)atoi(argv[2]);
	if (argc > 1 && !strcmp(argv[1], "drivers"))
		return drivers();
	for (size_t i = 0; argc > 1 && i < sizeof(ways) / sizeof(*ways); i++) {
		if (strcmp(ways[i].name, argv[1]) != 0)
			continue;
		use_begin();
		ways[i].run();
		use_end();
		return 0;
	}
	fprintf(stderr, "usage: ze_odd WAY [COUNT]\n");
	return 2;
}
