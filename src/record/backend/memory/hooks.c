/*
 * hooks.c - the program's allocation functions, as the program calls them.
 *
 * A block is told of when it is there, and the end of one before it is given back: whoever gets the
 * same address next tells of it later. reallocarray() and operator new are made of those; strdup(),
 * getline() and all others of the C library end up here by themselves. dlclose() is here because
 * what is known of a library's code must be forgotten with it.
 */
#include <errno.h>
#include <stdlib.h>

#include "backend/memory/alloc_watch.h"
#include "backend/memory/live_set.h"
#include "backend/own_stack.h"

UT_EXPORT void *malloc(size_t size);
UT_EXPORT void free(void *block);
UT_EXPORT void *calloc(size_t count, size_t size);
UT_EXPORT void *realloc(void *block, size_t size);
UT_EXPORT void *reallocarray(void *block, size_t count, size_t size);
UT_EXPORT void *memalign(size_t alignment, size_t size);
UT_EXPORT void *aligned_alloc(size_t alignment, size_t size);
UT_EXPORT int posix_memalign(void **block, size_t alignment, size_t size);
UT_EXPORT void *valloc(size_t size);
UT_EXPORT void *pvalloc(size_t size);

UT_EXPORT int dlclose(void *library);

void *malloc(size_t size)
{
	void *block;

	if (UT_LIKELY(ut_memory_passes(size)))
		return ut_memory_next.malloc(size);
	block = ut_memory_next.malloc(size);
	ut_memory_took(block, size, UT_MEMORY_MALLOC);
	return block;
}

void free(void *block)
{
	if (UT_UNLIKELY(ut_live_maybe((uintptr_t)block)))
		ut_memory_gives(block);
	ut_memory_next.free(block);
}

void *calloc(size_t count, size_t size)
{
	size_t bytes;
	void *block;

	if (__builtin_mul_overflow(count, size, &bytes) || UT_LIKELY(ut_memory_passes(bytes)))
		return ut_memory_next.calloc(count, size);
	block = ut_memory_next.calloc(count, size);
	ut_memory_took(block, bytes, UT_MEMORY_MALLOC);
	return block;
}

/* A block that moves, or stays and changes its size, is a new one. */
void *realloc(void *block, size_t size)
{
	bool was = UT_UNLIKELY(ut_live_maybe((uintptr_t)block)) && ut_memory_gives(block);
	void *to;

	if (UT_LIKELY(!was && ut_memory_passes(size)))
		return ut_memory_next.realloc(block, size);
	to = ut_memory_next.realloc(block, size);
	if (to && !ut_memory_passes(size))
		ut_memory_took(to, size, UT_MEMORY_MALLOC);
	else if (!to && was && size)
		ut_memory_kept(block);
	return to;
}

void *reallocarray(void *block, size_t count, size_t size)
{
	size_t bytes;

	if (!__builtin_mul_overflow(count, size, &bytes))
		return realloc(block, bytes);
	errno = ENOMEM;
	return NULL;
}

static void *took(void *block, size_t size, struct ut_memory_mark before)
{
	if (!ut_memory_counted(before) && !ut_memory_passes(size))
		ut_memory_took(block, size, UT_MEMORY_MALLOC);
	return block;
}

void *memalign(size_t alignment, size_t size)
{
	struct ut_memory_mark before = ut_memory_mark();

	return took(ut_memory_next.memalign(alignment, size), size, before);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	struct ut_memory_mark before = ut_memory_mark();

	return took(ut_memory_next.aligned_alloc(alignment, size), size, before);
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
	struct ut_memory_mark before = ut_memory_mark();
	int rc = ut_memory_next.posix_memalign(block, alignment, size);

	if (!rc)
		took(*block, size, before);
	return rc;
}

void *valloc(size_t size)
{
	struct ut_memory_mark before = ut_memory_mark();

	return took(ut_memory_next.valloc(size), size, before);
}

void *pvalloc(size_t size)
{
	struct ut_memory_mark before = ut_memory_mark();

	return took(ut_memory_next.pvalloc(size), size, before);
}

int dlclose(void *library)
{
	int rc = ut_memory_next.dlclose(library);

	ut_own_stack_forget();
	return rc;
}
