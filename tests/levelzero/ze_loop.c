/*
 * ze_loop.c N - what Level Zero takes, for tests/bench/bench_levelzero.py: N plain calls, N kernels
 * appended to regular lists that are executed every hundred, and N appended to immediate lists.
 * Prints microseconds of CPU time for each.
 * link: -lze_loader
 */
#include <time.h>

#include "ze_use.h"

#define BATCH 100

static double now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static double plain(int count)
{
	double begin = now(CLOCK_THREAD_CPUTIME_ID);

	for (int i = 0; i < count; i++)
		CHECK(zeKernelSetGroupSize(use.tiny, 1, 1, 1));
	return (now(CLOCK_THREAD_CPUTIME_ID) - begin) / count;
}

static double regular(int count)
{
	ze_command_queue_handle_t queue = use_queue(0, 0);
	ze_command_list_handle_t list = use_list(0);
	double begin = now(CLOCK_PROCESS_CPUTIME_ID), took;

	for (int i = 0; i < count; i++) {
		use_launch(list, use.tiny, NULL, 0, NULL);
		if (i % BATCH != BATCH - 1)
			continue;
		CHECK(zeCommandListClose(list));
		use_execute(queue, list, BATCH);
		use_wait(queue);
		CHECK(zeCommandListReset(list));
	}
	took = (now(CLOCK_PROCESS_CPUTIME_ID) - begin) / count;
	CHECK(zeCommandListDestroy(list));
	CHECK(zeCommandQueueDestroy(queue));
	return took;
}

static double immediate(int count)
{
	ze_command_list_handle_t list = use_immediate(0, 0, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
	ze_event_pool_handle_t pool = use_pool(1, ZE_EVENT_POOL_FLAG_HOST_VISIBLE);
	ze_event_handle_t event = use_event(pool, 0);
	double begin = now(CLOCK_PROCESS_CPUTIME_ID), took;

	for (int i = 0; i < count; i++) {
		use_launch(list, use.tiny, NULL, 0, NULL);
		if (i % BATCH != BATCH - 1)
			continue;
		CHECK(zeCommandListAppendBarrier(list, event, 0, NULL));
		CHECK(zeEventHostSynchronize(event, UINT64_MAX));
		CHECK(zeEventHostReset(event));
	}
	took = (now(CLOCK_PROCESS_CPUTIME_ID) - begin) / count;
	CHECK(zeEventDestroy(event));
	CHECK(zeEventPoolDestroy(pool));
	CHECK(zeCommandListDestroy(list));
	return took;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 10000;

	use_begin();
	(void)plain(count);
	printf("%.4f", plain(count));
	printf(" %.4f", regular(count));
	printf(" %.4f\n", immediate(count));
	use_end();
	return 0;
}
