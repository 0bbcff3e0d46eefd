#include "query/query.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/str.h"
#include "query/arg.h"
#include "query/complain.h"
#include "query/function.h"
#include "query/guard.h"
#include "query/perfetto.h"
#include "query/span_join.h"

struct ut_query {
	struct ut_guard guard;
	sqlite3 *db; /* its own */
	struct ut_perfetto *perfetto;
	struct ut_traces traces;
	struct ut_sql_use *uses; /* one per table */
	bool ready;
	struct ut_value *values;
	size_t value_cap;
	const char **names;
	size_t name_cap;
};

/* ---- open and close ------------------------------------------------------------------------ */

static int make_tables(struct ut_query *q)
{
	struct ut_buf sql = { 0 };
	size_t count = 0;
	int rc = SQLITE_OK;

	while (ut_sql_tables[count])
		count++;
	q->uses = ut_make(count * sizeof(*q->uses));
	for (size_t i = 0; i < count && rc == SQLITE_OK; i++) {
		const struct ut_sql_table *t = ut_sql_tables[i];

		q->uses[i] = (struct ut_sql_use){ .table = t, .traces = &q->traces };
		sql.len = 0;
		if (t->module) {
			rc = sqlite3_create_module(q->db, t->name, t->module, &q->uses[i]);
		} else {
			ut_buf_fmt(&sql, "CREATE VIEW %s AS %s", t->name, t->view);
			rc = sqlite3_exec(q->db, sql.data, NULL, NULL, NULL);
		}
	}
	ut_buf_release(&sql);
	return rc;
}

int ut_query_open(struct ut_query **out, unsigned int threads, struct ut_err *err)
{
	struct ut_query *q = ut_make(sizeof(*q));
	int rc;

	*out = NULL;
	ut_traces_init(&q->traces);
	q->traces.threads = threads;
	rc = ut_guard_open(&q->guard);
	q->db = q->guard.db;
	if (rc == SQLITE_OK)
		rc = ut_sql_functions_add(q->db, &q->traces);
	if (rc == SQLITE_OK)
		rc = ut_arg_key_collation_add(q->db);
	if (rc == SQLITE_OK)
		rc = ut_span_join_add(q->db, &q->traces);
	if (rc == SQLITE_OK)
		rc = make_tables(q);
	if (rc == SQLITE_OK)
		rc = ut_perfetto_make_views(q->db);
	if (rc != SQLITE_OK) {
		ut_err_set(err, -ENOMEM, "SQLite: %s", sqlite3_errmsg(q->db));
		ut_query_close(q);
		return -ENOMEM;
	}
	ut_guard_lock(&q->guard);
	q->perfetto = ut_perfetto_new(&q->guard);
	*out = q;
	return 0;
}

void ut_query_close(struct ut_query *q)
{
	if (!q)
		return;
	ut_perfetto_free(q->perfetto);
	ut_guard_close(&q->guard);
	ut_traces_release(&q->traces);
	free(q->uses);
	free(q->values);
	free(q->names);
	free(q);
}

void ut_query_add(struct ut_query *q, const char *path, struct ut_store *store)
{
	ut_traces_add(&q->traces, path, store);
}

/* ---- running ------------------------------------------------------------------------------- */

static void query_begin(struct ut_query *q, sqlite3_stmt *stmt, const struct ut_result *result)
{
	size_t columns = (size_t)sqlite3_column_count(stmt);

	q->names = ut_grow(q->names, columns, &q->name_cap, sizeof(*q->names));
	q->values = ut_grow(q->values, columns, &q->value_cap, sizeof(*q->values));
	for (size_t i = 0; i < columns; i++)
		q->names[i] = sqlite3_column_name(stmt, (int)i);
	result->begin(result->ctx, columns, q->names);
}

static struct ut_value value_at(sqlite3_stmt *stmt, int i)
{
	struct ut_value v = { 0 };

	switch (sqlite3_column_type(stmt, i)) {
	case SQLITE_INTEGER:
		v.type = UT_VALUE_INT;
		v.number = sqlite3_column_int64(stmt, i);
		break;
	case SQLITE_FLOAT:
		v.type = UT_VALUE_REAL;
		v.real = sqlite3_column_double(stmt, i);
		break;
	case SQLITE_TEXT:
		v.type = UT_VALUE_TEXT;
		v.text = (const char *)sqlite3_column_text(stmt, i);
		v.len = (size_t)sqlite3_column_bytes(stmt, i);
		break;
	case SQLITE_BLOB:
		v.type = UT_VALUE_BLOB;
		v.text = sqlite3_column_blob(stmt, i);
		v.len = (size_t)sqlite3_column_bytes(stmt, i);
		break;
	default:
		break;
	}
	return v;
}

