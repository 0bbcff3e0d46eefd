#include "query/perfetto.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "query/complain.h"
#include "query/guard.h"
#include "query/perfetto_parts.h"
#include "query/token.h"

struct ut_perfetto *ut_perfetto_new(const struct ut_guard *guard)
{
	struct ut_perfetto *p = ut_make(sizeof(*p));

	p->guard = guard;
	p->db = guard->db;
	return p;
}

void ut_perfetto_free(struct ut_perfetto *p)
{
	if (!p)
		return;
	ut_pf_function_end(p);
	for (struct ut_pf_macro *m = p->macros; m; m = m->next)
		free(m->parameters.items);
	ut_arena_release(&p->arena);
	free(p);
}

#define OURS "/* unitrace */" /* how views of ours are told from those of the user */

static int query_perfetto_make_view(sqlite3 *db, const char *prefix, const struct ut_pf_view *v,
				    bool empty)
{
	struct ut_buf sql = { 0 };
	int rc;

	ut_buf_fmt(&sql, "CREATE VIEW %s%s " OURS, prefix, v->name);
	if (empty) {
		ut_buf_fmt(&sql, " (%s) AS SELECT NULL", v->select);
		for (const char *s = strchr(v->select, ','); s; s = strchr(s + 1, ','))
			ut_buf_text(&sql, ", NULL");
		ut_buf_text(&sql, " WHERE 0");
	} else {
		ut_buf_fmt(&sql, " AS %s", v->select);
	}
	rc = sqlite3_exec(db, sql.data, NULL, NULL, NULL);
	ut_buf_release(&sql);
	return rc;
}

int ut_perfetto_make_views(sqlite3 *db)
{
	int rc = SQLITE_OK;

	for (const struct ut_pf_view *v = ut_pf_shapes; v->name && rc == SQLITE_OK; v++)
		rc = query_perfetto_make_view(db, UT_PF_SHAPE, v, false);
	for (const struct ut_pf_view *v = ut_pf_empty; v->name && rc == SQLITE_OK; v++)
		rc = query_perfetto_make_view(db, "", v, true);
	for (const struct ut_pf_view *v = ut_pf_views; v->name && rc == SQLITE_OK; v++)
		rc = query_perfetto_make_view(db, "", v, false);
	return rc;
}

/* ---- preparing ----------------------------------------------------------------------------- */

/* Can it be that Perfetto's tables have other columns? */
static bool is_about_columns(const char *message)
{
	return ut_str_starts(message, "ambiguous column name") ||
	       ut_str_starts(message, "ambiguous reference") ||
	       ut_str_starts(message, "no such column") ||
	       ut_str_starts(message, "cannot join using column");
}

static bool query_perfetto_is_ours(sqlite3 *db, const char *name)
{
	sqlite3_stmt *stmt = NULL;
	bool ours = false;

	if (sqlite3_prepare_v2(
		    db, "SELECT 1 FROM sqlite_master WHERE name = ?1 AND instr(sql, '" OURS "')",
		    -1, &stmt, NULL) == SQLITE_OK &&
	    sqlite3_bind_text(stmt, 1, name, -1, SQLITE_STATIC) == SQLITE_OK)
		ours = sqlite3_step(stmt) == SQLITE_ROW;
	sqlite3_finalize(stmt);
	return ours;
}

/*
 * "table stats already exists": names that only Perfetto's queries know are free for others. True
 * if it is worth a second try, also because SQLite's message is gone.
 */
static bool query_perfetto_make_room(sqlite3 *db, const char *message)
{
	static const char end[] = " already exists";
	const char *name = strchr(message, ' ');
	struct ut_buf view = { 0 }, sql = { 0 };

	if (!name || !ut_str_ends(message, end) || strlen(name) < strlen(end) + 1)
		return false;
	ut_buf_add(&view, name + 1, strlen(name + 1) - strlen(end));
	if (query_perfetto_is_ours(db, view.data)) {
		ut_buf_text(&sql, "DROP VIEW ");
		ut_token_put_name(&sql, view.data);
		sqlite3_exec(db, sql.data, NULL, NULL, NULL);
	}
	ut_buf_release(&view);
	ut_buf_release(&sql);
	return true;
}

