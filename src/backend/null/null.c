/*
 * null.c - a backend without a runtime: how one looks, and a double for tests.
 *
 * There is no runtime that would load it, so whoever wants it to work loads it and calls
 * unitrace_null_run(). It pretends to be one device with two queues and tells of kernels whose
 * times and names can be foretold.
 */
#define UT_BACKEND_IMPLEMENTATION
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "unitrace/backend.h"

#define EXPORT __attribute__((visibility("default")))

static const struct ut_host *host;
static uint32_t api, launch, copy, queues[2];

static int probe(struct ut_probe *p)
{
	p->device(p->ctx, &(struct ut_device){ .size = sizeof(struct ut_device),
					       .name = "Null device",
					       .label = "null" });
	return 0;
}

static uint32_t name(const char *text)
{
	return host->name(text, strlen(text));
}

static int start(const struct ut_host *h)
{
	uint32_t device;

	host = h;
	api = name("NULL");
	launch = name("nullLaunchKernel");
	copy = name("nullCopy");
	device = host->device(&(struct ut_device){
		.size = sizeof(struct ut_device), .name = "Null device", .label = "null" });
	queues[0] = host->queue(device, "queue 0", 0);
	queues[1] = host->queue(device, "queue 1", 1);
	return 0;
}

static void flush(void)
{
}

static void stop(void)
{
	if (host)
		host->note("the null backend says good-bye");
}

EXPORT const struct ut_backend unitrace_backend = {
	.version = UT_BACKEND_VERSION,
	.size = sizeof(struct ut_backend),
	.name = "null",
	.probe = probe,
	.start = start,
	.flush = flush,
	.stop = stop,
};

static void submit(uint64_t n)
{
	static _Atomic uint64_t last;
	uint64_t correlation = atomic_fetch_add(&last, 1) + 1, begin;
	char text[32];
	int is_copy = n % 4 == 3;
	const struct ut_fact facts[] = {
		{ name("bytes"), UT_VALUE_U64, n * 1024 },
		{ name("grid"), UT_VALUE_NAME, name("(1,1,1)") },
		{ name("address"), UT_VALUE_HEX, 0xabc000 + n },
		{ name("share"), UT_VALUE_I64, (uint64_t) - (int64_t)n },
	};

	snprintf(text, sizeof(text), "kernel_%d", (int)(n % 3));
	if (!host->on()) /* paused: what the device does now is not to be told */
		return;
	host->call_begin(api, is_copy ? copy : launch, correlation);
	begin = host->now();
	host->call_end(api, facts, 1);
	if (!is_copy && !host->wants_kernel(text))
		return;
	host->work(&(struct ut_work){ .size = sizeof(struct ut_work),
				      .queue = queues[n % 2],
				      .name = name(is_copy ? "copy" : text),
				      .kind = is_copy ? UT_WORK_COPY : UT_WORK_KERNEL,
				      .queued = begin,
				      .submitted = begin + 100,
				      .start = begin + 1000,
				      .end = begin + 1000 + 10 * (n + 1),
				      .correlation = correlation,
				      .facts = facts,
				      .fact_count = 4 });
}

/* Pretends that the program submits count pieces of work from this thread. */
EXPORT int unitrace_null_run(uint64_t count);

EXPORT int unitrace_null_run(uint64_t count)
{
	if (!host && !ut_backend_join(&unitrace_backend))
		return -ENOENT;
	for (uint64_t n = 0; n < count; n++)
		submit(n);
	return 0;
}
