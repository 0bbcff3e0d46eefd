/*
 * view_kernels.h - the work of devices of a trace and its kernels, for all sheets that are about
 * them: made when the first one asks.
 *
 * For makers of sheets, of which one works at a time (attached.h).
 */
#ifndef UT_VIEW_VIEW_KERNELS_H
#define UT_VIEW_VIEW_KERNELS_H

#include <stddef.h>

#include "analyze/device_log.h"
#include "metrics/kernel_facts.h"

struct ut_view;

struct ut_view_kernels {
	struct ut_device_log log; /* finished */
	struct ut_kernel_set set;
};

/* Valid until it is dropped, once for each take. What is small is kept for the next sheet. */
const struct ut_view_kernels *ut_view_kernels_take(struct ut_view *v, size_t trace);
void ut_view_kernels_drop(struct ut_view *v, size_t trace);

/* With the view; NULL is fine. */
void ut_view_kernels_free(struct ut_view_kernels *k);

#endif