int ut_perfetto_prepare(sqlite3 *db, const char *sql, sqlite3_stmt **stmt, const char **tail)
{
	const char *end, *unused;
	struct ut_buf text = { 0 };
	int rc = sqlite3_prepare_v2(db, sql, -1, stmt, tail);

	if (rc != SQLITE_OK && query_perfetto_make_room(db, sqlite3_errmsg(db)))
		rc = sqlite3_prepare_v2(db, sql, -1, stmt, tail);
	if (rc == SQLITE_OK || !is_about_columns(sqlite3_errmsg(db)))
		return rc;
	end = ut_token_end(sql);
	if (!ut_pf_narrow(sql, end, &text)) {
		ut_buf_release(&text);
		return rc;
	}
	rc = sqlite3_prepare_v2(db, text.data, -1, stmt, &unused);
	ut_buf_release(&text);
	if (rc == SQLITE_OK)
		*tail = *end ? end + 1 : end;
	else
		rc = sqlite3_prepare_v2(db, sql, -1, stmt, tail); /* for its message */
	return rc;
}

/* ---- reading ------------------------------------------------------------------------------- */

struct reader {
	struct ut_perfetto *p;
	const char *sql; /* all of it, for the places of mistakes */
	const char *at;  /* behind what was read */
	const char *end; /* of the statement */
	struct ut_buf *text;
	struct ut_err *err;
};

static int query_perfetto_fail(const struct reader *r, const char *where, const char *message)
{
	return ut_sql_complain(r->sql, where ? where - r->sql : -1, message, r->err);
}

/* What another file refused, with the place of the statement. */
static int pass_on(const struct reader *r, const char *where, int rc)
{
	char reason[sizeof(r->err->text)];

	if (!rc)
		return 0;
	memcpy(reason, r->err->text, sizeof(reason));
	*r->err = (struct ut_err){ 0 };
	return query_perfetto_fail(r, where, reason);
}

static int expected(const struct reader *r, const char *what)
{
	struct ut_buf message = { 0 };
	const char *at = r->at, *word;
	struct ut_token t = ut_token_skip(&at);
	int rc;

	word = t.text;
	if (t.type == UT_TOKEN_END || ut_token_is(&t, ";"))
		ut_buf_fmt(&message, "%s expected before the end", what);
	else
		ut_buf_fmt(&message, "%s expected instead of %.*s", what,
			   (int)(t.len < 40 ? t.len : 40), t.text);
	rc = query_perfetto_fail(r, word, message.data);
	ut_buf_release(&message);
	return rc;
}

static const char *copy_name(struct ut_perfetto *p, const struct ut_buf *name)
{
	return ut_arena_copy(&p->arena, name->data, name->len);
}

static int read_name(struct reader *r, const char *what, const char **name)
{
	struct ut_buf b = { 0 };
	bool ok = ut_token_name(&r->at, &b);

	if (ok)
		*name = copy_name(r->p, &b);
	ut_buf_release(&b);
	return ok ? 0 : expected(r, what);
}

/* Behind the bracket that closes the one before at, but never behind the statement. */
static const char *close_bracket(const struct reader *r, const char *at)
{
	const char *close = ut_token_close(at);

	return close < r->end ? close : r->end;
}

/* A type: LONG, STRING, JOINID(slice.id), Expr, ... They say nothing to SQLite. */
static void skip_type(struct reader *r)
{
	for (;;) {
		const char *next = r->at;
		struct ut_token t = ut_token_skip(&next);

		if (t.type == UT_TOKEN_END || ut_token_is(&t, ",") || ut_token_is(&t, ")") ||
		    ut_token_is(&t, ";"))
			return;
		r->at = ut_token_is(&t, "(") ? close_bracket(r, next) : next;
	}
}

/* "(a INT, b STRING)" */
static int query_perfetto_read_list(struct reader *r, struct ut_pf_names *names)
{
	const char *name;
	int rc = 0;

	if (!ut_token_take(&r->at, "("))
		return expected(r, "(");
	if (ut_token_take(&r->at, ")"))
		return 0;
	do {
		rc = read_name(r, "a name", &name);
		if (rc)
			return rc;
		names->items =
			ut_grow(names->items, names->count + 1, &names->cap, sizeof(*names->items));
		names->items[names->count++] = name;
		skip_type(r);
	} while (ut_token_take(&r->at, ","));
	return ut_token_take(&r->at, ")") ? 0 : expected(r, ")");
}

