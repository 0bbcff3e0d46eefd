#include "query/span_join.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/str.h"
#include "query/span_parts.h"
#include "query/token.h"
#include "query/traces.h"

#define MOST_COLUMNS 63 /* of one table; SQLite tells which of so many are used */

static const char *const join_names[] = {
	[UT_SPAN_INNER] = "SPAN_JOIN",
	[UT_SPAN_LEFT] = "SPAN_LEFT_JOIN",
	[UT_SPAN_OUTER] = "SPAN_OUTER_JOIN",
};

/* What a module is registered with. */
struct use {
	enum ut_span_kind kind;
	const struct ut_traces *traces;
};

/* One of the two tables that are joined. */
struct side {
	char *table;
	char *partition; /* column; NULL = none */
	char **columns;  /* besides ts, dur and the partition */
	size_t count;
};

struct join {
	sqlite3_vtab base; /* first */
	sqlite3 *db;
	enum ut_span_kind kind;
	const struct ut_traces *traces;
	struct side sides[2];
	const char *partition; /* of either side */
};

/* ---- making one ---------------------------------------------------------------------------- */

static void free_side(struct side *s)
{
	for (size_t i = 0; i < s->count; i++)
		free(s->columns[i]);
	free(s->columns);
	free(s->table);
	free(s->partition);
}

static int join_disconnect(sqlite3_vtab *vtab)
{
	struct join *j = (struct join *)vtab;

	free_side(&j->sides[0]);
	free_side(&j->sides[1]);
	free(j);
	return SQLITE_OK;
}

/* "table" or "table PARTITIONED column" */
static bool read_side(struct side *s, const char *text)
{
	struct ut_buf name = { 0 };
	bool ok = ut_token_name(&text, &name);

	if (ok)
		s->table = strdup(name.data);
	if (ok && ut_token_take(&text, "PARTITIONED")) {
		ok = ut_token_name(&text, &name);
		if (ok)
			s->partition = strdup(name.data);
	}
	ut_buf_release(&name);
	return ok && ut_token_skip(&text).type == UT_TOKEN_END;
}

/* Its columns; a message in *err if some that it needs are missing. */
static bool list_columns(sqlite3 *db, struct side *s, char **err)
{
	struct ut_buf sql = { 0 };
	sqlite3_stmt *stmt = NULL;
	bool ts = false, dur = false, partition = !s->partition;

	ut_buf_text(&sql, "SELECT * FROM ");
	ut_token_put_name(&sql, s->table);
	if (sqlite3_prepare_v2(db, sql.data, -1, &stmt, NULL) != SQLITE_OK)
		*err = sqlite3_mprintf("%s", sqlite3_errmsg(db));
	ut_buf_release(&sql);
	for (int i = 0; i < sqlite3_column_count(stmt) && s->count < MOST_COLUMNS; i++) {
		const char *name = sqlite3_column_name(stmt, i);
		bool is_ts = !sqlite3_stricmp(name, "ts"), is_dur = !sqlite3_stricmp(name, "dur");
		bool is_partition = s->partition && !sqlite3_stricmp(name, s->partition);
		size_t cap = s->count;

		ts |= is_ts;
		dur |= is_dur;
		partition |= is_partition;
		if (is_ts || is_dur || is_partition)
			continue;
		s->columns = ut_grow(s->columns, s->count + 1, &cap, sizeof(*s->columns));
		s->columns[s->count++] = strdup(name);
	}
	sqlite3_finalize(stmt);
	if (!*err && !(ts && dur && partition))
		*err = sqlite3_mprintf("%s has no column %s", s->table,
				       !ts    ? "ts"
				       : !dur ? "dur"
					      : s->partition);
	return !*err;
}

