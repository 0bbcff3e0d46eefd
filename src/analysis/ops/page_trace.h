/*
 * page_trace.h - the ops of a report as a trace: what its page draws.
 *
 * A track per thread of the host and one per device, a span on each for every op that has times
 * there, and an arrow from the one to the other. Reports of traces have both on one clock. Logs of
 * Tenstorrent tell cycles of the device's own clock: those are laid so that no op begins on its
 * device before it was called, as early as that allows.
 */
#ifndef UT_OPS_PAGE_TRACE_H
#define UT_OPS_PAGE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/store.h"

struct ut_ops_report;

/* When an op was where; ns on the trace's clock. */
struct ut_ops_times {
	uint64_t host, host_ns, device, device_ns;
	size_t trace; /* of the view */
	bool on_host, on_device;
};

struct ut_ops_page_trace {
	struct ut_store store;
	struct ut_ops_times *times; /* one per row of the report */
	bool own_clock;             /* of the devices: they were laid beside the host */
};

/* The report is in order. */
void ut_ops_page_trace_make(struct ut_ops_page_trace *t, const struct ut_ops_report *r);
void ut_ops_page_trace_release(struct ut_ops_page_trace *t);

#endif
