/*
 * roofline_chart.h - a roofline as charts: operations a second over operations per byte, with the
 * roofs of the device above; and below it, how much of each part of the device the kernels use.
 */
#ifndef UT_METRICS_ROOFLINE_CHART_H
#define UT_METRICS_ROOFLINE_CHART_H

#include "draw/chart.h"
#include "metrics/roofline.h"

enum ut_roof_chart {
	UT_ROOF_CHART_PLACES, /* kernels under roofs; a disc for each level of memory */
	UT_ROOF_CHART_USED,   /* bars: what has no operations is here, too */
	UT_ROOF_CHARTS
};

struct ut_roof_picture {
	struct ut_chart chart;
	size_t **rows; /* of each series: which kernel each point or bar is; NULL = it has none */
};

/* Describes one into the arena; what it points to lives as long as arena and roof. False: there is
 * nothing to draw. */
bool ut_roof_chart(const struct ut_roof *r, enum ut_roof_chart which, struct ut_arena *a,
		   struct ut_roof_picture *picture);

#endif
