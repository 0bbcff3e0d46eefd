/*
 * sycl_work.c - what a SYCL runtime tells of a program, through a pretended framework of XPTI.
 *
 *	sycl_work WAY [COUNT]
 *
 * XPTI_FRAMEWORK_DISPATCHER names the framework, as it does for the real runtime; without it
 * nothing is told. What the recording has to hold is in tests/e2e/test_sycl.py.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake_xpti.h"

#define SYCL   "sycl"
#define CALLS  "ur.call"
#define MEMORY "sycl.experimental.mem_alloc"
#define BUFFER "sycl.experimental.buffer"

static struct {
	fake_begin_fn *begin;
	fake_end_fn *end;
	fake_event_fn *make;
	fake_edge_fn *edge;
	fake_say_fn *say;
	fake_report_fn *report;
} fake;

static _Atomic uint64_t instances;

static uint64_t next(void)
{
	return atomic_fetch_add(&instances, 1) + 1;
}

static bool find(const char *path)
{
	void *library = path && path[0] ? dlopen(path, RTLD_LAZY) : NULL;
	const struct {
		const char *name;
		void *at;
	} all[] = { { "fake_begin", &fake.begin }, { "fake_end", &fake.end },
		    { "fake_make", &fake.make },   { "fake_edge", &fake.edge },
		    { "fake_say", &fake.say },     { "fake_tell", &fake.report } };

	for (size_t i = 0; library && i < sizeof(all) / sizeof(*all); i++) {
		void *symbol = dlsym(library, all[i].name);

		memcpy(all[i].at, &symbol, sizeof(symbol));
	}
	return library && fake.report;
}

static void say_text(struct fake_event *e, const char *key, const char *text)
{
	fake.say(e, key, 1, text, strlen(text));
}

static void say_number(struct fake_event *e, const char *key, uint64_t value)
{
	fake.say(e, key, 3, &value, sizeof(value));
}

/* ---- pieces -------------------------------------------------------------------------------- */

struct args {
	uint32_t number;
	const char *name;
	void *args;
	const void *result;
	void *data;
};

static void call(uint32_t number, const char *name, int32_t result)
{
	struct args a = { .number = number, .name = name };
	uint64_t instance = next();

	fake.report(CALLS, 28, NULL, NULL, instance, &a);
	a.result = &result;
	fake.report(CALLS, 29, NULL, NULL, instance, &a);
}

static struct fake_event *node(const char *name, uint32_t line, uint64_t *instance)
{
	struct fake_event *e = fake.make(name, line ? "src/model.cpp" : NULL, line, 7);

	say_text(e, "sycl_device_name", "Pretended GPU");
	say_number(e, "queue_id", 3);
	*instance = next();
	fake.report(SYCL, 4, NULL, e, *instance, NULL);
	return e;
}

static void depends(const char *how, struct fake_event *from, struct fake_event *to)
{
	struct fake_event *e = fake.make(how, NULL, 0, 0);

	fake.edge(e, from, to);
	fake.report(SYCL, 6, NULL, e, next(), NULL);
}

static void run(struct fake_event *e, uint64_t instance, void *event)
{
	fake.report(SYCL, 10, NULL, e, instance, NULL);
	call(295, "urEnqueueKernelLaunchWithArgsExp", 0);
	fake.report(SYCL, 16, NULL, e, instance, event);
	fake.report(SYCL, 11, NULL, e, instance, NULL);
}

static void wait_for(const char *text, struct fake_event *e)
{
	uint64_t instance = next();

	fake.report(SYCL, 22, NULL, e, instance, text);
	call(42, "urEventWait", 0);
	fake.report(SYCL, 23, NULL, e, instance, text);
}

/* ---- ways ---------------------------------------------------------------------------------- */

/* produce -> scale -> a host task that waits for an event which is no node any more. */
static void graph(int count)
{
	for (int i = 0; i < count; i++) {
		uint64_t first, second, third, gone;
		char text[64], event[8];
		struct fake_event *produce = node("_ZTS7Produce", 10, &first);
		struct fake_event *scale = node("typeinfo name for Scale<float>", 11, &second);
		struct fake_event *host = node("host task", 0, &third), *virtual;

		depends("read_write[7f0000001000]", produce, scale);
		run(produce, first, NULL);
		run(scale, second, event);
		snprintf(text, sizeof(text), "virtual_node[%lx]", (unsigned long)(uintptr_t)event);
		virtual = node(text, 0, &gone);
		depends("Event[1234]", virtual, host);
		fake.report(SYCL, 10, NULL, host, third, NULL);
		fake.report(SYCL, 11, NULL, host, third, NULL);
		snprintf(text, sizeof(text), "event.wait[%lx]", (unsigned long)(uintptr_t)event);
		wait_for(text, NULL);
	}
}

/* The first has no end, and neither has the call in it; the end of a third has no begin. */
static void throws(void)
{
	uint64_t first, second, third;
	struct fake_event *bad = node("bad", 20, &first), *good = node("good", 21, &second);
	struct fake_event *stray = node("stray", 22, &third);
	uint64_t outer = next();
	struct args a = { .number = 295, .name = "urEnqueueKernelLaunchWithArgsExp" };

	fake.report(SYCL, 22, NULL, NULL, outer, "queue.wait[10]");
	fake.report(SYCL, 10, NULL, bad, first, NULL);
	fake.report(CALLS, 28, NULL, NULL, next(), &a);
	run(good, second, NULL);
	fake.report(SYCL, 11, NULL, stray, third, NULL);
	fake.report(SYCL, 23, NULL, NULL, outer, "queue.wait[10]");
	run(node("after", 23, &third), third, NULL);
}

