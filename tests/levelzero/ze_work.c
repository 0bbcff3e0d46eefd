/*
 * ze_work.c - a program that uses Level Zero in one of many ways: ze_work WAY [COUNT]. It prints
 * what it has submitted, and what it sees of the results, which must not depend on being recorded.
 * link: -lze_loader
 */
#include "ze_use.h"

#include <ittnotify.h>
#include <pthread.h>

static unsigned int count = 10;

static uint32_t sum(const uint8_t *bytes)
{
	uint32_t s = 0;

	for (uint32_t i = 0; i < USE_BYTES; i++)
		s = s * 31 + bytes[i];
	return s;
}

/* To the device, two kernels, and back: five commands. */
static ze_command_list_handle_t five_commands(uint32_t ordinal)
{
	ze_command_list_handle_t list = use_list(ordinal);

	use_copy(list, use.on_device, use.host, USE_BYTES);
	use_launch(list, use.gemm, NULL, 0, NULL);
	use_launch(list, use.scale, NULL, 0, NULL);
	CHECK(zeCommandListAppendBarrier(list, NULL, 0, NULL));
	use_copy(list, use.shared, use.on_device, USE_BYTES);
	CHECK(zeCommandListClose(list));
	return list;
}

/* ---- regular lists ------------------------------------------------------------------------- */

static void regular(void)
{
	ze_command_queue_handle_t queue = use_queue(0, 0);
	ze_command_list_handle_t list = five_commands(0);

	use_execute(queue, list, 5);
	use_wait(queue);
	printf("sum %08x\n", sum(use.shared));
	CHECK(zeCommandListDestroy(list));
	CHECK(zeCommandQueueDestroy(queue));
}

/* As graphs are: each execution is waited for. */
static void again(void)
{
	ze_command_queue_handle_t queue = use_queue(0, 0);
	ze_command_list_handle_t list = five_commands(0);

	for (unsigned int i = 0; i < count; i++) {
		use_execute(queue, list, 5);
		use_wait(queue);
	}
	CHECK(zeCommandListDestroy(list));
	CHECK(zeCommandQueueDestroy(queue));
}

/* None is waited for but the last. */
static void burst(void)
{
	ze_command_queue_handle_t queue = use_queue(0, 0);
	ze_command_list_handle_t list = five_commands(0);

	for (unsigned int i = 0; i < count; i++)
		use_execute(queue, list, 5);
	use_wait(queue);
	CHECK(zeCommandListDestroy(list));
	CHECK(zeCommandQueueDestroy(queue));
}

/* Several in one call, one of them twice. */
static void several(void)
{
	ze_command_queue_handle_t queue = use_queue(0, 1);
	ze_command_list_handle_t a = five_commands(0), b = five_commands(0);
	ze_command_list_handle_t lists[] = { a, b, a };

	for (unsigned int i = 0; i < count; i++) {
		CHECK(zeCommandQueueExecuteCommandLists(queue, 3, lists, NULL));
		use.submitted += 15;
	}
	use_wait(queue);
	CHECK(zeCommandListDestroy(b));
	CHECK(zeCommandListDestroy(a));
	CHECK(zeCommandQueueDestroy(queue));
}

/* One list that is filled, executed and reset, again and again. */
static void refilled(void)
{
	ze_command_queue_handle_t queue = use_queue(0, 0);
	ze_command_list_handle_t list = use_list(0);

	for (unsigned int i = 0; i < count; i++) {
		for (unsigned int k = 0; k <= i; k++)
			use_launch(list, k % 2 ? use.tiny : use.scale, NULL, 0, NULL);
		CHECK(zeCommandListClose(list));
		use_execute(queue, list, i + 1);
		use_wait(queue);
		CHECK(zeCommandListReset(list));
	}
	CHECK(zeCommandListDestroy(list));
	CHECK(zeCommandQueueDestroy(queue));
}

