/*
 * svg.h - a scene as SVG 1.1 text: for browsers, papers and editors. Pages stand below each other.
 * The same scene gives the same bytes, in every locale.
 */
#ifndef UT_DRAW_SVG_H
#define UT_DRAW_SVG_H

struct ut_out;
struct ut_scene;

void ut_svg_write(const struct ut_scene *s, struct ut_out *out);

#endif