static void errors(void)
{
	call(108, "urUSMDeviceAlloc", 39);
	call(42, "urEventWait", 0x7ffffffe);
	call(5000, "urFromTheFuture", 0);
}

/* One gigabyte and 512 bytes, of which 512 are given back after the stream was finished. */
static void memory(void)
{
	struct fake_event *e = fake.make("alignedAlloc", NULL, 0, 0);
	uint64_t sizes[] = { 1u << 30, 512 }, instance;

	for (uint64_t i = 0; i < 2; i++) {
		instance = next();
		say_text(e, "sycl_device_name", "Pretended GPU");
		say_number(e, "memory_size", sizes[i]);
		fake.report(MEMORY, 32, NULL, e, instance, "usm::alignedAlloc");
		say_number(e, "memory_ptr", 0x1000 + i);
		fake.report(MEMORY, 33, NULL, e, instance, "usm::alignedAlloc");
	}
	fake.end(MEMORY);
	fake.begin(MEMORY);
	e = fake.make("free", NULL, 0, 0);
	say_number(e, "memory_ptr", 0x1001);
	instance = next();
	fake.report(MEMORY, 34, NULL, e, instance, "usm::free");
	fake.report(MEMORY, 35, NULL, e, instance, "usm::free");
}

static void buffers(void)
{
	struct {
		uintptr_t user, host;
		const char *element;
		uint32_t size, dimensions;
		size_t range[3];
	} made = { 0x5000, 0, "f", 4, 2, { 64, 32, 0 } };
	struct {
		uintptr_t buffer, accessor;
		uint32_t target, mode;
	} used = { 0x5000, 0x6000, 2014, 1024 };
	struct {
		uintptr_t object, address;
		size_t size, guard;
		void *reserved;
	} block = { 0x7000, 0, 8192, 0, NULL };
	struct fake_event *e = fake.make("main", "src/model.cpp", 30, 5);
	uint64_t instance = next();

	fake.report(BUFFER, 36, NULL, e, 1, &made);
	fake.report(BUFFER, 40, NULL, e, 1, &used);
	fake.report(MEMORY, 32, NULL, NULL, instance, &block);
	block.address = 0x8000;
	fake.report(MEMORY, 33, NULL, NULL, instance, &block);
	instance = next();
	block.size = 0;
	fake.report(MEMORY, 34, NULL, NULL, instance, &block);
	fake.report(MEMORY, 35, NULL, NULL, instance, &block);
	fake.report(BUFFER, 37, NULL, e, 1, &made);
}

/* Before there was a Unified Runtime: no arguments, and the same call told of twice. */
static void old(int count)
{
	fake.begin("sycl.pi");
	for (int i = 0; i < count; i++) {
		uint64_t instance = next();

		fake.report("sycl.pi", 24, NULL, NULL, instance, "piEnqueueKernelLaunch");
		fake.report("sycl.pi", 25, NULL, NULL, instance, "piEnqueueKernelLaunch");
	}
}

static void deep(void)
{
	uint64_t instance[40];
	struct fake_event *e = fake.make("nested", NULL, 0, 0);

	for (int i = 0; i < 40; i++) {
		instance[i] = next();
		fake.report(SYCL, 10, NULL, e, instance[i], NULL);
	}
	for (int i = 40; i-- > 0;)
		fake.report(SYCL, 11, NULL, e, instance[i], NULL);
	call(42, "urEventWait", 0);
}

static int loops;

static void *work(void *unused)
{
	(void)unused;
	graph(loops);
	return NULL;
}

static void threads(int count)
{
	pthread_t all[4];

	loops = count;
	for (int i = 0; i < 4; i++)
		pthread_create(&all[i], NULL, work, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(all[i], NULL);
}

static void child(int count)
{
	pid_t pid = fork();

	graph(count);
	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
}

static void killed(int count)
{
	struct fake_event *e;
	uint64_t instance;

	graph(count);
	e = node("last", 40, &instance);
	fake.report(SYCL, 10, NULL, e, instance, NULL);
	kill(getpid(), SIGKILL);
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "graph";
	int count = argc > 2 ? atoi(argv[2]) : 1;
	static const char *const streams[] = { "xpti.framework", SYCL,     "sycl.debug", MEMORY,
					       BUFFER,           "ur.api", CALLS };

	if (!find(getenv("XPTI_FRAMEWORK_DISPATCHER"))) {
		puts("nothing is told");
		return 0;
	}
	for (size_t i = 0; i < sizeof(streams) / sizeof(*streams); i++)
		fake.begin(streams[i]);
	if (!strcmp(way, "graph"))
		graph(count);
	else if (!strcmp(way, "throws"))
		throws();
	else if (!strcmp(way, "errors"))
		errors();
	else if (!strcmp(way, "memory"))
		memory();
	else if (!strcmp(way, "buffers"))
		buffers();
	else if (!strcmp(way, "old"))
		old(count);
	else if (!strcmp(way, "deep"))
		deep();
	else if (!strcmp(way, "threads"))
		threads(count);
	else if (!strcmp(way, "child"))
		child(count);
	else if (!strcmp(way, "killed"))
		killed(count);
	puts("told");
	return 0;
}
