/* table_flow.c - flow: the arrows between slices. */
#include <stdlib.h>

#include "base/grow.h"
#include "query/flow.h"
#include "query/sql.h"

enum what {
	ID,
	SLICE_OUT,
	SLICE_IN,
	TS_OUT,
	TS_IN,
	TRACK_OUT,
	TRACK_IN,
	EVENT_OUT,
	EVENT_IN,
	NAME,
	CAT,
	NUMBER,
	TRACE,
};

static const struct ut_sql_column columns[] = {
	UT_SQL_INT("id", ID, "number of the arrow"),
	UT_SQL_INT("slice_out", SLICE_OUT, "the slice that it starts in: slice.id; NULL = none"),
	UT_SQL_INT("slice_in", SLICE_IN, "the slice that it ends in: slice.id; NULL = none"),
	UT_SQL_INT("ts_out", TS_OUT, "when it starts, in ns"),
	UT_SQL_INT("ts_in", TS_IN, "when it ends, in ns"),
	UT_SQL_INT("track_out", TRACK_OUT, "the track that it starts on: track.id"),
	UT_SQL_INT("track_in", TRACK_IN, "the track that it ends on: track.id"),
	UT_SQL_INT("event_out", EVENT_OUT, "the event that starts it: event.id"),
	UT_SQL_INT("event_in", EVENT_IN, "the event that ends it: event.id"),
	{ "name", "TEXT", "what its start is called", NAME, false },
	{ "cat", "TEXT", "category of its start", CAT, false },
	{ "number", "", "number of the flow in its trace; several arrows may share it", NUMBER,
	  false },
	UT_SQL_INT("trace", TRACE, "the file that it comes from: trace.id"),
	{ 0 },
};

struct cursor {
	sqlite3_vtab_cursor base; /* first */
	const struct ut_flows *flows;
	size_t at, end;
	bool by_in;
};

static const struct ut_qarrow *arrow_of(const struct cursor *c)
{
	return &c->flows->arrows[c->by_in ? c->flows->by_in[c->at] : c->at];
}

static int flow_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	static char plans[][16] = { "id = ?", "slice_out = ?", "slice_in = ?" };

	(void)vtab;
	info->estimatedCost = 1e6;
	info->estimatedRows = 1000000;
	for (int i = 0; i < info->nConstraint; i++) {
		int column = info->aConstraint[i].iColumn < 0 ? ID : info->aConstraint[i].iColumn;

		if (!info->aConstraint[i].usable || column > SLICE_IN ||
		    info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ)
			continue;
		info->aConstraintUsage[i].argvIndex = 1;
		info->aConstraintUsage[i].omit = 1;
		info->idxNum = column + 1;
		info->idxStr = plans[column];
		info->idxFlags = column == ID ? SQLITE_INDEX_SCAN_UNIQUE : 0;
		info->estimatedRows = column == ID ? 1 : 2;
		info->estimatedCost = 10;
		break;
	}
	return SQLITE_OK;
}

static int flow_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **cursor)
{
	(void)vtab;
	*cursor = ut_make(sizeof(struct cursor));
	return SQLITE_OK;
}

static int flow_close(sqlite3_vtab_cursor *cursor)
{
	free(cursor);
	return SQLITE_OK;
}

/* The first arrow whose slice is not below this one. */
static size_t lower(struct cursor *c, int64_t slice)
{
	size_t low = 0, high = c->flows->count;

	while (low < high) {
		const struct ut_qarrow *a;

		c->at = low + (high - low) / 2;
		a = arrow_of(c);
		if ((c->by_in ? a->slice_in : a->slice_out) < slice)
			low = c->at + 1;
		else
			high = c->at;
	}
	return low;
}

