/*
 * slice_list.c - the slices of a scope one by one, in order of time: the window as a table.
 */
#include <stdlib.h>

#include "base/grow.h"
#include "base/sort.h"
#include "text/out.h"
#include "view/answers.h"
#include "view/ask.h"
#include "view/sheet.h"
#include "view/visit.h"

#define LIST_MOST 100000u

#define COLUMNS(list) (sizeof(list) / sizeof((list)[0]))

static const struct ut_sheet_column list_columns[] = {
	{ .key = "name", .title = "Name", .type = "name" },
	{ .key = "start", .title = "Start", .type = "time" },
	{ .key = "dur", .title = "Duration", .type = "time" },
	{ .key = "self", .title = "Self", .type = "time", .wide = true },
	{ .key = "track", .title = "Track", .type = "text" },
	{ .key = "parent", .title = "Inside", .type = "text", .wide = true },
	{ .key = "cat", .title = "Category", .type = "text", .wide = true },
	{ .key = "type", .title = "Type", .type = "number" },
	{ .key = "id", .title = "Event", .type = "event" },
};

struct listed {
	struct ut_view_row row;
	uint64_t self;
	bool works;      /* has self time */
	uint32_t parent; /* its type; UINT32_MAX = none */
};

struct listing {
	struct ut_view *view;
	struct listed *items;
	size_t count, cap, limit;
	uint64_t all;
};

static void list_visit(void *ctx, const struct ut_visit *visit)
{
	struct listing *l = ctx;

	if (l->all++ >= l->limit)
		return;
	l->items = ut_grow(l->items, l->count + 1, &l->cap, sizeof(*l->items));
	l->items[l->count++] = (struct listed){
		.row = *visit->row,
		.self = visit->self,
		.works = !visit->mark && !visit->aside,
		.parent = visit->depth ? visit->path[visit->depth - 1].row.type : UINT32_MAX,
	};
}

static int slice_list_by_start(const void *a, const void *b)
{
	const struct listed *x = a, *y = b;

	if (x->row.start != y->row.start)
		return x->row.start < y->row.start ? -1 : 1;
	if (x->row.track != y->row.track)
		return x->row.track < y->row.track ? -1 : 1;
	return x->row.row < y->row.row ? -1 : x->row.row > y->row.row;
}

static void put_listed(const struct ut_view *v, const struct listed *i, struct ut_sheet *s)
{
	const struct ut_str none = { "", 0 };

	ut_sheet_text(s, ut_view_type_name(v, i->row.type));
	ut_sheet_u64(s, i->row.start);
	ut_sheet_u64(s, i->row.end - i->row.start);
	if (i->works)
		ut_sheet_u64(s, i->self);
	else
		ut_sheet_null(s);
	ut_sheet_text(s, v->places[i->row.track->place].name);
	ut_sheet_text(s, i->parent == UINT32_MAX ? none : ut_view_type_name(v, i->parent));
	ut_sheet_text(s, ut_view_type_cat(v, i->row.type));
	ut_sheet_u64(s, i->row.type);
	ut_sheet_u64(s, ut_view_id(v, i->row.track, i->row.row));
}

int ut_answer_list(struct ut_view *v, const struct ut_ask *a, struct ut_out *out,
		   struct ut_err *err)
{
	struct listing l = { .view = v };
	struct ut_search_query query;
	struct ut_sheet s;
	int rc = ut_search_query_init(&query, v, (struct ut_str){ "", 0 }, &a->scope, err);

	if (rc)
		return rc;
	l.limit = a->limit < LIST_MOST ? (size_t)a->limit : LIST_MOST;
	ut_view_walk(v, &a->scope, &query, list_visit, &l);
	ut_sort(l.items, l.count, sizeof(*l.items), slice_list_by_start);
	ut_sheet_init(&s, list_columns, COLUMNS(list_columns));
	for (size_t i = 0; i < l.count; i++)
		put_listed(v, &l.items[i], &s);
	ut_sheet_write(&s, l.all - l.count, out);
	free(l.items);
	ut_search_query_release(&query);
	return 0;
}
