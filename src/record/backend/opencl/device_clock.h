/*
 * device_clock.h - where a device's clock stands against ours, and how sure we are.
 *
 * OpenCL tells when a command was queued, submitted, started and ended in nanoseconds of a clock of
 * the device's. Adding an offset gives ours. Nobody tells the offset, but each command narrows it
 * down: it was queued while the program was inside the call that queued it. So the offset lies
 * between before - queued and after - queued, and in all such intervals at once, if the two clocks
 * run alike. They do not quite: what was learnt fades by DRIFT, and so an old interval gives way to
 * new ones.
 *
 * The offset in use is kept as long as it is possible, so that commands do not jump.
 *
 * Threads: feed() may be called by any; while another thread is in it, it does nothing,
 * unless nothing is known about this clock yet: then it waits. After a fork busy is cleared.
 */
#ifndef UT_BACKEND_OPENCL_DEVICE_CLOCK_H
#define UT_BACKEND_OPENCL_DEVICE_CLOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum ut_cl_clock_source {
	UT_CL_CLOCK_QUEUED, /* the queued time of a command and the call around it */
	UT_CL_CLOCK_TIMER,  /* clGetDeviceAndHostTimer(), and our clock before and after */
};

/* {0} knows nothing. */
struct ut_cl_clock {
	_Atomic int64_t offset; /* ours minus the device's, ns */
	_Atomic bool known;
	atomic_flag busy;
	bool has_timer;     /* the timer was read: queued times must agree with it */
	bool queued_is_off; /* they did not */
	int64_t low, high;  /* the offset is between */
	uint64_t fed;       /* our time of the last feed() */
};

/*
 * The device's clock stood at device ns at some moment between before and after of ours. False if
 * that contradicts what is known; a timer is then believed, a queued time only without a timer.
 */
bool ut_cl_clock_feed(struct ut_cl_clock *c, enum ut_cl_clock_source source, uint64_t device,
		      uint64_t before, uint64_t after);

/* The offset is off by no more than this, ns. */
uint64_t ut_cl_clock_error(const struct ut_cl_clock *c);

/* Our time for a time of the device's; 0 when nothing is known. */
static inline uint64_t ut_cl_clock_map(const struct ut_cl_clock *c, uint64_t device)
{
	if (!atomic_load_explicit(&c->known, memory_order_acquire))
		return 0;
	return device + (uint64_t)atomic_load_explicit(&c->offset, memory_order_relaxed);
}

#endif
