/*
 * backend_probe.h - what a backend tells the launcher about this machine, when nothing is recorded.
 * Included by backend.h, whose rules hold here as well.
 */
#ifndef UNITRACE_BACKEND_PROBE_H
#define UNITRACE_BACKEND_PROBE_H

#include "unitrace/backend_types.h"

/* A hardware metric that a driver can measure, as --metric-list shows it. */
struct ut_driver_metric {
	uint32_t size;
	uint32_t number;         /* in its group, from 0 on */
	const char *group;       /* "ComputeBasic" */
	const char *group_about; /* a few words; NULL = none */
	const char *only;        /* the option that measures it: "-q"; NULL = all of them do */
	const char *name, *unit; /* "GpuTime", "ns"; unit may be NULL */
	const char *about;       /* a few words; NULL = none */
	const char *type;        /* "UINT64, DURATION" */
};

struct ut_probe {
	uint32_t size; /* of this struct in the launcher */
	uint32_t reserved;
	/* Told about every device that is there. */
	void (*device)(void *ctx, const struct ut_device *device);
	void *ctx;
	char why[256]; /* why nothing can be recorded, when probe() fails */
	/* Told about the metrics that the driver can measure, group by group; NULL = not wanted. */
	void (*metric)(void *ctx, const struct ut_driver_metric *metric);
};

#endif
