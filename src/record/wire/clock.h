/*
 * clock.h - the clock of the recording side: TSC ticks when the TSC can be trusted, else
 * CLOCK_MONOTONIC nanoseconds, and the pairs that map one onto the other.
 *
 * ut_clock_source() chooses: the TSC if the CPU calls it invariant and the kernel uses it as its
 * own clock. The launcher writes its choice into the session's control file, so that collectors
 * need not look.
 */
#ifndef UT_WIRE_CLOCK_H
#define UT_WIRE_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

enum ut_clock_source {
	UT_CLOCK_MONOTONIC = 1, /* ticks are ns of CLOCK_MONOTONIC */
	UT_CLOCK_TSC = 2,
};

/* One moment on all clocks, read as close together as the machine allows. */
struct ut_clock_pair {
	uint64_t ticks;
	uint64_t mono;  /* CLOCK_MONOTONIC, ns */
	uint64_t real;  /* CLOCK_REALTIME, ns */
	uint64_t boot;  /* CLOCK_BOOTTIME, ns */
	uint64_t error; /* the reading of ticks and mono lay at most this far apart, ns */
};

enum ut_clock_source ut_clock_source(void);

uint64_t ut_clock_ns(clockid_t id);

/* The clock, if that takes no function call. */
static inline bool ut_clock_ticks_fast(enum ut_clock_source source, uint64_t *ticks)
{
#if defined(__x86_64__)
	if (__builtin_expect(source == UT_CLOCK_TSC, 1)) {
		/* Not __rdtsc(): its header has 60,000 lines, for every file of wire. */
		*ticks = __builtin_ia32_rdtsc();
		return true;
	}
#endif
	(void)source;
	return false;
}

static inline uint64_t ut_clock_ticks(enum ut_clock_source source)
{
	uint64_t ticks;

	return ut_clock_ticks_fast(source, &ticks) ? ticks : ut_clock_ns(CLOCK_MONOTONIC);
}

/* Takes a pair: the tightest of a few tries. No allocation, no locks. */
void ut_clock_pair_take(enum ut_clock_source source, struct ut_clock_pair *pair);

/* Maps ticks onto CLOCK_MONOTONIC with pairs sorted by ticks. */
struct ut_clock_map {
	struct ut_clock_pair pairs[64];
	size_t count;
	double rate; /* ns per tick, used outside the pairs and when there is only one */
};

/* Adds a pair in order; when full, the inner pair that matters least makes room. */
void ut_clock_map_add(struct ut_clock_map *map, const struct ut_clock_pair *pair);

/*
 * Computes rate from the pairs that lie furthest apart. With fewer than two pairs, or pairs
 * closer than 1 ms, the rate is taken from fallback_rate.
 */
void ut_clock_map_finish(struct ut_clock_map *map, double fallback_rate);

/*
 * Between two pairs the clock is taken as straight; outside them the rate is extended. A pair
 * maps onto itself, and the result does not go backwards while ticks go forwards. Saturates at 0.
 */
uint64_t ut_clock_map_ns(const struct ut_clock_map *map, uint64_t ticks);

#endif
