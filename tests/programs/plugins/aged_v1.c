/*
 * A plugin as it was built for version 1 of the contract, with the structs of then: it must not
 * include today's header. Compiled by tests/e2e/test_contract.py.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct fact {
	uint32_t key, type;
	uint64_t value;
};

struct device {
	const char *name, *label;
	uint32_t index, reserved;
};

struct work {
	uint32_t queue, name, kind, thread;
	uint64_t queued, submitted, start, end, correlation;
	const struct fact *facts;
	size_t fact_count;
};

struct host {
	uint32_t version, size, want, reserved;
	uint64_t (*now)(void);
	int (*on)(void);
	uint32_t (*name)(const char *text, size_t len);
	int (*wants_kernel)(const char *name);
	uint32_t (*device)(const struct device *device);
	uint32_t (*queue)(uint32_t device, const char *name, uint64_t id);
	void (*call_begin)(uint32_t api, uint32_t name, uint64_t correlation);
	void (*call_end)(uint32_t api, const struct fact *facts, size_t fact_count);
	void (*call)(uint32_t api, const struct work *call);
	void (*work)(const struct work *work);
	void (*counter)(uint32_t device, uint32_t name, uint64_t time, double value);
	void (*note)(const char *text);
};

struct backend {
	uint32_t version, size;
	const char *name;
	int (*probe)(void *probe);
	int (*start)(const struct host *host);
	void (*flush)(void);
	void (*stop)(void);
};

static const struct host *host;
static uint32_t queue;

static int start(const struct host *h)
{
	host = h;
	queue = h->queue(h->device(&(struct device){ .name = "Aged device", .label = "a" }), "q",
			 0);
	h->note("aged backend of version 1");
	return h->version == 1 ? 0 : -1;
}

__attribute__((visibility("default"))) const struct backend unitrace_backend = {
	.version = 1, .size = sizeof(struct backend), .name = "aged", .start = start
};

__attribute__((visibility("default"))) int unitrace_null_run(uint64_t count)
{
	char path[4096];
	Dl_info self;
	void *library;
	union {
		void *pointer;
		const struct host *(*function)(const struct backend *);
	} join;

	dladdr(&unitrace_backend, &self);
	snprintf(path, sizeof(path), "%.*s/../../libunitrace.so",
		 (int)(strrchr(self.dli_fname, '/') - self.dli_fname), self.dli_fname);
	library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	join.pointer = library ? dlsym(library, "unitrace_join") : NULL;
	if (!join.pointer || !join.function(&unitrace_backend))
		return -2;
	for (uint64_t n = 1; n <= count; n++) {
		const struct fact fact = { host->name("number", 6), 0, n };
		uint64_t now = host->now();

		host->work(&(struct work){ .queue = queue,
					   .name = host->name("aged work", 9),
					   .start = now,
					   .end = now + 100,
					   .facts = &fact,
					   .fact_count = 1 });
	}
	return 0;
}
