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
static uint32_t api, launch, copy, queues[2], device_number;

static int null_probe(struct ut_probe *p)
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

static int null_start(const struct ut_host *h)
{
	uint32_t device;

	host = h;
	api = name("NULL");
	launch = name("nullLaunchKernel");
	copy = name("nullCopy");
	device = host->device(&(struct ut_device){ .size = sizeof(struct ut_device),
						   .name = "Null device",
						   .label = "null",
						   .api = api });
	queues[0] = host->queue(device, "queue 0", 0);
	queues[1] = host->queue(device, "queue 1", 1);
	device_number = device;
	if (UT_HOST_HAS(host, option) && host->option("null.say"))
		host->note(host->option("null.say"));
	return 0;
}

static void null_flush(void)
{
}

static void null_stop(void)
{
	if (host)
		host->note("the null backend says good-bye");
}

EXPORT const struct ut_backend unitrace_backend = {
	.version = UT_BACKEND_VERSION,
	.size = sizeof(struct ut_backend),
	.name = "null",
	.probe = null_probe,
	.start = null_start,
	.flush = null_flush,
	.stop = null_stop,
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

/* ---- the rest of the contract -------------------------------------------------------------- */

#define METRICS 100

/* METRICS metrics of all types: number n has the value 1000 * round + n. */
static void null_measure(uint64_t rounds)
{
	static char keys[METRICS][24], titles[METRICS][24];
	struct ut_metric metrics[METRICS];
	uint64_t values[METRICS], now = host->now();
	uint32_t set;

	for (uint32_t i = 0; i < METRICS; i++) {
		snprintf(keys[i], sizeof(keys[i]), "null.metric_%u", i);
		snprintf(titles[i], sizeof(titles[i]), "Metric %u", i);
		metrics[i] = (struct ut_metric){ .key = keys[i],
						 .title = titles[i],
						 .unit = i % 2 ? "%" : "byte",
						 .type = i % 3 == 2 ? UT_VALUE_F64 : i % 3 };
	}
	set = host->metrics(&(struct ut_metric_set){ .size = sizeof(struct ut_metric_set),
						     .device = device_number,
						     .title = "Null metrics",
						     .metrics = metrics,
						     .count = METRICS });
	for (uint64_t round = 0; round < rounds; round++) {
		for (uint32_t i = 0; i < METRICS; i++) {
			double value = (double)(1000 * round + i);

			values[i] = 1000 * round + i;
			if (metrics[i].type == UT_VALUE_F64)
				memcpy(&values[i], &value, sizeof(value));
		}
		/* At a moment, and over a span. */
		for (int span = 0; span < 2; span++)
			host->values(
				&(struct ut_values){ .size = sizeof(struct ut_values),
						     .set = set,
						     .name = name("measured"),
						     .begin = now + round * 1000,
						     .end = span ? now + round * 1000 + 500 : 0,
						     .values = values,
						     .count = METRICS });
	}
}

/* One piece of work with so many facts: fact n is 3 * n. */
static void send_facts(uint64_t count)
{
	static struct ut_fact facts[5000];
	uint64_t begin = host->now();
	char key[24];

	count = count < 5000 ? count : 5000;
	for (uint64_t i = 0; i < count; i++) {
		snprintf(key, sizeof(key), "fact_%d", (int)i);
		facts[i] = (struct ut_fact){ name(key), UT_VALUE_U64, 3 * i };
	}
	host->work(&(struct ut_work){ .size = sizeof(struct ut_work),
				      .queue = queues[0],
				      .name = name("facts"),
				      .kind = UT_WORK_KERNEL,
				      .start = begin,
				      .end = begin + 100,
				      .facts = facts,
				      .fact_count = (size_t)count });
}

/* main calls f0, which calls f1, up to depth. */
static uint32_t null_stack_of(uint32_t depth)
{
	uint32_t stack = 0;
	char text[24];

	for (uint32_t i = 0; i < depth; i++) {
		snprintf(text, sizeof(text), i ? "f%u" : "main", i - 1);
		stack = host->stack(stack,
				    host->frame(&(struct ut_code){ .size = sizeof(struct ut_code),
								   .function = name(text),
								   .address = 0x1000 + 16 * i,
								   .module = name("null.bin"),
								   .file = name("null.src"),
								   .line = i + 1 }));
	}
	return stack;
}

/* Samples one by one for a second at this rate: of this thread and of a queue, turn by turn. */
static void sample(uint64_t rate)
{
	static const char *const reasons[] = { "memory", "barrier", "issued" };
	uint64_t begin = host->now();
	uint32_t stacks[8], names[3], source = name("null cycles");

	for (uint32_t i = 0; i < 8; i++)
		stacks[i] = null_stack_of(i + 1);
	for (uint32_t i = 0; i < 3; i++)
		names[i] = name(reasons[i]);
	for (uint64_t n = 0; n < rate; n++) {
		const struct ut_sample s = { .time = begin + n * (1000000000u / rate),
					     .weight = 1 + n % 4,
					     .queue = n % 2 ? queues[1] : 0,
					     .source = source,
					     .reason = names[n % 3],
					     .stack = stacks[n % 8] };

		while (host->now() < s.time)
			;
		host->samples(&s, 1, sizeof(s));
	}
}

/* A sample of the addresses that the caller gives, and a weight that needs all bits. */
static void sample_here(uint64_t address)
{
	const uint64_t addresses[1] = { address };
	const struct ut_sample s = { .weight = UINT64_C(1) << 40,
				     .source = name("allocated bytes"),
				     .addresses = addresses,
				     .depth = 1 };

	host->samples(&s, 1, sizeof(s));
}

/* An end of message number n of a job: even ones are bound to a call, odd ones to work. */
static void message(uint64_t n, uint32_t end)
{
	static _Atomic uint64_t last;
	uint64_t correlation = (UINT64_C(1) << 32) + atomic_fetch_add(&last, 1), now = host->now();
	struct ut_message m = { .size = sizeof(m),
				.end = end,
				.id = { 4711, n },
				.correlation = n % 2 ? correlation : 0,
				.name = name("null message") };

	host->call_begin(api, name(end == UT_MESSAGE_SENT ? "nullSend" : "nullReceive"), 0);
	host->message(&m);
	host->call_end(api, NULL, 0);
	if (n % 2)
		host->work(&(struct ut_work){ .size = sizeof(struct ut_work),
					      .queue = queues[0],
					      .name = name("transfer"),
					      .kind = UT_WORK_COPY,
					      .start = now,
					      .end = now + 1000,
					      .correlation = correlation });
}

/* Does one of the above; -ENOSYS when the collector is older than that. */
EXPORT int unitrace_null_do(const char *what, uint64_t n);

EXPORT int unitrace_null_do(const char *what, uint64_t n)
{
	if (!host && !ut_backend_join(&unitrace_backend))
		return -ENOENT;
	if (!UT_HOST_HAS(host, message))
		return -ENOSYS;
	if (!strcmp(what, "metrics"))
		null_measure(n);
	else if (!strcmp(what, "facts"))
		send_facts(n);
	else if (!strcmp(what, "samples"))
		sample(n);
	else if (!strcmp(what, "here"))
		sample_here(n);
	else if (!strcmp(what, "send"))
		message(n, UT_MESSAGE_SENT);
	else if (!strcmp(what, "receive"))
		message(n, UT_MESSAGE_RECEIVED);
	else
		return -EINVAL;
	return 0;
}
