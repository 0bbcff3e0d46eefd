#include "base/grow.h"

#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEPT_BYTES (32 << 20)

static void *checked(void *p, size_t n, size_t size)
{
	if (!p) {
		fprintf(stderr, "unitrace: out of memory (%zu items of %zu bytes)\n", n, size);
		abort();
	}
	return p;
}

void *ut_make(size_t size)
{
	return checked(calloc(1, size), 1, size);
}

void *ut_grow_raw(void *items, size_t n, size_t *cap, size_t size)
{
	size_t wanted = *cap ? *cap : 16;

	if (n <= *cap)
		return items;
	while (wanted < n && wanted <= SIZE_MAX / 2)
		wanted *= 2;
	items = wanted >= n && wanted <= SIZE_MAX / size ? realloc(items, wanted * size) : NULL;
	*cap = wanted;
	return checked(items, n, size);
}

void *ut_grow(void *items, size_t n, size_t *cap, size_t size)
{
	size_t had = *cap;

	if (n <= had)
		return items;
	items = ut_grow_raw(items, n, cap, size);
	memset((char *)items + had * size, 0, (*cap - had) * size);
	return items;
}

void ut_keep_freed(void)
{
	mallopt(M_MMAP_THRESHOLD, KEPT_BYTES);
	mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
}

void ut_share_freed(void)
{
	mallopt(M_ARENA_MAX, 2); /* 8 for each core, if nobody says otherwise */
}
