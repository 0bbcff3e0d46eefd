/*
 * cairo_load.h - cairo, loaded when a PDF or PNG is wanted: it brings fonts, images and a dozen
 * libraries, which no other command should wait for.
 */
#ifndef UT_DRAW_CAIRO_LOAD_H
#define UT_DRAW_CAIRO_LOAD_H

#include <cairo-pdf.h>
#include <cairo.h>

#include "base/err.h"

/* What we call of it, without the cairo_ in front. */
#define UT_CAIRO_FUNCTIONS(X)                                                                      \
	X(pdf_surface_create_for_stream)                                                           \
	X(pdf_surface_set_size)                                                                    \
	X(image_surface_create)                                                                    \
	X(surface_write_to_png_stream)                                                             \
	X(surface_finish)                                                                          \
	X(surface_destroy)                                                                         \
	X(surface_status)                                                                          \
	X(create)                                                                                  \
	X(destroy)                                                                                 \
	X(status)                                                                                  \
	X(status_to_string)                                                                        \
	X(save)                                                                                    \
	X(restore)                                                                                 \
	X(translate)                                                                               \
	X(scale)                                                                                   \
	X(rotate)                                                                                  \
	X(set_source_rgba)                                                                         \
	X(set_line_width)                                                                          \
	X(set_line_join)                                                                           \
	X(set_dash)                                                                                \
	X(new_path)                                                                                \
	X(move_to)                                                                                 \
	X(line_to)                                                                                 \
	X(close_path)                                                                              \
	X(rectangle)                                                                               \
	X(arc)                                                                                     \
	X(clip)                                                                                    \
	X(reset_clip)                                                                              \
	X(fill_preserve)                                                                           \
	X(stroke)                                                                                  \
	X(show_page)                                                                               \
	X(select_font_face)                                                                        \
	X(set_font_size)                                                                           \
	X(text_extents)                                                                            \
	X(show_text)

struct ut_cairo {
#define UT_CAIRO_MEMBER(name) __typeof__(&cairo_##name) name;
	UT_CAIRO_FUNCTIONS(UT_CAIRO_MEMBER)
#undef UT_CAIRO_MEMBER
	/* since 1.16; NULL in older ones */
	void (*pdf_surface_set_metadata)(cairo_surface_t *surface, int what, const char *text);
};

extern struct ut_cairo ut_cairo; /* complete once ut_cairo_load() has returned 0 */

/* Loads it, the first time. Otherwise err says what to install. Any thread. */
int ut_cairo_load(struct ut_err *err) UT_MUST_CHECK;

#endif
