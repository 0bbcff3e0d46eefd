/*
 * ze_clock.h - where a device's clock stands against ours, and how sure we are.
 *
 * A device counts ticks, of which its driver shows the low bits: fewer in the timestamps of kernels
 * than in those that can be asked for. Each question gives a pair, ticks and the two times of ours
 * between which they were read. Ticks are made whole by counting from the last pair; those of a
 * kernel by knowing when it was submitted. The device's crystal is not quite the host's: as soon as
 * pairs are far enough apart to tell, the measured rate takes the place of the nominal one.
 *
 * Not thread-safe: one thread at a time.
 */
#ifndef UT_BACKEND_LEVELZERO_ZE_CLOCK_H
#define UT_BACKEND_LEVELZERO_ZE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define UT_ZE_PAIRS 32u

struct ut_ze_pair {
	uint64_t ticks; /* whole */
	uint64_t ns;    /* the middle between before and after */
	uint64_t error; /* half of the distance */
};

/* {0} knows nothing. */
struct ut_ze_clock {
	uint64_t hz;             /* ticks a second, as the driver says */
	uint64_t mask;           /* of ticks that are asked for */
	uint64_t kernel_mask;    /* of those of kernels */
	double rate;             /* ns a tick */
	struct ut_ze_pair first; /* the best one of the beginning */
	struct ut_ze_pair pairs[UT_ZE_PAIRS];
	uint32_t count; /* of all pairs that were fed */
};

void ut_ze_clock_init(struct ut_ze_clock *c, uint64_t hz, uint32_t bits, uint32_t kernel_bits);

/* The clock stood at these ticks at some moment between before and after, ns of ours. */
void ut_ze_clock_feed(struct ut_ze_clock *c, uint64_t ticks, uint64_t before, uint64_t after);

/* When a pair was fed last; 0 = never. */
uint64_t ut_ze_clock_fed(const struct ut_ze_clock *c);

/*
 * Times of ours for ticks of a kernel that was submitted at a time of ours. False: nothing is known
 * about the clock.
 */
bool ut_ze_clock_map(const struct ut_ze_clock *c, const uint64_t ticks[2], uint64_t submitted,
		     uint64_t times[2]);

/* The same for whole ticks. */
uint64_t ut_ze_clock_map_one(const struct ut_ze_clock *c, uint64_t ticks);

/* Times are off by no more than this, ns. */
uint64_t ut_ze_clock_error(const struct ut_ze_clock *c);

#endif
