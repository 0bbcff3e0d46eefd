/*
 * sort.h - qsort() that may be given nothing, and leaves alone what is in order already.
 *
 * Recordings mostly are, and glibc's qsort() takes as much memory again as it sorts.
 */
#ifndef UT_BASE_SORT_H
#define UT_BASE_SORT_H

#include <stddef.h>

void ut_sort(void *items, size_t count, size_t size, int (*compare)(const void *, const void *));

#endif
