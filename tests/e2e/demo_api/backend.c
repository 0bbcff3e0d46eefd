/* backend.c - all that a recording of the runtime in demo.h needs: what would be a folder below
 * src/record/backend. */
#define _GNU_SOURCE /* dladdr() */
#include <stdio.h>
#include <string.h>

#define UT_BACKEND_IMPLEMENTATION
#include "unitrace/backend.h"

#include "demo.h"

#define EXPORT __attribute__((visibility("default")))

static const char *const functions[] = { "demoLaunch", "demoCopy", "demoWait" };

static const struct ut_host *host;
static uint32_t api, queues[DEMO_QUEUES], calls[3], metrics;
static struct {
	uint32_t grid, block, registers, bytes;
} keys;

static uint32_t name(const char *text)
{
	return host->name(text, strlen(text));
}

static int probe(struct ut_probe *p)
{
	p->device(p->ctx, &(struct ut_device){ .size = sizeof(struct ut_device),
					       .name = "Demo 1",
					       .label = "demo:0" });
	return 0;
}

static int start(const struct ut_host *h)
{
	static const struct ut_metric active = {
		.key = "demo.active", .title = "Active lanes", .unit = "%", .type = UT_VALUE_F64
	};
	uint32_t device;

	host = h;
	api = name("Demo");
	device = host->device(&(struct ut_device){ .size = sizeof(struct ut_device),
						   .name = "Demo 1",
						   .label = "demo:0",
						   .api = api });
	for (int i = 0; i < DEMO_QUEUES; i++)
		queues[i] = host->queue(device, i ? "queue 1" : "queue 0", (uint64_t)i);
	for (int i = 0; i < 3; i++)
		calls[i] = name(functions[i]);
	keys.grid = name("grid");
	keys.block = name("block");
	keys.registers = name("registers");
	keys.bytes = name("bytes");
	if (UT_HOST_HAS(host, metrics))
		metrics =
			host->metrics(&(struct ut_metric_set){ .size = sizeof(struct ut_metric_set),
							       .device = device,
							       .title = "Demo metrics",
							       .metrics = &active,
							       .count = 1 });
	return 0;
}

EXPORT const struct ut_backend unitrace_backend = {
	.version = UT_BACKEND_VERSION,
	.size = sizeof(struct ut_backend),
	.name = "demo",
	.probe = probe,
	.start = start,
};

static void enter(enum demo_function function, uint64_t call)
{
	if (host->on())
		host->call_begin(api, calls[function], function == DEMO_WAIT ? 0 : call);
}

static void leave(enum demo_function function)
{
	(void)function;
	if (host->on())
		host->call_end(api, NULL, 0);
}

static uint32_t size_name(const unsigned int size[3])
{
	char text[64];

	snprintf(text, sizeof(text), "%ux%ux%u", size[0], size[1], size[2]);
	return name(text);
}

static void done(const struct demo_activity *a)
{
	int kernel = a->function == DEMO_LAUNCH;
	const struct ut_fact facts[] = {
		{ kernel ? keys.grid : keys.bytes, kernel ? UT_VALUE_NAME : UT_VALUE_U64,
		  kernel ? size_name(a->grid) : a->bytes },
		{ keys.block, UT_VALUE_NAME, kernel ? size_name(a->block) : 0 },
		{ keys.registers, UT_VALUE_U64, a->registers },
	};
	uint64_t active;

	if (!host->was_on(a->queued) || (kernel && !host->wants_kernel(a->name)))
		return;
	host->work(&(struct ut_work){ .size = sizeof(struct ut_work),
				      .queue = queues[a->queue],
				      .name = name(a->name),
				      .kind = kernel ? UT_WORK_KERNEL : UT_WORK_COPY,
				      .queued = a->queued,
				      .submitted = a->queued,
				      .start = a->start,
				      .end = a->end,
				      .correlation = a->call,
				      .facts = facts,
				      .fact_count = kernel ? 3 : 1 });
	memcpy(&active, &a->active, sizeof(active));
	if (metrics)
		host->values(&(struct ut_values){ .size = sizeof(struct ut_values),
						  .set = metrics,
						  .begin = a->end,
						  .values = &active,
						  .count = 1 });
}

/* The entry point: what the runtime calls when it has loaded us. */
EXPORT const struct demo_tool *demoToolLoad(void)
{
	static const struct demo_tool tool = { enter, leave, done };

	return ut_backend_join(&unitrace_backend) ? &tool : NULL;
}
