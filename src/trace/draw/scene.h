/*
 * scene.h - what a picture shows, before it is a file: marks on pages.
 *
 * Lengths are points (1/72 inch), the origin of a page is its upper left corner, y goes down.
 * Colours are 0xRRGGBBAA; alpha 0 is nothing at all. Marks cover those that were added before.
 * Texts may hold any bytes: they are kept as valid UTF-8 without control characters. Numbers that
 * are not finite are a mark that is left out. Files are made of a scene by picture.h; whoever
 * draws axes and series has chart.h above it.
 *
 * The scene owns everything in it. One owner, one thread.
 */
#ifndef UT_DRAW_SCENE_H
#define UT_DRAW_SCENE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct ut_scene;

struct ut_point {
	double x, y;
};

struct ut_box {
	double x, y, width, height;
};

enum ut_dash {
	UT_DASH_NONE,
	UT_DASH_LONG,
	UT_DASH_DOTS,
	UT_DASH_MIXED,
	UT_DASHES
};

/* Lengths of ink and gaps, in widths of the line: two or four of them. NONE has none. */
size_t ut_dash_pattern(enum ut_dash dash, double width, double to[4]);

/* How a mark looks. {0} is invisible. */
struct ut_paint {
	uint32_t fill, stroke;
	double width; /* of the stroke */
	enum ut_dash dash;
};

enum ut_anchor {
	UT_ANCHOR_START,
	UT_ANCHOR_MIDDLE,
	UT_ANCHOR_END
};

/* How a text looks. Its place is on the baseline, where the anchor says. */
struct ut_lettering {
	double size;
	uint32_t colour;
	enum ut_anchor anchor;
	bool is_bold, is_mono;
	double turn; /* degrees, clockwise, around its place */
};

/* ---- making one ----------------------------------------------------------------------------- */

struct ut_scene *ut_scene_new(void);
void ut_scene_free(struct ut_scene *s); /* NULL is fine */

/* What it is about: the title of a document. Copied. */
void ut_scene_title(struct ut_scene *s, struct ut_str title);

/* A fresh page; marks go to the last one. At least one page must be there before the first mark. */
void ut_scene_page(struct ut_scene *s, double width, double height);

void ut_scene_line(struct ut_scene *s, const struct ut_paint *paint, struct ut_point from,
		   struct ut_point to);
void ut_scene_rect(struct ut_scene *s, const struct ut_paint *paint, struct ut_box box);
void ut_scene_disc(struct ut_scene *s, const struct ut_paint *paint, struct ut_point centre,
		   double radius);
/* Copied; an area is closed and may be filled. Fewer than two points are nothing. */
void ut_scene_polyline(struct ut_scene *s, const struct ut_paint *paint,
		       const struct ut_point *points, size_t count);
void ut_scene_area(struct ut_scene *s, const struct ut_paint *paint, const struct ut_point *points,
		   size_t count);
void ut_scene_text(struct ut_scene *s, const struct ut_lettering *type, struct ut_point at,
		   struct ut_str text);

/* Told by formats that can when the pointer is over the mark that was added last. */
void ut_scene_note(struct ut_scene *s, struct ut_str note);

/* Marks between the two are cut off outside of the box. No nesting. */
void ut_scene_clip(struct ut_scene *s, struct ut_box box);
void ut_scene_unclip(struct ut_scene *s);

/* ---- for printers --------------------------------------------------------------------------- */

enum ut_mark_kind {
	UT_MARK_LINE, /* points, open */
	UT_MARK_AREA, /* points, closed */
	UT_MARK_RECT,
	UT_MARK_DISC, /* box.x, box.y is the centre, box.width the radius */
	UT_MARK_TEXT, /* at box.x, box.y */
	UT_MARK_CLIP,
	UT_MARK_UNCLIP,
};

struct ut_mark {
	enum ut_mark_kind kind;
	struct ut_paint paint;
	struct ut_lettering type;
	struct ut_box box;
	const struct ut_point *points;
	size_t count;
	struct ut_str text, note; /* note.len 0 = none */
};

struct ut_scene_page {
	double width, height;
	const struct ut_mark *marks;
	size_t count;
};

struct ut_str ut_scene_title_of(const struct ut_scene *s); /* may be empty; NUL-terminated */
size_t ut_scene_pages(const struct ut_scene *s);
struct ut_scene_page ut_scene_page_of(const struct ut_scene *s, size_t page);

#endif
