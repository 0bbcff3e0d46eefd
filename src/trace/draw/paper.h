/*
 * paper.h - a scene as PDF and PNG, drawn by cairo, which is loaded by the first call.
 */
#ifndef UT_DRAW_PAPER_H
#define UT_DRAW_PAPER_H

#include "base/err.h"

struct ut_out;
struct ut_scene;

/* As ut_picture_check(). */
int ut_paper_check(struct ut_err *err) UT_MUST_CHECK;

/* As ut_picture_write(). */
int ut_paper_pdf(const struct ut_scene *s, struct ut_out *out, struct ut_err *err) UT_MUST_CHECK;
int ut_paper_png(const struct ut_scene *s, struct ut_out *out, struct ut_err *err) UT_MUST_CHECK;

#endif
