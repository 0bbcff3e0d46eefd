/*
 * stall_beside.h - why instructions wait, of a kernel in a trace: its code is looked for where a
 * recording leaves it, beside the trace.
 *
 * Folders that are looked into: those called as recordings call them (docs/formats/metrics.md),
 * "modules", "NAME.modules.PID", and what a session keeps, "SPOOL.kept"; then any with shader dumps
 * (*.asm); then the one that the trace lies in. If it is known which module a kernel is in, only
 * that one is taken: modules may have kernels of one name.
 */
#ifndef UT_METRICS_STALL_BESIDE_H
#define UT_METRICS_STALL_BESIDE_H

#include "base/err.h"

struct ut_stall_opts;
struct ut_stall_result;
struct ut_stall_samples;

/* As ut_stall_find(), but for opts->code. trace: its file, or a folder of such. -ENOENT with what
 * is missing and what to do. */
int ut_stall_find_beside(struct ut_stall_result *r, const struct ut_stall_samples *samples,
			 const struct ut_stall_opts *opts, const char *trace,
			 struct ut_err *err) UT_MUST_CHECK;

#endif
