/*
 * heap.c - SQLite's memory: bounded for statements, and none for one that was stopped.
 *
 * SQLite asks for interruptions only where a statement that runs comes back to an earlier place of
 * it. It does not while it prepares one, where each of a few common table expressions can double
 * the work of the one before, nor between the thousands of functions of one row. Both need memory
 * all the time. A statement that gets none ends, and its connection can be used again.
 */
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <unistd.h>

#include "query/guard.h"

#define MOST_LIMIT ((size_t)4 << 30)

static sqlite3_mem_methods system_heap;
static _Atomic size_t used, limit;
/* Of the statement that this thread runs; stop is NULL if there is none. */
static _Thread_local const volatile sig_atomic_t *stop;
static _Thread_local size_t most;

size_t ut_guard_memory_limit(void)
{
	size_t set = atomic_load(&limit), quarter;

	if (set)
		return set;
	quarter = (size_t)sysconf(_SC_PHYS_PAGES) / 4 * (size_t)sysconf(_SC_PAGESIZE);
	return quarter < MOST_LIMIT ? quarter : MOST_LIMIT;
}

void ut_guard_set_memory_limit(size_t bytes)
{
	atomic_store(&limit, bytes);
}

size_t ut_guard_memory_used(void)
{
	return atomic_load(&used);
}

void ut_guard_begin(const volatile sig_atomic_t *stopped)
{
	most = ut_guard_memory_limit();
	stop = stopped;
}

void ut_guard_end(void)
{
	stop = NULL;
}

bool ut_guard_is_stopped(void)
{
	return stop && *stop;
}

static bool may_have(int bytes)
{
	if (!stop)
		return true;
	return !*stop && atomic_load_explicit(&used, memory_order_relaxed) + (size_t)bytes <= most;
}

static void heap_count(void *block)
{
	if (block)
		atomic_fetch_add_explicit(&used, (size_t)system_heap.xSize(block),
					  memory_order_relaxed);
}

static void heap_forget(void *block)
{
	atomic_fetch_sub_explicit(&used, (size_t)system_heap.xSize(block), memory_order_relaxed);
}

static void *heap_malloc(int bytes)
{
	void *block = may_have(bytes) ? system_heap.xMalloc(bytes) : NULL;

	heap_count(block);
	return block;
}

static void heap_free(void *block)
{
	heap_forget(block);
	system_heap.xFree(block);
}

/* What becomes smaller is never refused. */
static void *heap_realloc(void *block, int bytes)
{
	size_t before = (size_t)system_heap.xSize(block);
	void *moved;

	if ((size_t)bytes > before && !may_have(bytes - (int)before))
		return NULL;
	moved = system_heap.xRealloc(block, bytes);
	if (moved) {
		atomic_fetch_sub_explicit(&used, before, memory_order_relaxed);
		heap_count(moved);
	}
	return moved;
}

/* SQLite may be in use already, by others in this process: then it stays as it is. */
static void register_once(void)
{
	sqlite3_mem_methods ours;

	/* counting as SQLite does it costs a lock for every allocation */
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &system_heap) != SQLITE_OK)
		return;
	ours = system_heap;
	ours.xMalloc = heap_malloc;
	ours.xFree = heap_free;
	ours.xRealloc = heap_realloc;
	sqlite3_config(SQLITE_CONFIG_MALLOC, &ours);
}

void ut_guard_watch_heap(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, register_once);
}
