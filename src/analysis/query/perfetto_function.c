/*
 * perfetto_function.c - functions that a query defines: CREATE PERFETTO FUNCTION.
 *
 * The body is a SELECT that SQLite has already accepted, with $name where arguments go. One that
 * returns a value becomes an SQL function; one that returns a table becomes a table with hidden
 * columns for its arguments.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/grow.h"
#include "query/guard.h"
#include "query/perfetto_parts.h"
#include "query/sql.h"
#include "query/token.h"

#define MOST_DEPTH 200u /* functions that call each other, or themselves */

struct ut_pf_function {
	struct ut_perfetto *p;
	char *name, *body;
	char **parameters; /* "$a", as SQLite calls them */
	char **columns;    /* what it returns; none = one value */
	size_t parameter_count, column_count;
	bool is_table;
	sqlite3_stmt *stmt; /* of a value: kept for the next call; NULL = none, or in use */
	struct ut_pf_function *next;
};

/* ---- making and ending --------------------------------------------------------------------- */

static char **copy_list(const struct ut_pf_names *names, const char *before)
{
	char **list = ut_make((names->count + 1) * sizeof(*list));
	size_t extra = strlen(before);

	for (size_t i = 0; i < names->count; i++) {
		size_t len = strlen(names->items[i]);

		list[i] = ut_make(extra + len + 1);
		memcpy(list[i], before, extra);
		memcpy(list[i] + extra, names->items[i], len + 1);
	}
	return list;
}

static struct ut_pf_function *new_function(struct ut_perfetto *p, const struct ut_pf_definition *d)
{
	struct ut_pf_function *f = ut_make(sizeof(*f));

	*f = (struct ut_pf_function){ .p = p,
				      .name = strdup(d->name),
				      .body = strdup(d->body),
				      .parameters = copy_list(&d->parameters, "$"),
				      .columns = copy_list(&d->columns, ""),
				      .parameter_count = d->parameters.count,
				      .column_count = d->columns.count,
				      .is_table = d->is_table };
	return f;
}

static void unlink_function(struct ut_pf_function *f)
{
	for (struct ut_pf_function **at = &f->p->functions; *at; at = &(*at)->next) {
		if (*at == f) {
			*at = f->next;
			return;
		}
	}
}

/* SQLite calls it when nobody uses the function any more. */
static void destroy(void *function)
{
	struct ut_pf_function *f = function;

	if (f->p)
		unlink_function(f);
	sqlite3_finalize(f->stmt);
	for (size_t i = 0; i < f->parameter_count; i++)
		free(f->parameters[i]);
	for (size_t i = 0; i < f->column_count; i++)
		free(f->columns[i]);
	free(f->parameters);
	free(f->columns);
	free(f->name);
	free(f->body);
	free(f);
}

void ut_pf_function_end(struct ut_perfetto *p)
{
	for (struct ut_pf_function *f = p->functions; f; f = f->next) {
		sqlite3_finalize(f->stmt);
		f->stmt = NULL;
		f->p = NULL; /* SQLite will let go of f later than we of p */
	}
}

static struct ut_pf_function *perfetto_function_find(const struct ut_perfetto *p, const char *name)
{
	struct ut_pf_function *f = p->functions;

	while (f && strcasecmp(f->name, name) != 0)
		f = f->next;
	return f;
}

/* ---- running the body ---------------------------------------------------------------------- */

static int bind(sqlite3_stmt *stmt, const struct ut_pf_function *f, int argc, sqlite3_value **argv)
{
	int rc = SQLITE_OK;

	for (int i = 0; i < argc && (size_t)i < f->parameter_count && rc == SQLITE_OK; i++) {
		int at = sqlite3_bind_parameter_index(stmt, f->parameters[i]);

		if (at)
			rc = sqlite3_bind_value(stmt, at, argv[i]);
	}
	return rc;
}