static bool has_list(const struct reader *r)
{
	const char *at = r->at;

	return ut_token_take(&at, "(");
}

/* The rest of the statement behind AS, with its macros replaced. */
static int read_body(struct reader *r, const char **body)
{
	struct ut_buf text = { 0 };
	const char *start;
	char *raw;
	int rc;

	if (!ut_token_take(&r->at, "AS"))
		return expected(r, "AS");
	start = r->at;
	raw = ut_arena_copy(&r->p->arena, start, (size_t)(r->end - start));
	rc = pass_on(r, start, ut_pf_macro_expand(r->p, raw, &text, r->err));
	if (!rc)
		*body = ut_arena_copy(&r->p->arena, text.data, text.len);
	ut_buf_release(&text);
	return rc;
}

/* ---- SELECTs in definitions ---------------------------------------------------------------- */

static bool has_column(sqlite3_stmt *stmt, const char *name)
{
	for (int i = 0; i < sqlite3_column_count(stmt); i++) {
		if (!sqlite3_stricmp(sqlite3_column_name(stmt, i), name))
			return true;
	}
	return false;
}

static int check_columns(const struct reader *r, sqlite3_stmt *stmt, const struct ut_pf_names *want)
{
	struct ut_buf message = { 0 };
	int rc = 0;

	for (size_t i = 0; i < want->count && !rc; i++) {
		if (has_column(stmt, want->items[i]))
			continue;
		ut_buf_fmt(&message, "the SELECT has no column %s, which is in the list before it",
			   want->items[i]);
		rc = query_perfetto_fail(r, r->at, message.data);
	}
	ut_buf_release(&message);
	return rc;
}

/*
 * A statement that only reads, in the text that SQLite accepts: *body may get Perfetto's tables.
 * It must have the wanted columns.
 */
static int check_select(const struct reader *r, const char **body, const struct ut_pf_names *want)
{
	sqlite3_stmt *stmt = NULL;
	const char *tail = *body;
	int rc = 0;

	if (ut_perfetto_prepare(r->p->db, *body, &stmt, &tail) != SQLITE_OK)
		return query_perfetto_fail(r, NULL, sqlite3_errmsg(r->p->db));
	if (!stmt || !sqlite3_stmt_readonly(stmt) || !sqlite3_column_count(stmt) ||
	    sqlite3_stmt_isexplain(stmt))
		rc = query_perfetto_fail(r, r->at, "a SELECT expected behind AS");
	else
		rc = check_columns(r, stmt, want);
	if (!rc)
		*body = ut_arena_copy(&r->p->arena, sqlite3_sql(stmt), strlen(sqlite3_sql(stmt)));
	sqlite3_finalize(stmt);
	return rc;
}

/* CREATE PERFETTO TABLE or VIEW: SQLite's own, made of a SELECT. */
static int make_stored(struct reader *r, const char *what, bool replace)
{
	struct ut_pf_names columns = { 0 };
	const char *name = NULL, *body = NULL;
	int rc = read_name(r, "a name", &name);

	if (!rc && has_list(r))
		rc = query_perfetto_read_list(r, &columns);
	rc = rc ? rc : read_body(r, &body);
	rc = rc ? rc : check_select(r, &body, &columns);
	if (!rc) {
		if (replace) {
			ut_buf_fmt(r->text, "DROP %s IF EXISTS ", what);
			ut_token_put_name(r->text, name);
			ut_buf_char(r->text, ';');
		}
		ut_buf_fmt(r->text, "CREATE %s ", what);
		ut_token_put_name(r->text, name);
		ut_buf_fmt(r->text, " AS %s", body);
	}
	free(columns.items);
	return rc ? rc : UT_PERFETTO_TEXT;
}

