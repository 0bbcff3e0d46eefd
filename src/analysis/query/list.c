#include "query/list.h"

#include <stdlib.h>

#include "base/grow.h"

enum plan {
	PLAN_ALL,
	PLAN_KEY,
	PLAN_UPID,
};

struct cursor {
	sqlite3_vtab_cursor base; /* first */
	uint64_t at, end;
	const uint32_t *rows; /* to visit; NULL = at itself */
};

/* The condition that saves most: "key = ?", else "upid = ?", else -1. */
static int best_condition(const struct ut_sql_vtab *v, const sqlite3_index_info *info, int *what)
{
	int best = -1;

	for (int i = 0; i < info->nConstraint; i++) {
		int column = info->aConstraint[i].iColumn;
		int this = column < 0 ? UT_SQL_LIST_KEY : v->table->columns[column].what;

		if (!info->aConstraint[i].usable || this >= UT_SQL_LIST_MORE ||
		    info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ)
			continue;
		if (best < 0 || this < *what) {
			best = i;
			*what = this;
		}
	}
	return best;
}

static int list_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	const struct ut_sql_vtab *v = (const struct ut_sql_vtab *)vtab;
	sqlite3_int64 rows = (sqlite3_int64)v->table->list->count(v->traces) + 1;
	int what = UT_SQL_LIST_MORE, i = best_condition(v, info, &what);
	static char by_key[] = "id = ?", by_upid[] = "upid = ?";

	if (i >= 0) {
		info->aConstraintUsage[i].argvIndex = 1;
		info->aConstraintUsage[i].omit = 1;
		info->idxNum = what == UT_SQL_LIST_KEY ? PLAN_KEY : PLAN_UPID;
		info->idxStr = what == UT_SQL_LIST_KEY ? by_key : by_upid;
		info->idxFlags = what == UT_SQL_LIST_KEY ? SQLITE_INDEX_SCAN_UNIQUE : 0;
		rows = what == UT_SQL_LIST_KEY
			       ? 1
			       : 1 + rows / (1 + (sqlite3_int64)v->traces->process_count);
	}
	info->estimatedRows = rows;
	info->estimatedCost = (double)rows + 1;
	return SQLITE_OK;
}

static int list_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **cursor)
{
	(void)vtab;
	*cursor = ut_make(sizeof(struct cursor));
	return SQLITE_OK;
}

static int list_close(sqlite3_vtab_cursor *cursor)
{
	free(cursor);
	return SQLITE_OK;
}

static uint64_t query_list_row_of(const struct cursor *c)
{
	return c->rows ? c->rows[c->at] : c->at;
}

static void step_over(struct cursor *c)
{
	const struct ut_sql_vtab *v = (const struct ut_sql_vtab *)c->base.pVtab;
	const struct ut_sql_list *l = v->table->list;

	while (c->at < c->end && l->has && !l->has(v->traces, query_list_row_of(c)))
		c->at++;
}

static int list_next(sqlite3_vtab_cursor *cursor)
{
	struct cursor *c = (struct cursor *)cursor;

	c->at++;
	step_over(c);
	return SQLITE_OK;
}

static int list_filter(sqlite3_vtab_cursor *cursor, int plan, const char *text, int argc,
		       sqlite3_value **argv)
{
	struct cursor *c = (struct cursor *)cursor;
	const struct ut_sql_vtab *v = (const struct ut_sql_vtab *)cursor->pVtab;
	const struct ut_traces *t = v->traces;
	uint64_t count = v->table->list->count(t);
	int64_t low = 0, high = 0;
	struct ut_match match;

	(void)text;
	c->at = 0;
	c->end = plan == PLAN_ALL ? count : 0;
	c->rows = NULL;
	if (argc) {
		ut_match_init(&match, UT_OP_EQ, false, argv[0]);
		ut_match_range(&match, &low, &high);
		ut_match_release(&match);
	}
	if (low > high || low < 0)
		return SQLITE_OK;
	if (plan == PLAN_KEY && (uint64_t)low < count) {
		c->at = (uint64_t)low;
		c->end = c->at + 1;
	} else if (plan == PLAN_UPID && (uint64_t)low < t->process_count) {
		c->rows = t->by_process + t->processes[low].first;
		c->end = t->processes[low].count;
	}
	step_over(c);
	return SQLITE_OK;
}

static int list_eof(sqlite3_vtab_cursor *cursor)
{
	const struct cursor *c = (const struct cursor *)cursor;

	return c->at >= c->end;
}

static int list_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *id)
{
	*id = (sqlite3_int64)query_list_row_of((const struct cursor *)cursor);
	return SQLITE_OK;
}

static int list_column(sqlite3_vtab_cursor *cursor, sqlite3_context *ctx, int i)
{
	const struct cursor *c = (const struct cursor *)cursor;
	const struct ut_sql_vtab *v = (const struct ut_sql_vtab *)cursor->pVtab;
	int what = v->table->columns[i].what;

	if (what == UT_SQL_LIST_KEY)
		sqlite3_result_int64(ctx, (sqlite3_int64)query_list_row_of(c));
	else
		v->table->list->column(ctx, v->traces, query_list_row_of(c), what);
	return SQLITE_OK;
}

const sqlite3_module ut_sql_list_module = {
	.iVersion = 1,
	.xConnect = ut_sql_connect,
	.xBestIndex = list_best_index,
	.xDisconnect = ut_sql_disconnect,
	.xOpen = list_open,
	.xClose = list_close,
	.xFilter = list_filter,
	.xNext = list_next,
	.xEof = list_eof,
	.xColumn = list_column,
	.xRowid = list_rowid,
};
