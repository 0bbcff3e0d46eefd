/*
 * host_clocks.h - which traces were made with one clock, and how the clocks of others relate to it.
 *
 * Every trace of ours says when, by the wall clock, its time 0 was. Wall clocks of two hosts agree
 * as well as NTP makes them; processes of one host share CLOCK_MONOTONIC, which is better than any
 * wall clock, so they are never moved against each other.
 */
#ifndef UT_ANALYZE_HOST_CLOCKS_H
#define UT_ANALYZE_HOST_CLOCKS_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/* One trace, as far as its clock goes. */
struct ut_clock_of {
	struct ut_str host;
	int64_t epoch;  /* ns since 1970 at its time 0 */
	uint32_t clock; /* out: the same number for those that share a clock, from 0 on */
};

/*
 * Those of one host and boot get one clock, and the epoch that the first of them gives. Returns how
 * many clocks there are; they are numbered in the order in which they come up.
 */
uint32_t ut_clocks_share(struct ut_clock_of *items, size_t count);

#endif