static int declare(sqlite3 *db, const struct join *j, char **err)
{
	struct ut_buf sql = { 0 };
	int rc;

	ut_buf_text(&sql, "CREATE TABLE x(ts, dur");
	if (j->partition) {
		ut_buf_text(&sql, ", ");
		ut_token_put_name(&sql, j->partition);
	}
	for (int k = 0; k < 2; k++) {
		for (size_t i = 0; i < j->sides[k].count; i++) {
			ut_buf_text(&sql, ", ");
			ut_token_put_name(&sql, j->sides[k].columns[i]);
		}
	}
	ut_buf_text(&sql, ")");
	rc = sqlite3_declare_vtab(db, sql.data);
	if (rc != SQLITE_OK)
		*err = sqlite3_mprintf("%s; rename it in one of the two tables",
				       sqlite3_errmsg(db));
	ut_buf_release(&sql);
	return rc;
}

static bool set_up(sqlite3 *db, struct join *j, int argc, const char *const *argv, char **err)
{
	const char *name = join_names[j->kind];
	struct side *a = &j->sides[0], *b = &j->sides[1];

	if (argc != 5 || !read_side(a, argv[3]) || !read_side(b, argv[4])) {
		*err = sqlite3_mprintf("%s takes two tables, each of them as table or as table "
				       "PARTITIONED column",
				       name);
		return false;
	}
	if (a->partition && b->partition && sqlite3_stricmp(a->partition, b->partition) != 0) {
		*err = sqlite3_mprintf("%s: %s and %s have to be partitioned by the same column",
				       name, a->table, b->table);
		return false;
	}
	j->partition = a->partition ? a->partition : b->partition;
	return list_columns(db, a, err) && list_columns(db, b, err) &&
	       declare(db, j, err) == SQLITE_OK;
}

static int join_connect(sqlite3 *db, void *aux, int argc, const char *const *argv,
			sqlite3_vtab **vtab, char **err)
{
	const struct use *use = aux;
	struct join *j = ut_make(sizeof(*j));

	j->db = db;
	j->kind = use->kind;
	j->traces = use->traces;
	if (!set_up(db, j, argc, argv, err)) {
		join_disconnect(&j->base);
		return SQLITE_ERROR;
	}
	sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
	*vtab = &j->base;
	return SQLITE_OK;
}

/* ---- reading it ---------------------------------------------------------------------------- */

struct cursor {
	sqlite3_vtab_cursor base; /* first */
	sqlite3_stmt *stmts[2];
	bool more[2];           /* the statement stands on a row that is in no part yet */
	struct ut_spans now[2]; /* the spans of the partition that is worked on */
	struct ut_span_rows rows;
	int64_t partition;
	size_t at;
	sqlite3_int64 row;
};

/* Everything is worked out once; being the inner loop of a join would do it again and again. */
static int join_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	(void)vtab;
	info->estimatedCost = 1e7;
	info->estimatedRows = 1000000;
	info->idxStr = sqlite3_mprintf("%llx", (unsigned long long)info->colUsed);
	info->needToFreeIdxStr = 1;
	return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

static int join_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **cursor)
{
	(void)vtab;
	*cursor = ut_make(sizeof(struct cursor));
	return SQLITE_OK;
}

static void span_join_clear(struct cursor *c)
{
	for (int k = 0; k < 2; k++) {
		sqlite3_finalize(c->stmts[k]);
		c->stmts[k] = NULL;
		ut_spans_release(&c->now[k]);
	}
	free(c->rows.items);
	c->rows = (struct ut_span_rows){ 0 };
	c->at = 0;
}

static int join_close(sqlite3_vtab_cursor *cursor)
{
	span_join_clear((struct cursor *)cursor);
	free(cursor);
	return SQLITE_OK;
}

static int span_join_fail(struct cursor *c)
{
	const struct join *j = (const struct join *)c->base.pVtab;

	if (sqlite3_errcode(j->db) == SQLITE_INTERRUPT)
		return SQLITE_INTERRUPT;
	if (sqlite3_errcode(j->db) == SQLITE_NOMEM)
		return SQLITE_NOMEM;
	sqlite3_free(c->base.pVtab->zErrMsg);
	c->base.pVtab->zErrMsg = sqlite3_mprintf("%s", sqlite3_errmsg(j->db));
	return SQLITE_ERROR;
}

