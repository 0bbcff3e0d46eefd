/*
 * metrics_data.h - what was asked for of a file of metrics, in memory: some columns of the rows of
 * some kernels. One pass over the file; nothing else of it is kept.
 */
#ifndef UT_METRICS_METRICS_DATA_H
#define UT_METRICS_METRICS_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "metrics/metrics_csv.h"

#define UT_METRICS_ANY UINT64_MAX

struct ut_metrics_want {
	uint64_t device;             /* UT_METRICS_ANY: the first one that has what is wanted */
	struct ut_str kernel;        /* with its shape, with quotes or without; ptr NULL = any */
	uint64_t instance;           /* the nth of it, or of each kernel, from 1; 0 = all */
	uint64_t id;                 /* or the one with this GlobalInstanceId; 0 = by the above */
	const struct ut_str *titles; /* columns: as in the file, or without their unit */
	size_t count;
};

/* Rows of one instance. */
struct ut_metrics_run {
	size_t first, count;
	struct ut_str kernel;
	uint64_t instance; /* GlobalInstanceId; 0 = not known */
	uint64_t nth;      /* of its kernel, from 1 */
};

struct ut_metrics_data {
	struct ut_arena arena; /* texts */
	enum ut_metrics_layout layout;
	uint64_t device;
	double **columns;      /* one for each title that was wanted; NULL = the file has none */
	struct ut_str *titles; /* as the file has them */
	size_t count;
	size_t rows, cap;
	struct ut_metrics_run *runs;
	size_t run_count, run_cap;
};

/*
 * -ENODEV: the file has no such device, -ENOENT: no such kernel or instance of it; both with what
 * to say. A title that is missing is no error. On failure there is nothing to release.
 */
int ut_metrics_data_read(struct ut_metrics_data *d, const char *path,
			 const struct ut_metrics_want *want, const struct ut_logger *logger,
			 struct ut_err *err) UT_MUST_CHECK;
void ut_metrics_data_release(struct ut_metrics_data *d);

/* Does what the user calls it mean this kernel? Quotes around it do not count, stalls know no
 * shapes, and parameters may be left out. asked.ptr NULL: any. */
bool ut_metrics_is_kernel(struct ut_str name, struct ut_str asked, bool is_stall);

/* What to say of a kernel that is not there; returns -ENOENT. */
int ut_metrics_no_kernel(struct ut_str asked, uint64_t device, struct ut_err *err);

/* A name without the quotes around it. */
struct ut_str ut_metrics_unquoted(struct ut_str name);

/* Where the shape of a kernel begins, "[SIMD32 {...} {...}]": the length of the name before it. */
size_t ut_metrics_shape(struct ut_str name);

#endif
