/* device_clock.c - see device_clock.h. */
#include "backend/opencl/device_clock.h"

#include <sched.h>
#include <time.h>

/* Two clocks of one machine part by less than 1 ns in 2048: NTP steers by at most 500 ppm. */
#define DRIFT_SHIFT 11

/* Signed differences, so that clocks may be anywhere in 64 bits. */
static int64_t minus(uint64_t a, uint64_t b)
{
	return (int64_t)(a - b);
}

static void fade(struct ut_cl_clock *c, uint64_t now)
{
	int64_t passed = minus(now, c->fed);

	if (passed > 0) {
		c->low -= passed >> DRIFT_SHIFT;
		c->high += passed >> DRIFT_SHIFT;
		c->fed = now;
	}
}

static int64_t read_ns(clockid_t clock)
{
	struct timespec t = { 0 };

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/*
 * Many a device's clock is one of the system's. If one of these fits, it is a better guess than the
 * middle, and the first commands, about which little is known, come out right.
 */
static int64_t guess(int64_t low, int64_t high)
{
	static const clockid_t clocks[] = { CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW, CLOCK_REALTIME,
					    CLOCK_BOOTTIME };

	for (unsigned int i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
		int64_t offset = read_ns(CLOCK_MONOTONIC) - read_ns(clocks[i]);

		if (i == 0)
			offset = 0;
		if (offset >= low && offset <= high)
			return offset;
	}
	return low + (high - low) / 2;
}

static void device_clock_choose(struct ut_cl_clock *c)
{
	int64_t offset = atomic_load_explicit(&c->offset, memory_order_relaxed);

	if (!c->known || offset < c->low || offset > c->high)
		offset = guess(c->low, c->high);
	atomic_store_explicit(&c->offset, offset, memory_order_relaxed);
	atomic_store_explicit(&c->known, true, memory_order_release);
}

static bool narrow(struct ut_cl_clock *c, enum ut_cl_clock_source source, int64_t low, int64_t high)
{
	bool fits = low <= c->high && high >= c->low;

	if (!fits && source == UT_CL_CLOCK_QUEUED && c->has_timer) {
		c->queued_is_off = true;
		return false;
	}
	if (!fits || low > c->low)
		c->low = low;
	if (!fits || high < c->high)
		c->high = high;
	return fits;
}

bool ut_cl_clock_feed(struct ut_cl_clock *c, enum ut_cl_clock_source source, uint64_t device,
		      uint64_t before, uint64_t after)
{
	int64_t low = minus(before, device), high = minus(after, device);
	bool fits = true;

	if (high < low)
		return true;
	while (atomic_flag_test_and_set_explicit(&c->busy, memory_order_acquire)) {
		/* Who comes first needs an answer: without one nothing can be mapped. */
		if (atomic_load(&c->known))
			return true;
		sched_yield();
	}
	if (source == UT_CL_CLOCK_QUEUED && c->queued_is_off) {
		fits = false;
	} else if (!c->known) {
		c->low = low;
		c->high = high;
		c->fed = after;
		device_clock_choose(c);
	} else {
		fade(c, after);
		fits = narrow(c, source, low, high);
		device_clock_choose(c);
	}
	c->has_timer |= source == UT_CL_CLOCK_TIMER;
	atomic_flag_clear_explicit(&c->busy, memory_order_release);
	return fits;
}

uint64_t ut_cl_clock_error(const struct ut_cl_clock *c)
{
	int64_t offset = atomic_load_explicit(&c->offset, memory_order_relaxed);
	int64_t below = offset - c->low, above = c->high - offset;

	return (uint64_t)(below > above ? below : above);
}