/* Columns of the result that are used: those behind the 62nd share a bit. */
static bool is_used(uint64_t used, size_t column)
{
	return used >> (column < 63 ? column : 63) & 1;
}

/* SELECT ts, dur, partition, columns: NULL for those that nobody asked for. */
static int start_side(struct cursor *c, int k, uint64_t used)
{
	const struct join *j = (const struct join *)c->base.pVtab;
	const struct side *s = &j->sides[k];
	size_t first = 2 + (j->partition != NULL) + (k ? j->sides[0].count : 0);
	struct ut_buf sql = { 0 };
	int rc;

	ut_buf_text(&sql, "SELECT ts, dur, ");
	if (s->partition)
		ut_token_put_name(&sql, s->partition);
	else
		ut_buf_text(&sql, "0");
	for (size_t i = 0; i < s->count; i++) {
		ut_buf_text(&sql, ", ");
		if (is_used(used, first + i))
			ut_token_put_name(&sql, s->columns[i]);
		else
			ut_buf_text(&sql, "NULL");
	}
	ut_buf_text(&sql, " FROM ");
	ut_token_put_name(&sql, s->table);
	if (s->partition) {
		ut_buf_text(&sql, " WHERE ");
		ut_token_put_name(&sql, s->partition);
		ut_buf_text(&sql, " IS NOT NULL");
	}
	ut_buf_text(&sql, " ORDER BY 3, 1");
	rc = sqlite3_prepare_v2(j->db, sql.data, -1, &c->stmts[k], NULL);
	ut_buf_release(&sql);
	c->now[k].columns = s->count;
	return rc == SQLITE_OK ? SQLITE_OK : span_join_fail(c);
}

static int span_join_step(struct cursor *c, int k)
{
	const struct join *j = (const struct join *)c->base.pVtab;
	int rc = sqlite3_step(c->stmts[k]);

	c->more[k] = rc == SQLITE_ROW;
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		return span_join_fail(c);
	if (c->more[k] && j->sides[k].partition &&
	    sqlite3_column_type(c->stmts[k], 2) != SQLITE_INTEGER) {
		sqlite3_free(c->base.pVtab->zErrMsg);
		c->base.pVtab->zErrMsg = sqlite3_mprintf(
			"%s: the partition %s has to be an integer; hash() makes one of a text",
			j->sides[k].table, j->sides[k].partition);
		return SQLITE_ERROR;
	}
	return SQLITE_OK;
}

static bool in_partition(const struct cursor *c, int k)
{
	const struct join *j = (const struct join *)c->base.pVtab;

	return c->more[k] &&
	       (!j->sides[k].partition || sqlite3_column_int64(c->stmts[k], 2) == c->partition);
}

/* Reads the spans of c->partition; a table without partitions is read once and stays. */
static int span_join_load(struct cursor *c, int k)
{
	const struct join *j = (const struct join *)c->base.pVtab;
	int rc = SQLITE_OK;

	if (j->sides[k].partition || !j->partition)
		ut_spans_clear(&c->now[k]);
	while (rc == SQLITE_OK && in_partition(c, k)) {
		rc = ut_spans_add(&c->now[k], c->stmts[k]) ? span_join_step(c, k) : SQLITE_NOMEM;
	}
	return rc;
}

/* The next partition that either side has; false if there is none. */
static bool next_partition(struct cursor *c)
{
	const struct join *j = (const struct join *)c->base.pVtab;
	bool any = false;

	if (!j->partition)
		return c->more[0] || c->more[1];
	for (int k = 0; k < 2; k++) {
		int64_t p;

		if (!j->sides[k].partition || !c->more[k])
			continue;
		p = sqlite3_column_int64(c->stmts[k], 2);
		if (!any || p < c->partition)
			c->partition = p;
		any = true;
	}
	return any;
}

