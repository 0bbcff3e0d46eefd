/*
 * mem.h - memory for the few things that the collector keeps for as long as the process lives.
 *
 * From mmap, never from malloc: an allocator may be calling us. Nothing is ever freed. Any
 * thread, any signal handler; no lock.
 */
#ifndef UT_COLLECT_MEM_H
#define UT_COLLECT_MEM_H

#include <stddef.h>

/* Zeroed, 16-aligned; NULL when there is none. */
void *ut_mem_alloc(size_t bytes);

#endif
