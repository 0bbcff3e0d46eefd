#include "base/big.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define LEAST 1024 /* items */
#define LINE  64   /* bytes of cache */

/*
 * New arrays start with a line of cache, so that a row of that size is in one and not in two.
 * Large ones keep that when they grow: they move by whole pages.
 */
static void *resize(void *items, size_t n, size_t size)
{
	size_t bytes = n <= SIZE_MAX / 2 / size ? n * size : 0;
	void *p = NULL;

	if (items && bytes)
		p = realloc(items, bytes);
	else if (bytes)
		p = aligned_alloc(LINE, (bytes + LINE - 1) / LINE * LINE);
	if (!p) {
		fprintf(stderr, "unitrace: out of memory (%zu x %zu bytes wanted)\n", n, size);
		abort();
	}
	return p;
}

void *ut_ace_big_grow(void *items, size_t n, size_t *cap, size_t size)
{
	size_t want = *cap + *cap / 4;

	if (n <= *cap)
		return items;
	want = want < n ? n : want;
	want = want < LEAST ? LEAST : want;
	items = resize(items, want, size);
	*cap = want;
	return items;
}

void *ut_ace_big_make(size_t n, size_t size)
{
	return resize(NULL, n ? n : 1, size);
}
