/*
 * view_picture.h - a window of a view as one picture: places from top to bottom, time from left to
 * right, as the page draws them, for those who have no page.
 */
#ifndef UT_VIEW_VIEW_PICTURE_H
#define UT_VIEW_VIEW_PICTURE_H

#include <stdint.h>

#include "base/str.h"

struct ut_scene;
struct ut_view;

#define UT_VIEW_PICTURE_WIDTH 1000u /* points; those allowed lie between the two below */
#define UT_VIEW_PICTURE_LEAST 300u
#define UT_VIEW_PICTURE_MOST  4000u
#define UT_VIEW_PICTURE_ROWS  60u
#define UT_VIEW_PICTURE_TALL  400u /* rows at most */

struct ut_view_picture {
	uint64_t from, to;    /* ns of the view; to 0 = up to the end */
	uint32_t width, rows; /* 0 = as above */
};

/*
 * Adds one page. Tracks without anything in the window are left out, and so is what needs more rows
 * than asked for. *about gets a sentence about what the picture shows and leaves out.
 */
void ut_view_picture(struct ut_view *v, const struct ut_view_picture *p, struct ut_scene *scene,
		     struct ut_buf *about);

#endif
