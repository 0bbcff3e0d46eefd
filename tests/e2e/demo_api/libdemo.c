/* libdemo.c - the runtime: see demo.h. One thread uses it. */
#define _DEFAULT_SOURCE /* strsep() */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "demo.h"

#define MOST 1000

static const struct demo_tool *tool;
static struct demo_activity pending[MOST];
static int count;
static uint64_t last_call, busy_until[DEMO_QUEUES];

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

__attribute__((constructor)) static void load_tools(void)
{
	const char *list = getenv("DEMO_TOOL_LIBRARIES");
	char *paths = strdup(list ? list : ""), *rest = paths, *path;

	while ((path = strsep(&rest, ":"))) {
		void *library = *path ? dlopen(path, RTLD_NOW) : NULL;
		const struct demo_tool *loaded;
		demo_tool_load *load = NULL;

		if (library)
			*(void **)&load = dlsym(library, "demoToolLoad");
		loaded = load ? load() : NULL;
		tool = loaded ? loaded : tool;
	}
	free(paths);
}

static void submit(enum demo_function function, struct demo_activity *a, uint64_t length)
{
	uint64_t *until = &busy_until[a->queue];

	a->function = function;
	a->call = ++last_call;
	if (tool)
		tool->enter(function, a->call);
	a->queued = now();
	a->start = (*until > a->queued ? *until : a->queued) + 2000;
	a->end = *until = a->start + length;
	if (count < MOST)
		pending[count++] = *a;
	if (tool)
		tool->leave(function);
}

void demoLaunch(int queue, const char *name, const unsigned int grid[3],
		const unsigned int block[3])
{
	struct demo_activity a = { .queue = queue, .name = name, .registers = 24, .active = 75 };

	memcpy(a.grid, grid, sizeof(a.grid));
	memcpy(a.block, block, sizeof(a.block));
	submit(DEMO_LAUNCH, &a, 1000 * grid[0]);
}

void demoCopy(int queue, uint64_t bytes)
{
	struct demo_activity a = { .queue = queue, .name = "copy", .bytes = bytes };

	submit(DEMO_COPY, &a, 500 + bytes / 100);
}

void demoWait(void)
{
	uint64_t call = ++last_call;

	if (tool)
		tool->enter(DEMO_WAIT, call);
	for (int i = 0; i < count; i++) {
		while (now() < pending[i].end)
			;
		if (tool)
			tool->done(&pending[i]);
	}
	count = 0;
	if (tool)
		tool->leave(DEMO_WAIT);
}
