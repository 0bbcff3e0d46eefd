/*
 * ze_memory.h - memory that the backend needs and gives back, without malloc: the program may be in
 * the middle of its own. Blocks are kept by size; what was given back is used again.
 *
 * Any thread; a thread may have to wait while another takes or gives a block, which is some
 * instructions. In a forked child call ut_ze_memory_forked() first.
 */
#ifndef UT_BACKEND_LEVELZERO_ZE_MEMORY_H
#define UT_BACKEND_LEVELZERO_ZE_MEMORY_H

#include <stddef.h>

/* Zeroed; NULL = there is none. */
void *ut_ze_alloc(size_t size);
/* size as it was asked for; NULL is nothing. */
void ut_ze_free(void *block, size_t size);
void ut_ze_memory_forked(void);

#endif
