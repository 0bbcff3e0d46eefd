#include "base/sort.h"

#include <stdlib.h>

void ut_sort(void *items, size_t count, size_t size, int (*compare)(const void *, const void *))
{
	const char *at = items;

	for (size_t i = 1; i < count; i++, at += size) {
		if (compare(at, at + size) > 0) {
			qsort(items, count, size, compare);
			return;
		}
	}
}