/* A step with a bound on how deep functions call each other. */
static int perfetto_function_step(struct ut_perfetto *p, sqlite3_stmt *stmt)
{
	int rc;

	if (p->depth >= MOST_DEPTH)
		return SQLITE_TOOBIG;
	p->depth++;
	rc = sqlite3_step(stmt);
	p->depth--;
	return rc;
}

/* "name(): what is wrong"; only the innermost of several functions puts its name there. */
static char *perfetto_function_reason(const struct ut_pf_function *f, int rc)
{
	const char *message = sqlite3_errmsg(f->p->db);

	if (rc == SQLITE_TOOBIG)
		return sqlite3_mprintf("%s(): calls itself too often", f->name);
	return strstr(message, "(): ") ? sqlite3_mprintf("%s", message)
				       : sqlite3_mprintf("%s(): %s", f->name, message);
}

static void perfetto_function_complain(sqlite3_context *ctx, const struct ut_pf_function *f, int rc)
{
	char *message;

	if (rc == SQLITE_INTERRUPT) {
		sqlite3_result_error_code(ctx, rc);
		return;
	}
	message =
		sqlite3_errcode(f->p->db) == SQLITE_NOMEM ? NULL : perfetto_function_reason(f, rc);
	if (message)
		sqlite3_result_error(ctx, message, -1);
	else
		sqlite3_result_error_nomem(ctx);
	sqlite3_free(message);
}

static void result(sqlite3_context *ctx, struct ut_pf_function *f, sqlite3_stmt *stmt)
{
	sqlite3_value *value;
	int rc = perfetto_function_step(f->p, stmt);

	if (rc == SQLITE_DONE)
		return; /* no row: NULL */
	if (rc != SQLITE_ROW) {
		perfetto_function_complain(ctx, f, rc);
		return;
	}
	value = sqlite3_value_dup(sqlite3_column_value(stmt, 0));
	rc = perfetto_function_step(f->p, stmt);
	if (rc == SQLITE_ROW)
		sqlite3_result_error(ctx, "a function's SELECT has more than one row", -1);
	else if (rc != SQLITE_DONE)
		perfetto_function_complain(ctx, f, rc);
	else if (!value)
		sqlite3_result_error_nomem(ctx);
	else
		sqlite3_result_value(ctx, value);
	sqlite3_value_free(value);
}

static void perfetto_function_call(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	struct ut_pf_function *f = sqlite3_user_data(ctx);
	sqlite3_stmt *stmt = f->stmt;

	f->stmt = NULL; /* it may call itself */
	if (!stmt && sqlite3_prepare_v2(f->p->db, f->body, -1, &stmt, NULL) != SQLITE_OK) {
		perfetto_function_complain(ctx, f, SQLITE_ERROR);
		return;
	}
	if (bind(stmt, f, argc, argv) == SQLITE_OK)
		result(ctx, f, stmt);
	sqlite3_reset(stmt);
	sqlite3_clear_bindings(stmt);
	if (f->stmt)
		sqlite3_finalize(stmt);
	else
		f->stmt = stmt;
}

/* ---- tables -------------------------------------------------------------------------------- */

struct table {
	sqlite3_vtab base; /* first */
	struct ut_pf_function *function;
};

struct cursor {
	sqlite3_vtab_cursor base; /* first */
	sqlite3_stmt *stmt;
	sqlite3_int64 row;
	bool end;
	int *places; /* of the columns in the SELECT */
};

