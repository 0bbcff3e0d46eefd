/* table_reach.c - following_flow, preceding_flow, directly_connected_flow: arrows along arrows. */
#include <stdlib.h>

#include "base/grow.h"
#include "query/flow.h"
#include "query/sql.h"
#include "query/tree.h"

enum what {
	ID,
	SLICE_OUT,
	SLICE_IN,
};

static const struct ut_sql_column columns[] = {
	{ "id", "INTEGER", "number of the arrow: flow.id", ID, false },
	{ "slice_out", "INTEGER", "the slice that it starts in: slice.id", SLICE_OUT, false },
	{ "slice_in", "INTEGER", "the slice that it ends in: slice.id", SLICE_IN, false },
	{ "start_id", "INTEGER", "argument: the slice to start from", UT_SQL_START, true },
	{ 0 },
};

struct cursor {
	sqlite3_vtab_cursor base; /* first */
	const struct ut_flows *flows;
	uint32_t *found; /* arrows; those from next on still have to be followed */
	size_t count, cap, next, at;
	uint8_t *
		seen; /* per arrow; cleared by what was found, so that a call costs what it finds */
};

static bool table_reach_is(const struct cursor *c, const struct ut_sql_table *t)
{
	return ((const struct ut_sql_vtab *)c->base.pVtab)->table == t;
}

static int reach_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	info->estimatedRows = 8;
	info->estimatedCost = 32;
	return ut_sql_argument(vtab, info, UT_SQL_START);
}

static int reach_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **cursor)
{
	(void)vtab;
	*cursor = ut_make(sizeof(struct cursor));
	return SQLITE_OK;
}

static int reach_close(sqlite3_vtab_cursor *cursor)
{
	struct cursor *c = (struct cursor *)cursor;

	free(c->found);
	free(c->seen);
	free(c);
	return SQLITE_OK;
}

static void table_reach_forget(struct cursor *c)
{
	for (size_t i = 0; i < c->count; i++)
		c->seen[c->found[i]] = 0;
	c->count = c->next = c->at = 0;
}

static void table_reach_add(struct cursor *c, uint32_t arrow)
{
	if (c->seen[arrow])
		return;
	c->seen[arrow] = 1;
	c->found = ut_grow(c->found, c->count + 1, &c->cap, sizeof(*c->found));
	c->found[c->count++] = arrow;
}

static uint32_t arrow_at(const struct cursor *c, bool by_in, size_t i)
{
	return by_in ? c->flows->by_in[i] : (uint32_t)i;
}

static int64_t slice_at(const struct cursor *c, bool by_in, size_t i)
{
	const struct ut_qarrow *a = &c->flows->arrows[arrow_at(c, by_in, i)];

	return by_in ? a->slice_in : a->slice_out;
}

/* The arrows that start (or end) in the slices from first to last. */
static void add_of_slices(struct cursor *c, bool by_in, int64_t first, int64_t last)
{
	size_t low = 0, high = c->flows->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (slice_at(c, by_in, middle) < first)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < c->flows->count && slice_at(c, by_in, low) <= last; low++)
		table_reach_add(c, arrow_at(c, by_in, low));
}

/* Onwards: from the slice itself and from all that lies inside it. */
static void table_reach_follow(struct cursor *c, const struct ut_traces *t, uint64_t slice)
{
	struct ut_place p;

	if (ut_traces_find(t, slice, &p))
		add_of_slices(c, false, ut_datum_clamp(slice),
			      ut_datum_clamp(p.track->first_id + ut_tree_end(t, &p) - 1));
}

/* Backwards: to the slice itself and to all that lie around it. */
static void precede(struct cursor *c, const struct ut_traces *t, uint64_t slice)
{
	struct ut_place p;
	bool any = ut_traces_find(t, slice, &p);

	while (any) {
		int64_t id = ut_datum_clamp(ut_place_id(&p));

		add_of_slices(c, true, id, id);
		any = ut_tree_parent(t, &p, &p);
	}
}

static void connect(struct cursor *c, bool backwards, int64_t slice)
{
	add_of_slices(c, backwards, slice, slice);
}

