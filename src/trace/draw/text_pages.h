/*
 * text_pages.h - a report as pages of a document, behind its charts: lines in letters of one width.
 */
#ifndef UT_DRAW_TEXT_PAGES_H
#define UT_DRAW_TEXT_PAGES_H

#include "base/str.h"

struct ut_scene;

/*
 * As many pages as the text needs, UT_TEXT_PAGES_MOST at most; what does not fit is counted in the
 * last line. Longer lines go on in the next one.
 */
#define UT_TEXT_PAGES_MOST 200u

void ut_text_pages(struct ut_scene *s, struct ut_str text);

#endif