static int flow_filter(sqlite3_vtab_cursor *cursor, int plan, const char *text, int argc,
		       sqlite3_value **argv)
{
	struct cursor *c = (struct cursor *)cursor;
	struct ut_match match;
	int64_t low, high;

	(void)text;
	c->flows = ut_flows_get(((struct ut_sql_vtab *)cursor->pVtab)->traces);
	if (!c->flows)
		return SQLITE_INTERRUPT;
	c->at = 0;
	c->end = argc ? 0 : c->flows->count;
	c->by_in = plan == SLICE_IN + 1;
	if (!argc)
		return SQLITE_OK;
	ut_match_init(&match, UT_OP_EQ, false, argv[0]);
	ut_match_range(&match, &low, &high);
	ut_match_release(&match);
	if (low > high || low < 0)
		return SQLITE_OK;
	if (plan == ID + 1) {
		c->at = (size_t)low;
		c->end = c->at < c->flows->count ? c->at + 1 : 0;
	} else {
		c->end = low < INT64_MAX ? lower(c, low + 1) : c->flows->count;
		c->at = lower(c, low);
	}
	return SQLITE_OK;
}

static int flow_next(sqlite3_vtab_cursor *cursor)
{
	((struct cursor *)cursor)->at++;
	return SQLITE_OK;
}

static int flow_eof(sqlite3_vtab_cursor *cursor)
{
	const struct cursor *c = (const struct cursor *)cursor;

	return c->at >= c->end;
}

static int flow_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *id)
{
	const struct cursor *c = (const struct cursor *)cursor;

	*id = arrow_of(c) - c->flows->arrows;
	return SQLITE_OK;
}

static void result_slice(sqlite3_context *ctx, int64_t slice)
{
	if (slice >= 0)
		sqlite3_result_int64(ctx, slice);
}

static void result_place(sqlite3_context *ctx, const struct ut_traces *t, uint64_t event, int what)
{
	struct ut_place p;
	uint32_t type;

	if (!ut_traces_find(t, event, &p))
		return;
	type = p.block->type[p.i] < p.trace->store->types.count ? p.block->type[p.i] : 0;
	if (what == TS_OUT || what == TS_IN)
		sqlite3_result_int64(ctx, ut_datum_clamp(p.block->ts[p.i]));
	else if (what == TRACK_OUT || what == TRACK_IN)
		sqlite3_result_int64(ctx, p.track - t->tracks);
	else if (what == TRACE)
		sqlite3_result_int64(ctx, p.track->trace);
	else
		ut_sql_result_str(ctx, what == NAME ? p.trace->names[type] : p.trace->cats[type]);
}

static int flow_column(sqlite3_vtab_cursor *cursor, sqlite3_context *ctx, int i)
{
	const struct cursor *c = (const struct cursor *)cursor;
	const struct ut_qarrow *a = arrow_of(c);

	if (i == ID)
		sqlite3_result_int64(ctx, a - c->flows->arrows);
	else if (i == SLICE_OUT || i == SLICE_IN)
		result_slice(ctx, i == SLICE_OUT ? a->slice_out : a->slice_in);
	else if (i == EVENT_OUT || i == EVENT_IN)
		ut_sql_result_u64(ctx, i == EVENT_OUT ? a->out : a->in);
	else if (i == NUMBER)
		ut_sql_result_u64(ctx, a->number);
	else
		result_place(ctx, ((struct ut_sql_vtab *)cursor->pVtab)->traces,
			     i == TS_IN || i == TRACK_IN ? a->in : a->out, i);
	return SQLITE_OK;
}

static const sqlite3_module module = {
	.iVersion = 1,
	.xConnect = ut_sql_connect,
	.xBestIndex = flow_best_index,
	.xDisconnect = ut_sql_disconnect,
	.xOpen = flow_open,
	.xClose = flow_close,
	.xFilter = flow_filter,
	.xNext = flow_next,
	.xEof = flow_eof,
	.xColumn = flow_column,
	.xRowid = flow_rowid,
};

const struct ut_sql_table ut_sql_flow = {
	.name = "flow",
	.doc = "the arrows between slices, one row per arrow",
	.columns = columns,
	.module = &module,
};
