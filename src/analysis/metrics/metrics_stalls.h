/*
 * metrics_stalls.h - samples of stalls of a file of metrics, kernel by kernel, as stall_report.h
 * and charts take them.
 */
#ifndef UT_METRICS_METRICS_STALLS_H
#define UT_METRICS_METRICS_STALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "metrics/stall_report.h"

struct ut_metrics_want;
struct ut_logger;

struct ut_metrics_stalled {
	struct ut_stall_samples samples; /* its arrays are those below */
	uint64_t *addresses, *counts;
	size_t cap; /* rows that there is room for */
};

struct ut_metrics_stalls {
	struct ut_arena arena; /* names, titles */
	uint64_t device;
	struct ut_metrics_stalled *kernels; /* in the order of the file */
	size_t count, cap;
};

/* Are the metrics of this file samples of stalls? -errno as ut_metrics_open(). */
int ut_metrics_stalls_check(const char *path, bool *is_stall, struct ut_err *err) UT_MUST_CHECK;

/* Of the wanted device and kernel; -ENODEV, -ENOENT as ut_metrics_data_read(). */
int ut_metrics_stalls_read(struct ut_metrics_stalls *s, const char *path,
			   const struct ut_metrics_want *want, const struct ut_logger *logger,
			   struct ut_err *err) UT_MUST_CHECK;
void ut_metrics_stalls_release(struct ut_metrics_stalls *s);

#endif
