/*
 * html.h - pages that stand alone: one file, no network, light and dark, opened by a double click.
 *
 * A page is a frame, data as JSON, and a short script that says what to show of the data. The
 * frame brings the look (web/report.css) and the parts (web/report.js: headings, stacked bars,
 * lines, heat maps, tables that sort and filter), so that all pages are alike:
 *
 *	ut_html_begin(o, "title");
 *	ut_html_data(o, "data", json, len);
 *	ut_html_end(o, script);
 *
 * The script finds the data with ut.data("data") and builds the page with ut.section() and the
 * rest; see the top of web/report.js. The page's policy forbids every request, so whatever a
 * trace has put into names cannot call out.
 */
#ifndef UT_TEXT_HTML_H
#define UT_TEXT_HTML_H

#include <stddef.h>

struct ut_out;

/* Up to the place where the parts of the page go. */
void ut_html_begin(struct ut_out *o, const char *title);

/* Data for the script; json must be valid JSON. Nothing in it can end the element. */
void ut_html_data(struct ut_out *o, const char *id, const char *json, size_t len);

/* The parts, then the page's own script, which must not contain "</script". */
void ut_html_end(struct ut_out *o, const char *script);

/* Text between tags or in an attribute's double quotes. */
void ut_html_text(struct ut_out *o, const char *s, size_t len);

#endif