/* Goes on to the next row, in this partition or one of the next. */
static int span_join_finalize(struct cursor *c)
{
	const struct join *j = (const struct join *)c->base.pVtab;
	int rc = SQLITE_OK;

	while (rc == SQLITE_OK && c->at == c->rows.count && next_partition(c)) {
		rc = span_join_load(c, 0);
		rc = rc == SQLITE_OK ? span_join_load(c, 1) : rc;
		c->rows.count = c->at = 0;
		if (rc == SQLITE_OK && !ut_spans_join(&c->rows, c->now, j->kind, &j->traces->stop))
			rc = SQLITE_INTERRUPT;
	}
	return rc;
}

static int join_filter(sqlite3_vtab_cursor *cursor, int plan, const char *used, int argc,
		       sqlite3_value **argv)
{
	struct cursor *c = (struct cursor *)cursor;
	uint64_t mask = strtoull(used, NULL, 16);
	int rc = SQLITE_OK;

	(void)plan;
	(void)argc;
	(void)argv;
	span_join_clear(c);
	for (int k = 0; k < 2 && rc == SQLITE_OK; k++) {
		rc = start_side(c, k, mask);
		rc = rc == SQLITE_OK ? span_join_step(c, k) : rc;
	}
	return rc == SQLITE_OK ? span_join_finalize(c) : rc;
}

static int join_next(sqlite3_vtab_cursor *cursor)
{
	struct cursor *c = (struct cursor *)cursor;

	c->at++;
	c->row++;
	return span_join_finalize(c);
}

static int join_eof(sqlite3_vtab_cursor *cursor)
{
	const struct cursor *c = (const struct cursor *)cursor;

	return c->at >= c->rows.count;
}

static int join_column(sqlite3_vtab_cursor *cursor, sqlite3_context *ctx, int i)
{
	const struct cursor *c = (const struct cursor *)cursor;
	const struct join *j = (const struct join *)cursor->pVtab;
	const struct ut_span_row *row = &c->rows.items[c->at];
	size_t at = (size_t)i - 2 - (j->partition != NULL);
	int k = at >= j->sides[0].count;

	if (i < 2) {
		sqlite3_result_int64(ctx, i ? row->dur : row->ts);
		return SQLITE_OK;
	}
	if (i == 2 && j->partition) {
		sqlite3_result_int64(ctx, c->partition);
		return SQLITE_OK;
	}
	at -= k ? j->sides[0].count : 0;
	if (row->from[k] != UT_SPAN_NONE)
		sqlite3_result_value(ctx, c->now[k].values[row->from[k] * c->now[k].columns + at]);
	return SQLITE_OK;
}

static int join_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *id)
{
	*id = ((struct cursor *)cursor)->row;
	return SQLITE_OK;
}

static const sqlite3_module module = {
	.iVersion = 1,
	.xCreate = join_connect,
	.xConnect = join_connect,
	.xBestIndex = join_best_index,
	.xDisconnect = join_disconnect,
	.xDestroy = join_disconnect,
	.xOpen = join_open,
	.xClose = join_close,
	.xFilter = join_filter,
	.xNext = join_next,
	.xEof = join_eof,
	.xColumn = join_column,
	.xRowid = join_rowid,
};

static void free_use(void *use)
{
	free(use);
}

int ut_span_join_add(sqlite3 *db, const struct ut_traces *t)
{
	int rc = SQLITE_OK;

	for (int kind = UT_SPAN_INNER; kind <= UT_SPAN_OUTER && rc == SQLITE_OK; kind++) {
		struct use *use = ut_make(sizeof(*use));

		*use = (struct use){ (enum ut_span_kind)kind, t };
		rc = sqlite3_create_module_v2(db, join_names[kind], &module, use, free_use);
	}
	return rc;
}
