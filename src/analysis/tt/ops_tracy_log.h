/*
 * ops_tracy_log.h - what each op did on the device, from its log of zones (profile_log_device.csv),
 * for runs that have left no report of it.
 */
#ifndef UT_TT_OPS_TRACY_LOG_H
#define UT_TT_OPS_TRACY_LOG_H

#include "base/err.h"
#include "tt/ops_tracy_device.h"

struct ut_ops_tracy_opts;

/*
 * Fills d as ut_tracy_device_read() does. As in the original, a report of devices alone
 * (r->used_only) says nothing about the chip and the cores that dispatch, but opts->cores is
 * filled. A log of timer numbers knows no ops: -EINVAL; so is an unknown name in opts->analyses.
 */
int ut_tracy_log_read(struct ut_tracy_device *d, struct ut_ops_report *r, const char *path,
		      const struct ut_ops_tracy_opts *opts, struct ut_err *err) UT_MUST_CHECK;

#endif
