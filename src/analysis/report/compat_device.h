/*
 * compat_device.h - device logs (analyze/device_log.h, finished) in the layout of Intel's unitrace
 * to the byte, because scripts cut its columns: CUDA and Level Zero as it prints Level Zero, OpenCL
 * as it prints OpenCL. table_device.h has them as reports.
 *
 * A source without rows prints nothing. source is a number of the log's, or UT_DEVICE_ALL.
 */
#ifndef UT_REPORT_COMPAT_DEVICE_H
#define UT_REPORT_COMPAT_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ut_out;
struct ut_device_log;

/* What a table is to show. */
struct ut_device_view {
	uint32_t source;
	bool shapes;         /* kernels of each size by themselves (-v) */
	size_t name_columns; /* longer names lose their middle; 0 = whole, as the original has them
			      */
};

/* -h: time in calls */
void ut_table_host_timing(struct ut_out *o, const struct ut_device_log *log,
			  const struct ut_device_view *v);

/* -d: time of work, then what is known of kernels */
void ut_table_device_timing(struct ut_out *o, const struct ut_device_log *log,
			    const struct ut_device_view *v);

/* -s: how long work waited in its queue and for the device, and ran */
void ut_table_submission(struct ut_out *o, const struct ut_device_log *log,
			 const struct ut_device_view *v);

/* -t: a line for each piece of work, as they started */
void ut_table_device_timeline(struct ut_out *o, const struct ut_device_log *log, uint32_t source);

/* -c: a line where each call begins and one where it ends; pid and tid: with these in them */
void ut_table_call_log(struct ut_out *o, const struct ut_device_log *log, uint32_t source, bool pid,
		       bool tid);

#endif
