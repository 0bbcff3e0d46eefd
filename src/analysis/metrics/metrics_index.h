/*
 * metrics_index.h - what a file of metrics holds: devices, their metrics, kernels and how many
 * instances of each there are. Made by one pass over the file.
 */
#ifndef UT_METRICS_METRICS_INDEX_H
#define UT_METRICS_METRICS_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "metrics/metrics_csv.h"

struct ut_out;

struct ut_metrics_kernel {
	uint32_t name;      /* ut_metrics_kernel() */
	uint64_t instances; /* STALL: 0, it does not apply */
	uint64_t rows;
	uint64_t first; /* GlobalInstanceId of the first one; 0 = it has none */
};

struct ut_metrics_device {
	uint64_t device;
	const struct ut_metrics_section *section;
	struct ut_metrics_kernel *kernels; /* in the order in which they first ran */
	size_t count, cap;
	uint64_t rows;
};

struct ut_metrics_index {
	struct ut_metrics_file *file; /* read to its end; names and titles are in it */
	struct ut_metrics_device *devices;
	size_t count, cap;
};

int ut_metrics_index_make(struct ut_metrics_index *x, const char *path,
			  const struct ut_logger *logger, struct ut_err *err) UT_MUST_CHECK;
void ut_metrics_index_release(struct ut_metrics_index *x);

/* The list of analyzeperfmetrics -l. */
void ut_metrics_index_list(const struct ut_metrics_index *x, struct ut_out *out);

#endif