static int make_macro(struct reader *r, bool replace)
{
	struct ut_pf_definition d = { .replace = replace };
	const char *type, *start;
	int rc = read_name(r, "a name", &d.name);

	rc = rc ? rc : query_perfetto_read_list(r, &d.parameters);
	if (!rc && !ut_token_take(&r->at, "RETURNS"))
		rc = expected(r, "RETURNS");
	rc = rc ? rc : read_name(r, "a type", &type);
	if (!rc && !ut_token_take(&r->at, "AS"))
		rc = expected(r, "AS");
	if (!rc) {
		start = r->at;
		d.body = ut_arena_copy(&r->p->arena, start, (size_t)(r->end - start));
		rc = pass_on(r, start, ut_pf_macro_define(r->p, &d, r->err));
	}
	if (rc)
		free(d.parameters.items);
	return rc ? rc : UT_PERFETTO_DONE;
}

static int read_returns(struct reader *r, struct ut_pf_definition *d)
{
	const char *type;

	if (!ut_token_take(&r->at, "RETURNS"))
		return expected(r, "RETURNS");
	d->is_table = ut_token_take(&r->at, "TABLE");
	if (d->is_table)
		return query_perfetto_read_list(r, &d->columns);
	if (read_name(r, "a type", &type))
		return -EINVAL;
	if (has_list(r)) { /* JOINID(slice.id) */
		ut_token_take(&r->at, "(");
		r->at = close_bracket(r, r->at);
	}
	return 0;
}

/* A function may call itself, so it has to be there before its body is looked at. */
static int check_recursive(struct reader *r, struct ut_pf_definition *d)
{
	int rc = check_select(r, &d->body, &d->columns);

	if (rc)
		ut_pf_function_drop(r->p, d->name);
	else
		ut_pf_function_change(r->p, d->name, d->body);
	return rc;
}

static int make_function(struct reader *r, bool replace)
{
	struct ut_pf_definition d = { .replace = replace };
	const char *start = r->at;
	int rc = read_name(r, "a name", &d.name);

	rc = rc ? rc : query_perfetto_read_list(r, &d.parameters);
	rc = rc ? rc : read_returns(r, &d);
	rc = rc ? rc : read_body(r, &d.body);
	if (d.is_table)
		rc = rc ? rc : check_select(r, &d.body, &d.columns);
	rc = rc ? rc : pass_on(r, start, ut_pf_function_define(r->p, &d, r->err));
	if (!rc && !d.is_table)
		rc = check_recursive(r, &d);
	free(d.parameters.items);
	free(d.columns.items);
	return rc ? rc : UT_PERFETTO_DONE;
}

/* CREATE PERFETTO INDEX name ON table(columns) is SQLite's CREATE INDEX. */
static int make_index(struct reader *r, bool replace)
{
	struct ut_buf rest = { 0 };
	const char *name = NULL;
	int rc = read_name(r, "a name", &name);

	if (rc)
		return rc;
	ut_buf_add(&rest, r->at, (size_t)(r->end - r->at));
	if (replace) {
		ut_buf_text(r->text, "DROP INDEX IF EXISTS ");
		ut_token_put_name(r->text, name);
		ut_buf_char(r->text, ';');
	}
	ut_buf_text(r->text, "CREATE INDEX ");
	ut_token_put_name(r->text, name);
	ut_buf_fmt(r->text, " %s", rest.data);
	ut_buf_release(&rest);
	return UT_PERFETTO_TEXT;
}

static int drop_index(struct reader *r)
{
	const char *name = NULL;
	int rc = read_name(r, "a name", &name);

	if (rc)
		return rc;
	ut_buf_text(r->text, "DROP INDEX ");
	ut_token_put_name(r->text, name);
	return UT_PERFETTO_TEXT;
}

static int include(struct reader *r)
{
	struct ut_buf name = { 0 };
	const char *start;
	struct ut_token t;
	int rc;

	if (!ut_token_take(&r->at, "MODULE"))
		return expected(r, "MODULE");
	start = r->at;
	while (r->at < r->end && (t = ut_token_next(&r->at)).type != UT_TOKEN_END) {
		if (t.type != UT_TOKEN_SPACE)
			ut_buf_add(&name, t.text, t.len);
	}
	if (name.len)
		rc = pass_on(r, start + strspn(start, " \t\r\n"), ut_pf_include(name.data, r->err));
	else
		rc = expected(r, "the name of a module");
	ut_buf_release(&name);
	return rc ? rc : UT_PERFETTO_DONE;
}

