#include "mpijob/share.h"

void ut_share(const uint64_t *sizes, size_t n, unsigned int parts, unsigned int part, size_t *first,
	      size_t *count)
{
	uint64_t total = 0, before = 0, each;

	*first = n;
	*count = 0;
	for (size_t i = 0; i < n; i++)
		total += sizes[i] + 1; /* an empty file costs something, too */
	each = total / parts + 1;
	for (size_t i = 0; i < n; i++) {
		/* The part that holds the item's middle: grows with i, and is below parts. */
		uint64_t owner = (before + sizes[i] / 2) / each;

		before += sizes[i] + 1;
		if (owner < part)
			continue;
		if (owner > part)
			break;
		*first = *count ? *first : i;
		++*count;
	}
}
