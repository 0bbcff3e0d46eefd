/*
 * roofline_read.h - files of hardware metrics become kernels under a roof.
 *
 * A profile is what one run of a program has left: a file, or a file for each process. The two
 * profiles of Intel's groups may be given in either order, which is found by their columns; one of
 * them is enough if it has operations and bytes.
 */
#ifndef UT_METRICS_ROOFLINE_READ_H
#define UT_METRICS_ROOFLINE_READ_H

#include "base/err.h"
#include "metrics/roofline.h"

struct ut_logger;

/*
 * Reads profiles into the roof, whose device is known, and places the kernels. A profile is a file
 * of metrics, a pattern, or the name that a run was given with -o: NAME.metrics.* are its files.
 * Either may be NULL. What is missing or odd, but not fatal, is told.
 */
int ut_roof_read(struct ut_roof *r, const char *compute, const char *memory,
		 const struct ut_logger *logger, struct ut_err *err) UT_MUST_CHECK;

#endif
