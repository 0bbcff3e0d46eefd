/*
 * lane_items.h - a lane drawn into pixels, item by item: one event, or several that share a pixel.
 */
#ifndef UT_VIEW_LANE_ITEMS_H
#define UT_VIEW_LANE_ITEMS_H

#include <stdint.h>

#include "view/view_parts.h"

#define UT_LANE_ITEM_MANY UINT32_MAX /* the row of several events */

struct ut_lane_item {
	double start;
	float length;
	uint32_t type, row;
	uint8_t fill;         /* 1 to 255: how much of it is covered; 254 of one: it never ended */
	uint64_t first, next; /* the lane's entries that it is made of */
};

struct ut_lane_items {
	const struct ut_view_track *track;
	uint32_t lane; /* any but a counter */
	double t0, t1, pixel;
	void (*item)(void *ctx, const struct ut_lane_item *item);
	void *ctx;
};

void ut_lane_items_draw(const struct ut_lane_items *s);

#endif
