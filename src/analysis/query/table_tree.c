/* table_tree.c - ancestor_slice, descendant_slice: the slices around a slice and inside it. */
#include <stdlib.h>

#include "base/grow.h"
#include "query/result.h"
#include "query/tree.h"

struct cursor {
	sqlite3_vtab_cursor base; /* first */
	uint64_t *ids;
	size_t count, cap, at;
	struct ut_arg_list args;
};

static bool goes_up(const sqlite3_vtab *vtab)
{
	return ((const struct ut_sql_vtab *)vtab)->table == &ut_sql_ancestor_slice;
}

static int tree_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	info->estimatedRows = goes_up(vtab) ? 8 : 64;
	info->estimatedCost = (double)info->estimatedRows;
	return ut_sql_argument(vtab, info, UT_SQL_START);
}

static int tree_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **cursor)
{
	(void)vtab;
	*cursor = ut_make(sizeof(struct cursor));
	return SQLITE_OK;
}

static int tree_close(sqlite3_vtab_cursor *cursor)
{
	struct cursor *c = (struct cursor *)cursor;

	free(c->ids);
	free(c->args.items);
	free(c);
	return SQLITE_OK;
}

static void table_tree_add(struct cursor *c, const struct ut_place *p)
{
	c->ids = ut_grow(c->ids, c->count + 1, &c->cap, sizeof(*c->ids));
	c->ids[c->count++] = ut_place_id(p);
}

/* The outermost first, as Perfetto lists them. */
static void list_ancestors(struct cursor *c, const struct ut_traces *t, struct ut_place p)
{
	while (ut_tree_parent(t, &p, &p))
		table_tree_add(c, &p);
	for (size_t i = 0; i < c->count / 2; i++) {
		uint64_t swapped = c->ids[i];

		c->ids[i] = c->ids[c->count - 1 - i];
		c->ids[c->count - 1 - i] = swapped;
	}
}

static void list_descendants(struct cursor *c, const struct ut_traces *t, struct ut_place p)
{
	bool async = ut_place_type(&p)->kind == UT_KIND_ASYNC_BEGIN;
	uint64_t end = ut_tree_end(t, &p), id = ut_place_id(&p);
	uint32_t track = (uint32_t)(p.track - t->tracks);

	for (uint64_t row = p.row + 1; row < end; row++) {
		ut_traces_place(t, track, row, &p);
		/* those of other numbers lie between those of an async span */
		if (async ? ut_tree_is_slice(&p) && ut_tree_inside(t, id, ut_place_id(&p))
			  : ut_tree_nests(&p))
			table_tree_add(c, &p);
	}
}

static int tree_filter(sqlite3_vtab_cursor *cursor, int plan, const char *text, int argc,
		       sqlite3_value **argv)
{
	struct cursor *c = (struct cursor *)cursor;
	const struct ut_traces *t = ((const struct ut_sql_vtab *)cursor->pVtab)->traces;
	struct ut_place p;

	(void)plan;
	(void)text;
	(void)argc;
	c->count = c->at = 0;
	if (!ut_sql_event_id(argv[0], t, &p) || !ut_tree_is_slice(&p))
		return SQLITE_OK;
	if (goes_up(cursor->pVtab))
		list_ancestors(c, t, p);
	else
		list_descendants(c, t, p);
	return SQLITE_OK;
}

static int tree_next(sqlite3_vtab_cursor *cursor)
{
	struct cursor *c = (struct cursor *)cursor;

	c->at++;
	return SQLITE_OK;
}

static int tree_eof(sqlite3_vtab_cursor *cursor)
{
	const struct cursor *c = (const struct cursor *)cursor;

	return c->at >= c->count;
}

static int tree_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *id)
{
	const struct cursor *c = (const struct cursor *)cursor;

	*id = ut_datum_clamp(c->ids[c->at]);
	return SQLITE_OK;
}

static int tree_column(sqlite3_vtab_cursor *cursor, sqlite3_context *ctx, int i)
{
	struct cursor *c = (struct cursor *)cursor;
	const struct ut_sql_vtab *v = (const struct ut_sql_vtab *)cursor->pVtab;
	int what = v->table->columns[i].what;
	struct ut_place p;

	if (what < UT_FIELD_COUNT && ut_traces_find(v->traces, c->ids[c->at], &p))
		ut_sql_result_field(ctx, v->traces, &p, (enum ut_field)what, &c->args);
	return SQLITE_OK;
}

static const sqlite3_module module = {
	.iVersion = 1,
	.xConnect = ut_sql_connect,
	.xBestIndex = tree_best_index,
	.xDisconnect = ut_sql_disconnect,
	.xOpen = tree_open,
	.xClose = tree_close,
	.xFilter = tree_filter,
	.xNext = tree_next,
	.xEof = tree_eof,
	.xColumn = tree_column,
	.xRowid = tree_rowid,
};

const struct ut_sql_table ut_sql_ancestor_slice = {
	.name = "ancestor_slice",
	.call = "ancestor_slice(ID)",
	.doc = "a table: the slices around a slice, the outermost first",
	.columns = ut_sql_tree_columns,
	.module = &module,
};

const struct ut_sql_table ut_sql_descendant_slice = {
	.name = "descendant_slice",
	.call = "descendant_slice(ID)",
	.doc = "a table: the slices inside a slice, at any depth",
	.columns = ut_sql_tree_columns,
	.module = &module,
};