/* 0, or what result->row() wants to be returned; *ok says what SQLite thinks. */
static int run_statement(struct ut_query *q, sqlite3_stmt *stmt, const struct ut_result *result,
			 bool *ok)
{
	int columns = sqlite3_column_count(stmt), rc = 0, step;

	*ok = true;
	if (columns)
		query_begin(q, stmt, result);
	while (!rc && (step = sqlite3_step(stmt)) != SQLITE_DONE) {
		*ok = step == SQLITE_ROW;
		if (!*ok)
			return 0;
		for (int i = 0; i < columns; i++)
			q->values[i] = value_at(stmt, i);
		rc = result->row(result->ctx, q->values);
	}
	if (columns && !rc)
		result->end(result->ctx);
	return rc;
}

/* What SQLite says about the statement at this place of the text, or that was made of it. */
static int query_complain(struct ut_query *q, const char *sql, const char *statement,
			  struct ut_err *err)
{
	int offset = statement ? sqlite3_error_offset(q->db) : -1;

	if (q->traces.stop || sqlite3_errcode(q->db) == SQLITE_INTERRUPT)
		return ut_err_set(err, -EINTR, "interrupted");
	if (q->guard.why)
		return ut_err_set(err, -EINVAL, "SQL: not allowed: %s", q->guard.why);
	if (sqlite3_errcode(q->db) == SQLITE_NOMEM)
		return ut_err_set(
			err, -EINVAL,
			"SQL: the query needs more than %zu MiB of memory; select less, or "
			"shorter texts",
			ut_guard_memory_limit() >> 20);
	if (sqlite3_errcode(q->db) == SQLITE_FULL)
		return ut_err_set(
			err, -EINVAL,
			"SQL: temporary data of the query would exceed %zu MiB; select or sort "
			"less",
			ut_guard_temp_limit() >> 20);
	return ut_sql_complain(sql, offset < 0 ? -1 : (statement - sql) + offset,
			       sqlite3_errmsg(q->db), err);
}

/*
 * The first statement at *at, which is moved behind it. sql: all of the text, for the place of a
 * mistake; made: the statement was made of it and has no place there.
 */
static int run_next(struct ut_query *q, const char *sql, bool made, const char **at,
		    const struct ut_result *result, struct ut_err *err)
{
	sqlite3_stmt *stmt = NULL;
	const char *start = *at;
	bool ok = true;
	int rc = 0;

	if (ut_perfetto_prepare(q->db, start, &stmt, at) != SQLITE_OK)
		return query_complain(q, sql, made ? NULL : start, err);
	if (stmt) {
		rc = run_statement(q, stmt, result, &ok);
		if (!ok)
			rc = query_complain(q, sql, made ? NULL : start, err);
	}
	sqlite3_finalize(stmt);
	return rc;
}

static int read_statement(struct ut_query *q, const char *sql, const char **at, struct ut_buf *text,
			  struct ut_err *err)
{
	int rc = ut_perfetto_read(q->perfetto, sql, at, text, err);

	if (rc < 0 && (q->guard.why || q->traces.stop)) {
		*err = (struct ut_err){ 0 };
		return query_complain(q, sql, NULL, err);
	}
	return rc;
}

int ut_query_run(struct ut_query *q, const char *sql, const struct ut_result *result,
		 struct ut_err *err)
{
	struct ut_buf text = { 0 };
	const char *at = sql, *made;
	int rc = 0;

	if (!q->ready)
		ut_traces_ready(&q->traces);
	q->ready = true;
	q->traces.stop = 0;
	ut_guard_begin(&q->traces.stop);
	while (!rc && *at) {
		q->guard.why = NULL;
		if (q->traces.stop)
			rc = ut_err_set(err, -EINTR, "interrupted");
		text.len = 0;
		rc = rc ? rc : read_statement(q, sql, &at, &text, err);
		if (rc == UT_PERFETTO_PLAIN) {
			rc = run_next(q, sql, false, &at, result, err);
		} else if (rc == UT_PERFETTO_TEXT) {
			rc = 0;
			for (made = text.data; !rc && *made;)
				rc = run_next(q, sql, true, &made, result, err);
		} else if (rc == UT_PERFETTO_DONE) {
			rc = 0;
		}
	}
	ut_guard_end();
	ut_buf_release(&text);
	ut_guard_shrink(&q->guard);
	return rc;
}

void ut_query_interrupt(struct ut_query *q)
{
	q->traces.stop = 1;
	sqlite3_interrupt(q->db);
}

bool ut_query_complete(const char *sql)
{
	return sqlite3_complete(sql);
}