static int table_connect(sqlite3 *db, void *function, int argc, const char *const *argv,
			 sqlite3_vtab **vtab, char **err)
{
	struct ut_pf_function *f = function;
	struct ut_buf sql = { 0 };
	struct table *t;
	int rc;

	(void)argc;
	(void)argv;
	(void)err;
	ut_buf_text(&sql, "CREATE TABLE x(");
	for (size_t i = 0; i < f->column_count; i++) {
		ut_buf_text(&sql, i ? ", " : "");
		ut_token_put_name(&sql, f->columns[i]);
	}
	for (size_t i = 0; i < f->parameter_count; i++) {
		ut_buf_text(&sql, ", ");
		ut_token_put_name(&sql, f->parameters[i]);
		ut_buf_text(&sql, " HIDDEN");
	}
	ut_buf_text(&sql, ")");
	rc = sqlite3_declare_vtab(db, sql.data);
	ut_buf_release(&sql);
	if (rc != SQLITE_OK)
		return rc;
	t = ut_make(sizeof(*t));
	t->function = f;
	*vtab = &t->base;
	return SQLITE_OK;
}

static int table_disconnect(sqlite3_vtab *vtab)
{
	free(vtab);
	return SQLITE_OK;
}

/* All arguments must be known: a plan without one of them is none. */
static int table_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	const struct ut_pf_function *f = ((struct table *)vtab)->function;
	size_t found = 0;

	for (int i = 0; i < info->nConstraint; i++) {
		int parameter = info->aConstraint[i].iColumn - (int)f->column_count;

		if (parameter < 0 || info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ)
			continue;
		if (!info->aConstraint[i].usable)
			return SQLITE_CONSTRAINT;
		info->aConstraintUsage[i].argvIndex = parameter + 1;
		info->aConstraintUsage[i].omit = 1;
		found++;
	}
	if (found != f->parameter_count) {
		sqlite3_free(vtab->zErrMsg);
		vtab->zErrMsg = sqlite3_mprintf("%s() takes %d arguments, not %d", f->name,
						(int)f->parameter_count, (int)found);
		return SQLITE_ERROR;
	}
	info->estimatedRows = 100;
	info->estimatedCost = 1000;
	return SQLITE_OK;
}

static int table_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **cursor)
{
	const struct ut_pf_function *f = ((struct table *)vtab)->function;
	struct cursor *c = ut_make(sizeof(*c));

	c->places = ut_make((f->column_count + 1) * sizeof(*c->places));
	*cursor = &c->base;
	return SQLITE_OK;
}

static int table_close(sqlite3_vtab_cursor *cursor)
{
	struct cursor *c = (struct cursor *)cursor;

	sqlite3_finalize(c->stmt);
	free(c->places);
	free(c);
	return SQLITE_OK;
}

static int table_next(sqlite3_vtab_cursor *cursor)
{
	struct cursor *c = (struct cursor *)cursor;
	const struct ut_pf_function *f = ((struct table *)cursor->pVtab)->function;
	int rc = perfetto_function_step(f->p, c->stmt);

	c->row++;
	c->end = rc != SQLITE_ROW;
	if (rc == SQLITE_ROW || rc == SQLITE_DONE)
		return SQLITE_OK;
	if (rc != SQLITE_INTERRUPT) {
		sqlite3_free(cursor->pVtab->zErrMsg);
		cursor->pVtab->zErrMsg = perfetto_function_reason(f, rc);
		rc = SQLITE_ERROR;
	}
	return rc;
}

static void find_places(struct cursor *c, const struct ut_pf_function *f)
{
	for (size_t i = 0; i < f->column_count; i++) {
		c->places[i] = -1;
		for (int k = 0; k < sqlite3_column_count(c->stmt); k++) {
			if (!sqlite3_stricmp(sqlite3_column_name(c->stmt, k), f->columns[i]))
				c->places[i] = k;
		}
	}
}

static int table_filter(sqlite3_vtab_cursor *cursor, int plan, const char *text, int argc,
			sqlite3_value **argv)
{
	struct cursor *c = (struct cursor *)cursor;
	const struct ut_pf_function *f = ((struct table *)cursor->pVtab)->function;
	int rc;

	(void)plan;
	(void)text;
	if (c->stmt) {
		sqlite3_reset(c->stmt);
	} else {
		rc = sqlite3_prepare_v2(f->p->db, f->body, -1, &c->stmt, NULL);
		if (rc != SQLITE_OK)
			return rc;
		find_places(c, f);
	}
	rc = bind(c->stmt, f, argc, argv);
	return rc == SQLITE_OK ? table_next(cursor) : rc;
}

