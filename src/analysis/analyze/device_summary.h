/*
 * device_summary.h - how well devices were used: busy, idle, waiting for the host, and by whom.
 *
 * From a finished device log. All times are of the window from the first start to the last end of
 * work on the device, less what it was idle while recording was paused: nobody knows what it did
 * then. Markers and barriers are no work. O(n log n), n pieces of work; some 28 bytes for each.
 */
#ifndef UT_ANALYZE_DEVICE_SUMMARY_H
#define UT_ANALYZE_DEVICE_SUMMARY_H

#include "analyze/device_log.h"

enum ut_device_limiter {
	UT_LIMITER_DEVICE, /* busy nearly all the time */
	UT_LIMITER_HOST,   /* idle mostly because the host had nothing handed over */
	UT_LIMITER_WAITS,  /* idle though it had: launch latency, dependencies */
	UT_LIMITER_IDLE,   /* idle, and when work was submitted is unknown */
};

struct ut_device_use {
	uint32_t device;                                /* index into the log's devices */
	uint64_t works, kernels, copies, fills, others; /* how many */
	uint64_t bytes;                                 /* copied */
	uint64_t run;       /* from the first to the last sign of life of the programs */
	uint64_t window;    /* from the first to the last work */
	uint64_t paused;    /* not part of the window */
	uint64_t busy;      /* something ran */
	uint64_t computing; /* a kernel did */
	uint64_t copying;   /* a copy or fill did */
	uint64_t both;      /* both at once */
	uint64_t starved;   /* idle, and the host had not yet handed over what came next */
	uint64_t delayed;   /* idle, though it had; the rest of idle: unknown */
	uint64_t timed;     /* pieces of work whose submission is known */
	/* from the beginning of the submitting call to the start on the device */
	uint64_t latency_p50, latency_p99, latency_max;
	/* submitted and not yet started: over time, and at most */
	double depth_mean;
	uint64_t depth_max;
	enum ut_device_limiter limiter;
};

/* A kernel, over all devices. */
struct ut_device_top {
	uint32_t name;
	uint32_t task; /* that launched most of its time; 0 = none known */
	uint64_t calls, total, min, max;
	uint64_t task_total; /* the part of that task */
};

struct ut_device_summary {
	struct ut_device_use *uses; /* one per device that worked */
	size_t use_count;
	struct ut_device_top *tops; /* by total, descending */
	size_t top_count;
	uint64_t kernel_total; /* of all kernels */
};

void ut_device_summary_make(struct ut_device_summary *s, const struct ut_device_log *log);
void ut_device_summary_release(struct ut_device_summary *s);

#endif