static void fences(void)
{
	ze_command_queue_handle_t queue = use_queue(0, 0);
	ze_command_list_handle_t list = five_commands(0);
	ze_fence_desc_t desc = { .stype = ZE_STRUCTURE_TYPE_FENCE_DESC };
	ze_fence_handle_t fence;

	CHECK(zeFenceCreate(queue, &desc, &fence));
	for (unsigned int i = 0; i < count; i++) {
		CHECK(zeCommandQueueExecuteCommandLists(queue, 1, &list, fence));
		use.submitted += 5;
		if (i % 2)
			CHECK(zeFenceHostSynchronize(fence, UINT64_MAX));
		while (zeFenceQueryStatus(fence) == ZE_RESULT_NOT_READY)
			;
		CHECK(zeFenceReset(fence));
	}
	CHECK(zeFenceDestroy(fence));
	CHECK(zeCommandListDestroy(list));
	CHECK(zeCommandQueueDestroy(queue));
}

static void nothing_to_do(void)
{
	ze_command_queue_handle_t queue = use_queue(0, 0);
	ze_command_list_handle_t list = use_list(0);

	CHECK(zeCommandListClose(list));
	for (unsigned int i = 0; i < count; i++)
		use_execute(queue, list, 0);
	use_wait(queue);
	CHECK(zeCommandListDestroy(list));
	CHECK(zeCommandQueueDestroy(queue));
}

/* ---- immediate lists ----------------------------------------------------------------------- */

/* The last command says that all is done: version 1.4 has no other way. */
static void finish(ze_command_list_handle_t list, ze_event_handle_t event)
{
	CHECK(zeCommandListAppendBarrier(list, event, 0, NULL));
	use.submitted++;
	CHECK(zeEventHostSynchronize(event, UINT64_MAX));
	CHECK(zeEventHostReset(event));
}

