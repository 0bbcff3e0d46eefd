/*
 * html.h - text of any bytes as HTML.
 */
#ifndef UT_TEXT_HTML_H
#define UT_TEXT_HTML_H

#include <stddef.h>

struct ut_out;

/* What HTML would take for its own is written so that it stands for itself. */
void ut_html_text(struct ut_out *o, const char *s, size_t len);

#endif