/* Goes on from all that was found until nothing new is. Returns an SQLite code. */
static int table_reach_go_on(struct cursor *c, const struct ut_traces *t, bool backwards)
{
	while (c->next < c->count) {
		const struct ut_qarrow *a = &c->flows->arrows[c->found[c->next++]];
		int64_t slice = backwards ? a->slice_out : a->slice_in;

		if (t->stop)
			return SQLITE_INTERRUPT;
		if (slice < 0)
			continue;
		if (table_reach_is(c, &ut_sql_directly_connected_flow))
			connect(c, backwards, slice);
		else if (backwards)
			precede(c, t, (uint64_t)slice);
		else
			table_reach_follow(c, t, (uint64_t)slice);
	}
	return SQLITE_OK;
}

static int table_reach_start(struct cursor *c, const struct ut_traces *t, uint64_t slice)
{
	int rc;

	if (table_reach_is(c, &ut_sql_directly_connected_flow)) {
		connect(c, false, ut_datum_clamp(slice));
		rc = table_reach_go_on(c, t, false);
		connect(c, true, ut_datum_clamp(slice));
		return rc == SQLITE_OK ? table_reach_go_on(c, t, true) : rc;
	}
	if (table_reach_is(c, &ut_sql_preceding_flow)) {
		precede(c, t, slice);
		return table_reach_go_on(c, t, true);
	}
	table_reach_follow(c, t, slice);
	return table_reach_go_on(c, t, false);
}

static int reach_filter(sqlite3_vtab_cursor *cursor, int plan, const char *text, int argc,
			sqlite3_value **argv)
{
	struct cursor *c = (struct cursor *)cursor;
	struct ut_traces *t = ((struct ut_sql_vtab *)cursor->pVtab)->traces;
	struct ut_place p;

	(void)plan;
	(void)text;
	(void)argc;
	c->flows = ut_flows_get(t);
	if (!c->flows)
		return SQLITE_INTERRUPT;
	if (!c->seen)
		c->seen = ut_make(c->flows->count + 1);
	table_reach_forget(c);
	if (!ut_sql_event_id(argv[0], t, &p))
		return SQLITE_OK;
	return table_reach_start(c, t, ut_place_id(&p));
}

static int reach_next(sqlite3_vtab_cursor *cursor)
{
	((struct cursor *)cursor)->at++;
	return SQLITE_OK;
}

static int reach_eof(sqlite3_vtab_cursor *cursor)
{
	const struct cursor *c = (const struct cursor *)cursor;

	return c->at >= c->count;
}

static int reach_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *id)
{
	const struct cursor *c = (const struct cursor *)cursor;

	*id = c->found[c->at];
	return SQLITE_OK;
}

static int reach_column(sqlite3_vtab_cursor *cursor, sqlite3_context *ctx, int i)
{
	const struct cursor *c = (const struct cursor *)cursor;
	const struct ut_qarrow *a = &c->flows->arrows[c->found[c->at]];
	int64_t slice = i == SLICE_OUT ? a->slice_out : a->slice_in;

	if (i == ID)
		sqlite3_result_int64(ctx, c->found[c->at]);
	else if (i <= SLICE_IN && slice >= 0)
		sqlite3_result_int64(ctx, slice);
	return SQLITE_OK;
}

static const sqlite3_module module = {
	.iVersion = 1,
	.xConnect = ut_sql_connect,
	.xBestIndex = reach_best_index,
	.xDisconnect = ut_sql_disconnect,
	.xOpen = reach_open,
	.xClose = reach_close,
	.xFilter = reach_filter,
	.xNext = reach_next,
	.xEof = reach_eof,
	.xColumn = reach_column,
	.xRowid = reach_rowid,
};

const struct ut_sql_table ut_sql_following_flow = {
	.name = "following_flow",
	.call = "following_flow(ID)",
	.doc = "a table: the arrows that lead on from a slice and what is in it",
	.columns = columns,
	.module = &module,
};

const struct ut_sql_table ut_sql_preceding_flow = {
	.name = "preceding_flow",
	.call = "preceding_flow(ID)",
	.doc = "a table: the arrows that lead to a slice and what is around it",
	.columns = columns,
	.module = &module,
};

const struct ut_sql_table ut_sql_directly_connected_flow = {
	.name = "directly_connected_flow",
	.call = "directly_connected_flow(ID)",
	.doc = "a table: the arrows from and to a slice alone, and on",
	.columns = columns,
	.module = &module,
};
