/*
 * big.h - arrays of hundreds of megabytes, which their owner frees with free(). Never NULL:
 * running out of memory aborts.
 */
#ifndef UT_BASE_BIG_H
#define UT_BASE_BIG_H

#include <stddef.h>

/*
 * items with room for at least n of size bytes; *cap is updated. It grows by a quarter: doubling
 * would leave up to half of the largest arrays unused. New items are not zeroed.
 */
void *ut_ace_big_grow(void *items, size_t n, size_t *cap, size_t size);

/* n items, not zeroed: for what is written before it is read. */
void *ut_ace_big_make(size_t n, size_t size);

#endif
