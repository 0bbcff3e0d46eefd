/*
 * attached.h - what tools have attached to a view, and said of it: see view.h. Nobody outside of
 * this room and of the exporter of pages includes it.
 */
#ifndef UT_VIEW_ATTACHED_H
#define UT_VIEW_ATTACHED_H

#include <stdbool.h>
#include <stddef.h>

struct ut_out;
struct ut_view;

/* Writes a sheet when it is first asked for; by any thread, one at a time. */
typedef void (*ut_view_sheet_maker)(struct ut_view *v, struct ut_out *out);

struct ut_view_sheet {
	const char *tool, *title, *name;
	struct ut_out *json; /* NULL: make has not been called yet */
	ut_view_sheet_maker make;
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
	const char *input, *subtitle, *first, *address; /* NULL = nobody has said it */
	bool no_file, again;
};

void ut_view_attached_release(struct ut_view_attached *a);

/* A sheet that takes time, and that few will ask for; as ut_view_attach() otherwise. */
void ut_view_attach_later(struct ut_view *v, const char *tool, const char *title, const char *name,
			  ut_view_sheet_maker make);

/* What the viewer itself attaches to every view (own_sheets.c). */
void ut_view_attach_own(struct ut_view *v);

/* The text of a sheet, which is made now if it was to be made later. */
const char *ut_view_sheet_json(struct ut_view *v, size_t sheet, size_t *len);

#endif
