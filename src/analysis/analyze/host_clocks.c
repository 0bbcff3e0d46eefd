/* host_clocks.c - see host_clocks.h. */
#include "analyze/host_clocks.h"

#include <stdlib.h>

#include "base/grow.h"
#include "base/sort.h"

/* Wall clocks of one host are set, too, but not by that much unless it was started again. */
#define SAME_BOOT INT64_C(60000000000)

static int by_host(const void *a, const void *b)
{
	const struct ut_clock_of *x = *(struct ut_clock_of *const *)a;
	const struct ut_clock_of *y = *(struct ut_clock_of *const *)b;
	int order = ut_str_cmp(x->host, y->host);

	return order ? order : (x > y) - (x < y);
}

/* The first of those that share its clock; all have the number of the first in the list. */
static void host_clocks_join(struct ut_clock_of **order, size_t count, struct ut_clock_of *items)
{
	for (size_t i = 0, first = 0; i < count; i++) {
		struct ut_clock_of *one = order[i], *head = order[first];
		int64_t apart = one->epoch - head->epoch;

		if (one != head && one->host.len && ut_str_eq(one->host, head->host) &&
		    apart > -SAME_BOOT && apart < SAME_BOOT) {
			one->epoch = head->epoch;
			one->clock = (uint32_t)(head - items);
		} else {
			first = i;
			one->clock = (uint32_t)(one - items);
		}
	}
}

uint32_t ut_clocks_share(struct ut_clock_of *items, size_t count)
{
	struct ut_clock_of **order = ut_make((count + 1) * sizeof(struct ut_clock_of *));
	uint32_t *numbers = ut_make((count + 1) * sizeof(*numbers)), clocks = 0;

	for (size_t i = 0; i < count; i++)
		order[i] = &items[i];
	ut_sort(order, count, sizeof(struct ut_clock_of *), by_host);
	host_clocks_join(order, count, items);
	for (size_t i = 0; i < count; i++) {
		uint32_t head = items[i].clock;

		if (head == i)
			numbers[i] = clocks++;
		items[i].clock = numbers[head];
	}
	free(numbers);
	free(order);
	return clocks;
}
