/*
 * attached.h - what tools have attached to a view, and said of it: see view.h. Nobody outside of
 * this room and of the exporter of pages includes it.
 */
#ifndef UT_VIEW_ATTACHED_H
#define UT_VIEW_ATTACHED_H

#include <stdbool.h>
#include <stddef.h>

struct ut_out;

struct ut_view_sheet {
	const char *tool, *title, *name;
	struct ut_out *json;
};

struct ut_view_file_link {
	const char *path, *title;
};

/* Texts live in the view's arena. */
struct ut_view_attached {
	struct ut_view_sheet *sheets; /* those of one tool side by side */
	size_t sheet_count, sheet_cap;
	struct ut_view_file_link *links;
	size_t link_count, link_cap;
	const char *input, *subtitle, *first; /* NULL = nobody has said it */
	bool no_file, again;
};

void ut_view_attached_release(struct ut_view_attached *a);

#endif
