/*
 * python_hooks.c - Python's own allocators: small objects come from pools that malloc() never sees.
 *
 * Python lets programs step in front of them (PyMem_SetAllocator). Blocks are counted here,
 * whatever their size; what Python asks malloc() for meanwhile is its own business.
 */
#include <dlfcn.h>
#include <string.h>

#include "backend/memory/alloc_python.h"
#include "backend/memory/alloc_watch.h"
#include "backend/memory/live_set.h"
#include "backend/memory/python_parts.h"

/* As in Python's headers: PyMemAllocatorEx, PyMemAllocatorDomain. */
struct allocator {
	void *ctx;
	void *(*malloc)(void *ctx, size_t size);
	void *(*calloc)(void *ctx, size_t count, size_t size);
	void *(*realloc)(void *ctx, void *block, size_t size);
	void (*free)(void *ctx, void *block);
};

enum domain {
	RAW,
	MEM,
	OBJ
};

static struct allocator below[OBJ + 1];
static void (*get_allocator)(int domain, struct allocator *a);
static void (*set_allocator)(int domain, struct allocator *a);

/* While Python's allocator works, what it does passes: see ut_memory_passes() and _gives(). */
static uint64_t python_hooks_hold(void)
{
	uint64_t left = ut_memory_me.left;

	ut_memory_me.left = UINT64_MAX;
	ut_memory_me.busy++;
	return left;
}

static void python_hooks_release(uint64_t left)
{
	ut_memory_me.busy--;
	ut_memory_me.left = left;
}

static void *took(void *block, size_t size)
{
	if (!ut_memory_passes(size))
		ut_memory_took(block, size, UT_MEMORY_PYTHON);
	return block;
}

static void *python_malloc(void *ctx, size_t size)
{
	const struct allocator *a = ctx;
	uint64_t left = python_hooks_hold();
	void *block = a->malloc(a->ctx, size);

	python_hooks_release(left);
	return took(block, size);
}

static void *python_calloc(void *ctx, size_t count, size_t size)
{
	const struct allocator *a = ctx;
	uint64_t left = python_hooks_hold();
	void *block = a->calloc(a->ctx, count, size);

	python_hooks_release(left);
	return took(block, count * size); /* Python has checked that it fits */
}

static void *python_realloc(void *ctx, void *block, size_t size)
{
	const struct allocator *a = ctx;
	bool was = UT_UNLIKELY(ut_live_maybe((uintptr_t)block)) && ut_memory_gives(block);
	uint64_t left = python_hooks_hold();
	void *to = a->realloc(a->ctx, block, size);

	python_hooks_release(left);
	if (to)
		return took(to, size);
	if (was)
		ut_memory_kept(block);
	return NULL;
}

static void python_free(void *ctx, void *block)
{
	const struct allocator *a = ctx;
	uint64_t left;

	if (UT_UNLIKELY(ut_live_maybe((uintptr_t)block)))
		ut_memory_gives(block);
	left = python_hooks_hold();
	a->free(a->ctx, block);
	python_hooks_release(left);
}

static void step_in(int domain)
{
	struct allocator ours = { &below[domain], python_malloc, python_calloc, python_realloc,
				  python_free };

	get_allocator(domain, &below[domain]);
	set_allocator(domain, &ours);
}

static void python_hooks_find(const char *name, void *function)
{
	void *found = dlsym(RTLD_DEFAULT, name);

	memcpy(function, &found, sizeof(found));
}

void ut_python_begin(const struct ut_host *host)
{
	python_hooks_find("PyMem_GetAllocator", &get_allocator);
	python_hooks_find("PyMem_SetAllocator", &set_allocator);
	if (!get_allocator || !set_allocator)
		return;
	ut_python_find(host);
	step_in(MEM);
	step_in(OBJ);
}

bool ut_python_is_seen(void)
{
	struct allocator now;

	if (!below[OBJ].malloc)
		return true; /* there is no Python */
	get_allocator(OBJ, &now);
	return now.ctx == &below[OBJ];
}
