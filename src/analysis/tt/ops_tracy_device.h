/*
 * ops_tracy_device.h - what each op did on the device: cpp_device_perf_report.csv, a row per op,
 * device and replay of a trace.
 */
#ifndef UT_TT_OPS_TRACY_DEVICE_H
#define UT_TT_OPS_TRACY_DEVICE_H

#include <stdbool.h>

#include "base/idmap.h"
#include "tt/ops_tracy_columns.h"

struct ut_csv;

#define UT_TRACY_NO_TRACE INT64_MIN

struct ut_tracy_key {
	uint64_t op;
	int64_t device;
	int64_t trace, replay; /* UT_TRACY_NO_TRACE = none */
};

/* From where to where, in cycles. */
struct ut_tracy_cycles {
	bool known;
	uint64_t start, end;
};

struct ut_tracy_run {
	struct ut_tracy_key key;
	uint32_t next; /* with the same key; 0 = none */
	bool used;
	bool reported;      /* a row of the report, not found in a log */
	struct ut_str name; /* if the host has lost the op */
	struct ut_ops_range cells;
	bool has_latency, has_latency_dm;
	struct ut_tracy_cycles fw, kernel, dm;
	bool has_kernel_ns;
	double fw_ns, kernel_ns; /* 0 = unknown */
};

/* Numbers count from 1. */
struct ut_tracy_device {
	bool present;           /* there is a report, or a log */
	bool from_log;          /* the latter */
	double ns_per_cycle;    /* 0 = the runs tell */
	struct ut_idmap by_key; /* the first that is not used */
	struct ut_idmap last;   /* and the last of each key */
	struct ut_idmap by_op;  /* the same, whatever the trace */
	struct ut_tracy_run *runs;
	size_t count, cap;
};

/* csv may be NULL: there is no report then. */
void ut_tracy_device_read(struct ut_tracy_device *d, const struct ut_tracy_columns *columns,
			  struct ut_ops_report *r, struct ut_csv *csv);
/* One more; copied. */
void ut_tracy_device_add(struct ut_tracy_device *d, const struct ut_tracy_run *run);
void ut_tracy_device_release(struct ut_tracy_device *d);

/* Marks it as used; 0 = there is none. */
uint32_t ut_tracy_device_take(struct ut_tracy_device *d, const struct ut_tracy_key *key);

/* Did this op run on this device, in whatever trace? */
bool ut_tracy_device_ran(const struct ut_tracy_device *d, uint64_t op, int64_t device);

/* Where the report left latencies open: from the end of the row before. Rows are in order. */
void ut_tracy_device_latencies(const struct ut_tracy_device *d,
			       const struct ut_tracy_columns *columns, struct ut_ops_report *r);

#endif
