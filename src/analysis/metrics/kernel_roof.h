/*
 * kernel_roof.h - how much of a unit a kernel has used, from counts of its work and the peaks of
 * the device: recordings of the group Roofline have operations and bytes, few percentages.
 */
#ifndef UT_METRICS_KERNEL_ROOF_H
#define UT_METRICS_KERNEL_ROOF_H

#include "metrics/bottleneck.h"
#include "metrics/roofline_columns.h"

#define UT_KERNEL_ROOF_MOST 256u

/* Arguments of launches, which mostly have the same keys. {0} is empty. */
struct ut_kernel_roof {
	struct ut_roof_columns columns;
	uint32_t keys[UT_KERNEL_ROOF_MOST]; /* that they are bound to */
	size_t count;
};

void ut_kernel_roof_release(struct ut_kernel_roof *r);

/* Adds what one launch has counted; titles and values of count keys, the same key the same title.
 */
void ut_kernel_roof_add(struct ut_kernel_roof *r, const uint32_t *keys, const struct ut_str *titles,
			const double *values, size_t count, struct ut_roof_work *sum);

/* Fills in the use of units that was not recorded, where work and peak are known. */
void ut_kernel_roof_facts(struct ut_kernel_facts *f, const struct ut_roof_work *work,
			  const struct ut_roof_device *device);

#endif
