/*
 * page.h - the viewer's page, as it lies in the program: one script and one style, compressed.
 */
#ifndef UT_VIEW_PAGE_H
#define UT_VIEW_PAGE_H

#include <stdbool.h>

#include "base/str.h"

struct ut_page {
	struct ut_str script, style; /* gzip */
	struct ut_str module;        /* gzip; of saved pages only: what answers in them */
};

/* False if this build has none; ut_page_missing then says what to do about it. */
bool ut_page_get(struct ut_page *page);

/* The page that holds its trace, which needs a module more. */
bool ut_page_get_saved(struct ut_page *page);

/* The page of `unitrace serve`, with the viewer in it. */
bool ut_page_get_workbench(struct ut_page *page);

extern const char ut_page_missing[];

/* The HTML around them, for a server: they are asked for as app.js and app.css. */
extern const char ut_page_html[];

/* What the page may do: nothing from elsewhere, and no script or style inside the HTML. */
extern const char ut_page_policy[];

#endif