static void immediate(void)
{
	ze_command_list_handle_t list = use_immediate(0, 0, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
	ze_event_pool_handle_t pool = use_pool(1, ZE_EVENT_POOL_FLAG_HOST_VISIBLE);
	ze_event_handle_t event = use_event(pool, 0);

	use_copy(list, use.on_device, use.host, USE_BYTES);
	for (unsigned int i = 0; i < count; i++)
		use_launch(list, i % 2 ? use.tiny : use.saxpy, NULL, 0, NULL);
	use_copy(list, use.shared, use.on_device, USE_BYTES);
	use.submitted += count + 2;
	finish(list, event);
	printf("sum %08x\n", sum(use.shared));
	CHECK(zeEventDestroy(event));
	CHECK(zeEventPoolDestroy(pool));
	CHECK(zeCommandListDestroy(list));
}

static void synchronous(void)
{
	ze_command_list_handle_t list = use_immediate(0, 0, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);

	for (unsigned int i = 0; i < count; i++)
		use_launch(list, use.scale, NULL, 0, NULL);
	use.submitted += count;
	CHECK(zeCommandListDestroy(list));
}

/* ---- events -------------------------------------------------------------------------------- */

/* A chain over two queues, whose events the program asks for timestamps, or not. */
static void chain(uint32_t flags)
{
	ze_command_queue_handle_t a = use_queue(0, 0), b = use_queue(0, 1);
	ze_event_pool_handle_t pool = use_pool(2, ZE_EVENT_POOL_FLAG_HOST_VISIBLE | flags);
	ze_event_handle_t first = use_event(pool, 0), second = use_event(pool, 1);
	ze_command_list_handle_t to = use_list(0), from = use_list(0);
	ze_kernel_timestamp_result_t t;

	use_launch(to, use.gemm, first, 0, NULL);
	use_launch(from, use.scale, second, 1, &first);
	CHECK(zeCommandListClose(to));
	CHECK(zeCommandListClose(from));
	for (unsigned int i = 0; i < count; i++) {
		use_execute(b, from, 1);
		use_execute(a, to, 1);
		CHECK(zeEventHostSynchronize(second, UINT64_MAX));
		if (flags) {
			CHECK(zeEventQueryKernelTimestamp(first, &t));
			printf("took %u\n",
			       (unsigned int)((t.global.kernelEnd - t.global.kernelStart) / 10));
		}
		CHECK(zeEventHostReset(first));
		CHECK(zeEventHostReset(second));
		use_wait(a);
		use_wait(b);
	}
	CHECK(zeCommandListDestroy(to));
	CHECK(zeCommandListDestroy(from));
	CHECK(zeEventDestroy(first));
	CHECK(zeEventDestroy(second));
	CHECK(zeEventPoolDestroy(pool));
	CHECK(zeCommandQueueDestroy(a));
	CHECK(zeCommandQueueDestroy(b));
}

static void events(void)
{
	chain(0);
}

static void timed_events(void)
{
	chain(ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
}

/* The host says when the device may start. */
static void host_signal(void)
{
	ze_command_list_handle_t list = use_immediate(0, 0, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
	ze_event_pool_handle_t pool = use_pool(2, ZE_EVENT_POOL_FLAG_HOST_VISIBLE);
	ze_event_handle_t go = use_event(pool, 0), done = use_event(pool, 1);

	for (unsigned int i = 0; i < count; i++) {
		use_launch(list, use.tiny, done, 1, &go);
		use.submitted++;
		printf("before %d", zeEventQueryStatus(done) == ZE_RESULT_NOT_READY);
		CHECK(zeEventHostSignal(go));
		CHECK(zeEventHostSynchronize(done, UINT64_MAX));
		printf(" after %d\n", zeEventQueryStatus(done) == ZE_RESULT_SUCCESS);
		CHECK(zeEventHostReset(go));
		CHECK(zeEventHostReset(done));
	}
	CHECK(zeEventDestroy(go));
	CHECK(zeEventDestroy(done));
	CHECK(zeEventPoolDestroy(pool));
	CHECK(zeCommandListDestroy(list));
}

/* Lists that reset events of theirs themselves, executed without a wait. */
static void device_resets(void)
{
	ze_command_queue_handle_t queue = use_queue(0, 0);
	ze_event_pool_handle_t pool =
		use_pool(2, ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
	ze_event_handle_t e = use_event(pool, 0), f = use_event(pool, 1);
	ze_command_list_handle_t before = use_list(0), after = use_list(0);

	CHECK(zeCommandListAppendEventReset(before, e));
	use_launch(before, use.scale, e, 0, NULL);
	use_launch(before, use.tiny, NULL, 1, &e);
	CHECK(zeCommandListClose(before));
	use_launch(after, use.saxpy, f, 0, NULL);
	use_launch(after, use.tiny, NULL, 1, &f);
	CHECK(zeCommandListAppendEventReset(after, f));
	CHECK(zeCommandListClose(after));
	for (unsigned int i = 0; i < count; i++) {
		use_execute(queue, before, 2);
		use_execute(queue, after, 2);
	}
	use_wait(queue);
	CHECK(zeCommandListDestroy(before));
	CHECK(zeCommandListDestroy(after));
	CHECK(zeEventDestroy(e));
	CHECK(zeEventDestroy(f));
	CHECK(zeEventPoolDestroy(pool));
	CHECK(zeCommandQueueDestroy(queue));
}

/* Everything goes as soon as it may, in an order that nobody expects. */
static void odd_ends(void)
{
	for (unsigned int i = 0; i < count; i++) {
		ze_command_queue_handle_t queue = use_queue(0, i % 4);
		ze_event_pool_handle_t pool = use_pool(1, ZE_EVENT_POOL_FLAG_HOST_VISIBLE);
		ze_event_handle_t event = use_event(pool, 0);
		ze_command_list_handle_t list = use_list(0), empty = use_list(0);

		use_launch(list, use.scale, NULL, 0, NULL);
		use_launch(list, use.tiny, event, 0, NULL);
		CHECK(zeCommandListClose(list));
		use_execute(queue, list, 2);
		CHECK(zeEventHostSynchronize(event, UINT64_MAX));
		CHECK(zeEventDestroy(event));
		CHECK(zeEventPoolDestroy(pool));
		use_wait(queue);
		if (i % 2) {
			CHECK(zeCommandQueueDestroy(queue));
			CHECK(zeCommandListDestroy(list));
		} else {
			CHECK(zeCommandListReset(list));
			use_launch(list, use.tiny, NULL, 0, NULL);
			CHECK(zeCommandListDestroy(list));
			CHECK(zeCommandQueueDestroy(queue));
		}
		CHECK(zeCommandListDestroy(empty));
	}
}

/* ---- memory -------------------------------------------------------------------------------- */

static void fills_and_boxes(ze_command_list_handle_t list)
{
	const ze_copy_region_t box = { 0, 0, 0, 64, 16, 1 };
	const uint32_t pattern = 0x01020304;

	CHECK(zeCommandListAppendMemoryFill(list, use.on_device, &pattern, sizeof(pattern), 4096,
					    NULL, 0, NULL));
	CHECK(zeCommandListAppendMemoryFill(list, use.shared, &pattern, 1, 4096, NULL, 0, NULL));
	CHECK(zeCommandListAppendMemoryCopyRegion(list, use.on_device, &box, 256, 0, use.host, &box,
						  128, 0, NULL, 0, NULL));
}

/* All kinds of memory, and the program's own. */
static void copies(void)
{
	ze_command_queue_handle_t queue = use_queue(0, 0);
	ze_command_list_handle_t list = use_list(0);
	static uint8_t plain[USE_BYTES];

	use_copy(list, use.on_device, use.host, USE_BYTES);
	use_copy(list, use.shared, use.on_device, USE_BYTES / 2);
	use_copy(list, plain, use.on_device, USE_BYTES);
	use_copy(list, use.on_device, plain, USE_BYTES / 4);
	use_copy(list, use.on_device, use.on_device + 4096, 4096);
	fills_and_boxes(list);
	CHECK(zeCommandListClose(list));
	use_execute(queue, list, 8);
	use_wait(queue);
	printf("sum %08x %08x\n", sum(plain), sum(use.on_device));
	CHECK(zeCommandListDestroy(list));
	CHECK(zeCommandQueueDestroy(queue));
}

static void images(void)
{
	ze_command_queue_handle_t queue = use_queue(0, 0);
	ze_command_list_handle_t list = use_list(0);
	ze_image_desc_t desc = { .stype = ZE_STRUCTURE_TYPE_IMAGE_DESC,
				 .type = ZE_IMAGE_TYPE_2D,
				 .format.layout = ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8,
				 .width = 64,
				 .height = 32 };
	const ze_image_region_t part = { 0, 0, 0, 16, 8, 1 };
	ze_image_handle_t a, b;

	CHECK(zeImageCreate(use.context, use.device, &desc, &a));
	CHECK(zeImageCreate(use.context, use.device, &desc, &b));
	CHECK(zeCommandListAppendImageCopyFromMemory(list, a, use.host, NULL, NULL, 0, NULL));
	CHECK(zeCommandListAppendImageCopy(list, b, a, NULL, 0, NULL));
	CHECK(zeCommandListAppendImageCopyRegion(list, b, a, &part, &part, NULL, 0, NULL));
	CHECK(zeCommandListAppendImageCopyToMemory(list, use.shared, b, NULL, NULL, 0, NULL));
	CHECK(zeCommandListClose(list));
	use_execute(queue, list, 4);
	use_wait(queue);
	printf("same %d\n", !memcmp(use.shared, use.host, 64 * 32 * 4));
	CHECK(zeCommandListDestroy(list));
	CHECK(zeImageDestroy(a));
	CHECK(zeImageDestroy(b));
	CHECK(zeCommandQueueDestroy(queue));
}

/* An engine that only copies. */
static void copy_engine(void)
{
	ze_command_queue_handle_t queue = use_queue(1, 1);
	ze_command_list_handle_t list = use_list(1);

	use_copy(list, use.on_device, use.host, USE_BYTES);
	use_copy(list, use.shared, use.on_device, USE_BYTES);
	CHECK(zeCommandListClose(list));
	for (unsigned int i = 0; i < count; i++)
		use_execute(queue, list, 2);
	use_wait(queue);
	printf("sum %08x\n", sum(use.shared));
	CHECK(zeCommandListDestroy(list));
	CHECK(zeCommandQueueDestroy(queue));
}

/* ---- threads, devices, tasks --------------------------------------------------------------- */

static void *thread_work(void *arg)
{
	ze_command_list_handle_t list = use_immediate(0, 0, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
	ze_event_pool_handle_t pool = use_pool(1, ZE_EVENT_POOL_FLAG_HOST_VISIBLE);
	ze_event_handle_t event = use_event(pool, 0);

	for (unsigned int i = 0; i < count; i++) {
		use_launch(list, use.tiny, NULL, 0, NULL);
		use_launch(list, use.tiny, event, 0, NULL);
		CHECK(zeEventHostSynchronize(event, UINT64_MAX));
		CHECK(zeEventHostReset(event));
	}
	CHECK(zeEventDestroy(event));
	CHECK(zeEventPoolDestroy(pool));
	CHECK(zeCommandListDestroy(list));
	return arg;
}

static void threads(void)
{
	pthread_t all[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&all[i], NULL, thread_work, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(all[i], NULL);
	use.submitted += 4 * 2 * (uint64_t)count;
}

/* Every device and every tile of it. */
static void everywhere(void)
{
	for (uint32_t i = 0; i < use.device_count; i++) {
		ze_device_handle_t parts[USE_DEVICES] = { use.devices[i] };
		uint32_t tiles = USE_DEVICES - 1;

		CHECK(zeDeviceGetSubDevices(use.devices[i], &tiles, parts + 1));
		for (uint32_t k = 0; k <= tiles; k++) {
			use.device = parts[k];
			regular();
		}
	}
	use.device = use.devices[0];
}

static void tasks(void)
{
	__itt_domain *domain = __itt_domain_create("ze.work");
	ze_command_list_handle_t list = use_immediate(0, 0, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
	ze_command_queue_handle_t queue = use_queue(0, 0);
	ze_command_list_handle_t graph = five_commands(0);

	__itt_task_begin(domain, __itt_null, __itt_null, __itt_string_handle_create("train"));
	use_launch(list, use.gemm, NULL, 0, NULL);
	__itt_task_end(domain);
	__itt_task_begin(domain, __itt_null, __itt_null, __itt_string_handle_create("replay"));
	use_execute(queue, graph, 5);
	use_wait(queue);
	__itt_task_end(domain);
	use.submitted++;
	CHECK(zeCommandListDestroy(graph));
	CHECK(zeCommandListDestroy(list));
	CHECK(zeCommandQueueDestroy(queue));
}

/* Half of it while recording is off. */
static void paused(void)
{
	ze_command_list_handle_t list = use_immediate(0, 0, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
	ze_command_queue_handle_t queue = use_queue(0, 0);
	ze_command_list_handle_t graph = five_commands(0);

	for (unsigned int i = 0; i < 4; i++) {
		if (i % 2)
			__itt_pause();
		else
			__itt_resume();
		use_launch(list, use.scale, NULL, 0, NULL);
		use_execute(queue, graph, 0);
		use.submitted += i % 2 ? 0 : 6;
		if (i == 2)
			use_wait(queue);
	}
	__itt_resume();
	use_wait(queue);
	CHECK(zeCommandListDestroy(graph));
	CHECK(zeCommandListDestroy(list));
	CHECK(zeCommandQueueDestroy(queue));
}

/* ---- which --------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	void (*run)(void);
} ways[] = {
	{ "regular", regular },
	{ "again", again },
	{ "burst", burst },
	{ "several", several },
	{ "refilled", refilled },
	{ "fences", fences },
	{ "nothing", nothing_to_do },
	{ "immediate", immediate },
	{ "synchronous", synchronous },
	{ "events", events },
	{ "timed-events", timed_events },
	{ "host-signal", host_signal },
	{ "device-resets", device_resets },
	{ "odd-ends", odd_ends },
	{ "copies", copies },
	{ "images", images },
	{ "copy-engine", copy_engine },
	{ "threads", threads },
	{ "everywhere", everywhere },
	{ "tasks", tasks },
	{ "paused", paused },
};

int main(int argc, char **argv)
{
	if (argc > 2)
		count = (unsigned int)atoi(argv[2]);
	for (size_t i = 0; argc > 1 && i < sizeof(ways) / sizeof(*ways); i++) {
		if (strcmp(ways[i].name, argv[1]) != 0)
			continue;
		use_begin();
		ways[i].run();
		use_end();
		return 0;
	}
	fprintf(stderr, "usage: ze_work WAY [COUNT]\n");
	return 2;
}
