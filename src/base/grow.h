/*
 * grow.h - memory that its owner frees with free(). Running out of it aborts: never NULL.
 */
#ifndef UT_BASE_GROW_H
#define UT_BASE_GROW_H

#include <stddef.h>

/*
 * items with room for at least n of size bytes each, moved if need be; *cap is updated and new
 * items are zero. Start with NULL and 0.
 */
void *ut_grow(void *items, size_t n, size_t *cap, size_t size);

/* The same, but new items are what memory happens to hold: they are written before they are read.
 */
void *ut_grow_raw(void *items, size_t n, size_t *cap, size_t size);

/* One zeroed object. */
void *ut_make(size_t size);

/*
 * For work that needs megabytes again and again, for each file or question: what is freed stays
 * with the process, up to 32 MiB by each thread, because fresh pages cost a third of such work.
 */
void ut_keep_freed(void);

/* For a process that lives long and has many short threads: memory that they free is used by each
 * other. Else each of them may keep as much as the largest ever needed. Before any is started. */
void ut_share_freed(void);

#endif
