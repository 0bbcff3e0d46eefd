/*
 * picture.h - a scene becomes a file: SVG, PDF or PNG.
 *
 * SVG is written here. PDF and PNG are cairo's, which is loaded when the first of them is wanted:
 * it brings a dozen libraries. SVG and PNG have no pages, so pages stand below each other there.
 */
#ifndef UT_DRAW_PICTURE_H
#define UT_DRAW_PICTURE_H

#include "base/err.h"

struct ut_out;
struct ut_scene;

enum ut_picture_format {
	UT_PICTURE_SVG,
	UT_PICTURE_PDF,
	UT_PICTURE_PNG,
	UT_PICTURE_NONE, /* the name says something else */
};

/* By the end of the name, in either case; .svg.gz and .svg.zst are SVG. */
enum ut_picture_format ut_picture_format_of(const char *path);

/*
 * 0: this format can be written here. -ENOTSUP: not in this build; others: cairo cannot be
 * loaded, and err says what to install. To be asked before work begins.
 */
int ut_picture_check(enum ut_picture_format format, struct ut_err *err) UT_MUST_CHECK;

/* Appends the file's bytes; errors of writing stick to out. -E2BIG: too tall for PNG. */
int ut_picture_write(const struct ut_scene *s, enum ut_picture_format format, struct ut_out *out,
		     struct ut_err *err) UT_MUST_CHECK;

#endif
