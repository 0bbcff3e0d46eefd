/*
 * strips.h - a lane drawn into pixels, item by item: one event, or several that share a pixel.
 */
#ifndef UT_VIEW_STRIPS_H
#define UT_VIEW_STRIPS_H

#include <stdint.h>

#include "view/view_parts.h"

#define UT_STRIP_MANY UINT32_MAX /* the row of several events */

struct ut_strip_item {
	double start;
	float length;
	uint32_t type, row;
	uint8_t fill;         /* 1 to 255: how much of it is covered; 254 of one: it never ended */
	uint64_t first, next; /* the lane's entries that it is made of */
};

struct ut_strip {
	const struct ut_view_track *track;
	uint32_t lane; /* any but a counter */
	double t0, t1, pixel;
	void (*item)(void *ctx, const struct ut_strip_item *item);
	void *ctx;
};

void ut_strip_draw(const struct ut_strip *s);

#endif