/* Behind CREATE [OR REPLACE] PERFETTO. */
static int create(struct reader *r, bool replace)
{
	if (ut_token_take(&r->at, "TABLE"))
		return make_stored(r, "TABLE", replace);
	if (ut_token_take(&r->at, "VIEW"))
		return make_stored(r, "VIEW", replace);
	if (ut_token_take(&r->at, "FUNCTION"))
		return make_function(r, replace);
	if (ut_token_take(&r->at, "MACRO"))
		return make_macro(r, replace);
	if (ut_token_take(&r->at, "INDEX"))
		return make_index(r, replace);
	return expected(r, "TABLE, VIEW, FUNCTION, MACRO or INDEX");
}

/*
 * SQLite's own CREATE VIEW: it looks at the SELECT only when the view is used, which is too late
 * to give it Perfetto's tables.
 */
static bool make_plain_view(struct reader *r, const char *start)
{
	struct ut_buf head = { 0 }, body = { 0 };
	sqlite3_stmt *stmt = NULL;
	const char *tail, *at = r->at;
	struct ut_token t;
	bool changed;

	do {
		t = ut_token_skip(&at);
		if (ut_token_is(&t, "("))
			at = close_bracket(r, at);
	} while (!ut_token_is(&t, "AS") && t.type != UT_TOKEN_END && !ut_token_is(&t, ";"));
	if (!ut_token_is(&t, "AS"))
		return false;
	ut_buf_add(&head, start, (size_t)(at - start));
	ut_buf_add(&body, at, (size_t)(r->end - at));
	changed = ut_perfetto_prepare(r->p->db, body.data, &stmt, &tail) == SQLITE_OK && stmt &&
		  strcmp(sqlite3_sql(stmt), body.data) != 0;
	if (changed)
		ut_buf_fmt(r->text, "%s %s", head.data, sqlite3_sql(stmt));
	sqlite3_finalize(stmt);
	ut_buf_release(&head);
	ut_buf_release(&body);
	return changed;
}

static bool is_plain_view(struct reader *r)
{
	if (!ut_token_take(&r->at, "TEMP"))
		ut_token_take(&r->at, "TEMPORARY");
	return ut_token_take(&r->at, "VIEW");
}

/* A statement that calls macros, and is SQLite's but for that. */
static int expand(struct reader *r, const char *start)
{
	char *raw = ut_arena_copy(&r->p->arena, start, (size_t)(r->end - start));
	int rc = pass_on(r, start, ut_pf_macro_expand(r->p, raw, r->text, r->err));

	return rc ? rc : UT_PERFETTO_TEXT;
}

static int read_statement(struct reader *r)
{
	const char *start = r->at;
	bool replace = false;

	if (ut_token_take(&r->at, "INCLUDE") && ut_token_take(&r->at, "PERFETTO"))
		return include(r);
	r->at = start;
	if (ut_token_take(&r->at, "DROP") && ut_token_take(&r->at, "PERFETTO"))
		return ut_token_take(&r->at, "INDEX") ? drop_index(r) : expected(r, "INDEX");
	r->at = start;
	if (ut_token_take(&r->at, "CREATE")) {
		replace = ut_token_take(&r->at, "OR") && ut_token_take(&r->at, "REPLACE");
		if (ut_token_take(&r->at, "PERFETTO"))
			return create(r, replace);
	}
	if (ut_pf_macro_used(start, r->end))
		return expand(r, start);
	if (!replace && r->at != start && is_plain_view(r) && make_plain_view(r, start))
		return UT_PERFETTO_TEXT;
	return UT_PERFETTO_PLAIN;
}

int ut_perfetto_read(struct ut_perfetto *p, const char *sql, const char **at, struct ut_buf *text,
		     struct ut_err *err)
{
	struct reader r = { p, sql, *at, ut_token_end(*at), text, err };
	int rc = read_statement(&r);

	if (rc != UT_PERFETTO_PLAIN)
		*at = *r.end ? r.end + 1 : r.end;
	return rc;
}