static int table_eof(sqlite3_vtab_cursor *cursor)
{
	return ((struct cursor *)cursor)->end;
}

static int table_column(sqlite3_vtab_cursor *cursor, sqlite3_context *ctx, int i)
{
	const struct cursor *c = (const struct cursor *)cursor;
	const struct ut_pf_function *f = ((struct table *)cursor->pVtab)->function;

	if ((size_t)i < f->column_count && c->places[i] >= 0)
		sqlite3_result_value(ctx, sqlite3_column_value(c->stmt, c->places[i]));
	return SQLITE_OK;
}

static int table_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *id)
{
	*id = ((struct cursor *)cursor)->row;
	return SQLITE_OK;
}

static const sqlite3_module table_module = {
	.iVersion = 1,
	.xConnect = table_connect,
	.xBestIndex = table_best_index,
	.xDisconnect = table_disconnect,
	.xOpen = table_open,
	.xClose = table_close,
	.xFilter = table_filter,
	.xNext = table_next,
	.xEof = table_eof,
	.xColumn = table_column,
	.xRowid = table_rowid,
};

/* ---- defining ------------------------------------------------------------------------------ */

static void perfetto_function_drop(struct ut_pf_function *f)
{
	sqlite3 *db = f->p->db;
	char *name = strdup(f->name);
	int count = (int)f->parameter_count;

	unlink_function(f);
	if (f->is_table)
		sqlite3_create_module_v2(db, name, NULL, NULL, NULL);
	else
		sqlite3_create_function_v2(db, name, count, SQLITE_UTF8, NULL, NULL, NULL, NULL,
					   NULL);
	free(name);
}

void ut_pf_function_drop(struct ut_perfetto *p, const char *name)
{
	struct ut_pf_function *f = perfetto_function_find(p, name);

	if (f)
		perfetto_function_drop(f);
}

void ut_pf_function_change(struct ut_perfetto *p, const char *name, const char *body)
{
	struct ut_pf_function *f = perfetto_function_find(p, name);

	if (!f)
		return;
	free(f->body);
	f->body = strdup(body);
}

/* Would a table of ours be gone? */
static bool perfetto_function_is_ours(const char *name)
{
	for (size_t i = 0; ut_sql_tables[i]; i++) {
		if (!strcasecmp(ut_sql_tables[i]->name, name))
			return true;
	}
	return false;
}

int ut_pf_function_define(struct ut_perfetto *p, const struct ut_pf_definition *d,
			  struct ut_err *err)
{
	struct ut_pf_function *f = perfetto_function_find(p, d->name);
	int rc;

	if (f && !d->replace)
		return ut_err_set(err, -EINVAL,
				  "function %s already exists; CREATE OR REPLACE PERFETTO FUNCTION "
				  "replaces it",
				  d->name);
	if (!ut_guard_may_call(p->guard, d->name))
		return ut_err_set(err, -EINVAL, "%s is already a function of SQLite", d->name);
	if (d->is_table && perfetto_function_is_ours(d->name))
		return ut_err_set(err, -EINVAL, "%s is already a table", d->name);
	if (f)
		perfetto_function_drop(f);
	f = new_function(p, d);
	f->next = p->functions;
	p->functions = f;
	if (f->is_table)
		rc = sqlite3_create_module_v2(p->db, f->name, &table_module, f, destroy);
	else
		rc = sqlite3_create_function_v2(p->db, f->name, (int)f->parameter_count,
						SQLITE_UTF8, f, perfetto_function_call, NULL, NULL,
						destroy);
	return rc == SQLITE_OK ? 0
			       : ut_err_set(err, -EINVAL, "function %s cannot be made: %s", d->name,
					    sqlite3_errmsg(p->db));
}
