/*
 * sort_events.h - sorting numbers of events by a key, on as many as two threads.
 */
#ifndef UT_ACELYZER_SORT_EVENTS_H
#define UT_ACELYZER_SORT_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ut_ace_item {
	uint64_t key;
	uint32_t event;
};

/* Bits of a double that compare like the double. */
uint64_t ut_ace_sort_key(double v);

/*
 * Sorts n items, stably; with late, of equal keys what stood behind comes first. spare has room
 * for n, too; items and spare may change places. Time is in proportion to n, and to fewer steps
 * if there are a few sorted pieces. The result does not depend on two.
 */
void ut_ace_sort(struct ut_ace_item **items, struct ut_ace_item **spare, size_t n, bool late,
		 bool two);

#endif
