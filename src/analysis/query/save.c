#include "query/save.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "query/arg.h"
#include "query/list.h"
#include "query/sql.h"

/* ---- strings ------------------------------------------------------------------------------- */

static uint64_t count_strings(const struct ut_traces *t)
{
	return (uint64_t)t->traces[0].store->trace.strings.count + 1;
}

static bool is_string(const struct ut_traces *t, uint64_t row)
{
	(void)t;
	return row > 0; /* 0 is no string */
}

static void string_column(sqlite3_context *ctx, const struct ut_traces *t, uint64_t row, int what)
{
	struct ut_str s = ut_strtab_get(&t->traces[0].store->trace.strings, (uint32_t)row);

	(void)what;
	ut_sql_result_text(ctx, s);
}

static const struct ut_sql_list string_list = { count_strings, is_string, string_column };

static const struct ut_sql_column string_columns[] = {
	{ "id", "INTEGER", "", UT_SQL_LIST_KEY, false },
	{ "text", "TEXT", "", UT_SQL_LIST_MORE, false },
	{ 0 },
};

static const struct ut_sql_table string_table = {
	.name = "string",
	.columns = string_columns,
	.module = &ut_sql_list_module,
	.list = &string_list,
};

/* ---- what is stored ------------------------------------------------------------------------ */

/* Read from, under names that do not stand in the way of what is made of them. */
#define PREFIX "unitrace_"

static const struct ut_sql_table *const sources[] = {
	&string_table,  &ut_sql_slice,    &ut_sql_instant,  &ut_sql_counter,
	&ut_sql_args,   &ut_sql_flow,     &ut_sql_thread,   &ut_sql_process,
	&ut_sql_track,  &ut_sql_trace,    &ut_sql_metadata, &ut_sql_slice_stats,
	&ut_sql_sample, &ut_sql_callsite, &ut_sql_frame,    &ut_sql_device_work,
};

#define SOURCES (sizeof(sources) / sizeof(sources[0]))

static const char settings[] = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
			       "PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -65536;"
			       "PRAGMA user_version = 1; BEGIN";

static const char rows[] =
	"CREATE TABLE string(id INTEGER PRIMARY KEY, text TEXT NOT NULL);"
	"INSERT INTO string SELECT id, text FROM unitrace_string;"
	"CREATE TABLE slice_row(id INTEGER PRIMARY KEY, ts INTEGER, dur INTEGER, self_dur INTEGER,"
	" name_id INTEGER, cat_id INTEGER, depth INTEGER, parent_id INTEGER, track_id INTEGER,"
	" unfinished INTEGER, async INTEGER, not_work INTEGER, instant INTEGER,"
	" arg_set_id INTEGER);"
	"INSERT INTO slice_row SELECT id, ts, dur, self_dur, name_id, cat_id, depth, parent_id,"
	" track_id, unfinished, async, not_work, instant, arg_set_id FROM unitrace_slice;"
	"CREATE TABLE instant_row(id INTEGER PRIMARY KEY, ts INTEGER, name_id INTEGER,"
	" cat_id INTEGER, parent_id INTEGER, scope TEXT, track_id INTEGER, arg_set_id INTEGER);"
	"INSERT INTO instant_row SELECT id, ts, name_id, cat_id, parent_id, scope, track_id,"
	" arg_set_id FROM unitrace_instant;"
	"CREATE TABLE sample_row(id INTEGER PRIMARY KEY, ts INTEGER, weight, callsite_id INTEGER,"
	" weight_unit TEXT, name_id INTEGER, cat_id INTEGER, track_id INTEGER, arg_set_id INTEGER);"
	"INSERT INTO sample_row SELECT id, ts, weight, callsite_id, weight_unit, name_id, cat_id,"
	" track_id, arg_set_id FROM unitrace_sample;"
	"CREATE TABLE counter_row(id INTEGER PRIMARY KEY, ts INTEGER, value, name_id INTEGER,"
	" cat_id INTEGER, track_id INTEGER, arg_set_id INTEGER);"
	"INSERT INTO counter_row SELECT id, ts, value, name_id, cat_id, track_id, arg_set_id"
	" FROM unitrace_counter;"
	"CREATE TABLE arg_row(arg_set_id INTEGER, event_id INTEGER, key_id INTEGER,"
	" element INTEGER, value_type TEXT, value, pointer, json TEXT);"
	"INSERT INTO arg_row SELECT arg_set_id, event_id, key_id, element, value_type, value,"
	" CASE value_type WHEN 'pointer' THEN int_value END,"
	" CASE value_type WHEN 'json' THEN json END FROM unitrace_args;";

static const char indices[] = "CREATE INDEX string_text ON string(text);"
			      "CREATE INDEX slice_ts ON slice_row(ts);"
			      "CREATE INDEX slice_name ON slice_row(name_id);"
			      "CREATE INDEX slice_track ON slice_row(track_id, ts);"
			      "CREATE INDEX slice_parent ON slice_row(parent_id);"
			      "CREATE INDEX counter_track_ts ON counter_row(track_id, ts);"
			      "CREATE INDEX arg_set ON arg_row(arg_set_id);"
			      "CREATE INDEX flow_out ON flow(slice_out);"
			      "CREATE INDEX flow_in ON flow(slice_in);"
			      "ANALYZE; COMMIT";

static const char args_view[] =
	"CREATE VIEW arg_in_order AS SELECT a.rowid AS n, a.arg_set_id AS arg_set_id, a.event_id "
	"AS event_id,"
	" CASE WHEN a.element IS NULL THEN s.text"
	" ELSE coalesce(s.text, '') || '[' || a.element || ']' END AS key,"
	" s.text AS flat_key, a.value_type AS value_type, a.value AS value,"
	" CASE WHEN a.value_type IN ('string', 'pointer', 'json') THEN a.value END AS string_value,"
	" CASE WHEN a.value_type IN ('uint', 'int', 'bool') THEN a.value ELSE a.pointer END"
	" AS int_value,"
	" CASE WHEN a.value_type = 'real' THEN a.value END AS real_value,"
	" CASE a.value_type WHEN 'json' THEN a.json WHEN 'uint' THEN CAST(a.value AS TEXT)"
	" WHEN 'bool' THEN CASE a.value WHEN 0 THEN 'false' ELSE 'true' END"
	" WHEN 'real' THEN iif(a.value IS NULL, 'null', printf('%!.17g', a.value))" /* json_quote()
										       cuts off
										       after 15
										       digits */
	" ELSE json_quote(a.value) END AS json"
	" FROM arg_row a LEFT JOIN string s ON s.id = a.key_id;"
	"CREATE VIEW args AS SELECT arg_set_id, event_id, key, flat_key, value_type, value,"
	" string_value, int_value, real_value, json FROM arg_in_order";

/*
 * Columns of views that are not simply in the row. A query pays only for those that it uses; a join
 * would be paid for always. The name is joined all the same, so that it is found by its index.
 */
#define OF_TRACK(column)  "(SELECT " column " FROM track WHERE id = r.track_id)"
#define OF_THREAD(column) "(SELECT " column " FROM track WHERE id = r.track_id AND utid NOT NULL)"
#define OF_PROCESS(column)                                                                         \
	"(SELECT process." column " FROM track JOIN process USING (upid)"                          \
	" WHERE track.id = r.track_id)"

static const struct {
	const char *name, *expression;
} columns[] = {
	{ "end", "r.ts + r.dur" },
	{ "name", "n.text" },
	{ "cat", "(SELECT text FROM string WHERE id = r.cat_id)" },
	{ "utid", OF_TRACK("utid") },
	{ "tid", OF_THREAD("number") },
	{ "upid", OF_TRACK("upid") },
	{ "pid", OF_PROCESS("pid") },
	{ "track_name", OF_TRACK("name") },
	{ "thread_name", OF_THREAD("name") },
	{ "process_name", OF_PROCESS("name") },
	{ "rank", OF_PROCESS("rank") },
	{ "trace", OF_TRACK("trace") },
	{ "unit", OF_TRACK("unit") },
	/* an object; the elements of an array are rows of their own and come together first */
	{ "args",
	  "CASE WHEN r.arg_set_id NOT NULL THEN (SELECT json_group_object(coalesce(flat_key, ''),"
	  " json(j)) FROM (SELECT flat_key, CASE WHEN key IS flat_key THEN json"
	  " ELSE json_group_array(json(json)) END AS j FROM arg_in_order a"
	  " WHERE a.arg_set_id = r.arg_set_id GROUP BY flat_key ORDER BY min(n))) END" },
};

/* ---- making it ----------------------------------------------------------------------------- */

static int save_fail(sqlite3 *db, struct ut_err *err)
{
	int code = sqlite3_errcode(db) == SQLITE_FULL ? -ENOSPC : -EIO;

	return ut_err_set(err, code, "SQLite: %s", sqlite3_errmsg(db));
}

static int save_run(sqlite3 *db, const char *sql, struct ut_err *err)
{
	return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : save_fail(db, err);
}

static int add_sources(sqlite3 *db, struct ut_sql_use *uses, struct ut_traces *t,
		       struct ut_err *err)
{
	for (size_t i = 0; i < SOURCES; i++) {
		char name[64];

		snprintf(name, sizeof(name), PREFIX "%s", sources[i]->name);
		uses[i] = (struct ut_sql_use){ .table = sources[i], .traces = t };
		if (sqlite3_create_module(db, name, sources[i]->module, &uses[i]) != SQLITE_OK)
			return save_fail(db, err);
	}
	return 0;
}

/* Are there pids or tids that SQLite has no integers for? */
static bool has_large_ids(const struct ut_trace *t)
{
	for (size_t i = 0; i < t->process_count; i++) {
		if (!t->processes[i].pid_text && t->processes[i].pid > INT64_MAX)
			return true;
	}
	for (size_t i = 0; i < t->track_count; i++) {
		if (!t->tracks[i].id_text && t->tracks[i].id > INT64_MAX)
			return true;
	}
	return false;
}

/* A column for integers would round such numbers; it also makes '7' the same as 7. */
static const char *save_type_of(const struct ut_sql_column *c, const struct ut_traces *t)
{
	bool id = !strcmp(c->name, "pid") || !strcmp(c->name, "tid") || !strcmp(c->name, "number");

	return id && has_large_ids(&t->traces[0].store->trace) ? "" : c->type;
}

/* A table that is stored as it is. The first column of those that have a number is that number. */
static int copy_table(sqlite3 *db, const struct ut_sql_table *t, const struct ut_traces *traces,
		      struct ut_err *err)
{
	bool numbered = t->columns[0].what == UT_SQL_LIST_KEY && t->list;
	struct ut_buf sql = { 0 }, list = { 0 };
	int rc;

	ut_buf_fmt(&sql, "CREATE TABLE %s(", t->name);
	for (const struct ut_sql_column *c = t->columns; c->name && !c->hidden; c++) {
		const char *comma = c == t->columns ? "" : ", ";

		ut_buf_fmt(&sql, "%s\"%s\" %s%s", comma, c->name, save_type_of(c, traces),
			   numbered && c == t->columns ? " PRIMARY KEY" : "");
		ut_buf_fmt(&list, "%s\"%s\"", comma, c->name);
	}
	ut_buf_fmt(&sql, "); INSERT INTO %s SELECT %s FROM " PREFIX "%s", t->name, list.data,
		   t->name);
	rc = save_run(db, sql.data, err);
	ut_buf_release(&sql);
	ut_buf_release(&list);
	return rc;
}

static void put_expression(struct ut_buf *sql, const struct ut_sql_table *t, const char *name)
{
	if (t == &ut_sql_counter && !strcmp(name, "name"))
		name = "track_name"; /* that is what tells it from its like */
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		if (!strcmp(columns[i].name, name)) {
			ut_buf_text(sql, columns[i].expression);
			return;
		}
	}
	ut_buf_fmt(sql, "r.%s", name);
}

/* A view with the columns of a table of events. */
static int save_make_view(sqlite3 *db, const struct ut_sql_table *t, struct ut_err *err)
{
	struct ut_buf sql = { 0 };
	int rc;

	ut_buf_fmt(&sql, "CREATE VIEW %s AS SELECT ", t->name);
	for (const struct ut_sql_column *c = t->columns; c->name && !c->hidden; c++) {
		ut_buf_text(&sql, c == t->columns ? "" : ", ");
		put_expression(&sql, t, c->name);
		ut_buf_fmt(&sql, " AS \"%s\"", c->name);
	}
	ut_buf_fmt(&sql, " FROM %s_row r LEFT JOIN string n ON n.id = r.name_id", t->name);
	rc = save_run(db, sql.data, err);
	ut_buf_release(&sql);
	return rc;
}

static int make_views(sqlite3 *db, struct ut_err *err)
{
	int rc = save_run(db, args_view, err);

	rc = rc ? rc : save_make_view(db, &ut_sql_slice, err);
	rc = rc ? rc : save_make_view(db, &ut_sql_instant, err);
	rc = rc ? rc : save_make_view(db, &ut_sql_counter, err);
	rc = rc ? rc : save_make_view(db, &ut_sql_sample, err);
	for (size_t i = 0; ut_sql_tables[i] && !rc; i++) {
		struct ut_buf sql = { 0 };

		if (!ut_sql_tables[i]->view)
			continue;
		ut_buf_fmt(&sql, "CREATE VIEW %s AS %s", ut_sql_tables[i]->name,
			   ut_sql_tables[i]->view);
		rc = save_run(db, sql.data, err);
		ut_buf_release(&sql);
	}
	return rc;
}

static int save_fill(sqlite3 *db, const struct ut_traces *traces, struct ut_err *err)
{
	int rc = save_run(db, settings, err);

	rc = rc ? rc : save_run(db, rows, err);
	for (size_t i = 0; i < SOURCES && !rc; i++) {
		if (sources[i] != &string_table && sources[i] != &ut_sql_args && !sources[i]->kinds)
			rc = copy_table(db, sources[i], traces, err);
	}
	rc = rc ? rc : make_views(db, err);
	return rc ? rc : save_run(db, indices, err);
}

int ut_query_save(struct ut_store *store, const char *path, struct ut_err *err)
{
	struct ut_sql_use uses[SOURCES];
	struct ut_traces traces;
	sqlite3 *db = NULL;
	int rc;

	ut_traces_init(&traces);
	ut_traces_add(&traces, "", store);
	ut_traces_ready(&traces);
	if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) !=
	    SQLITE_OK)
		rc = save_fail(db, err);
	else if (ut_arg_key_collation_add(db) != SQLITE_OK)
		rc = save_fail(db, err);
	else
		rc = add_sources(db, uses, &traces, err);
	rc = rc ? rc : save_fill(db, &traces, err);
	if (sqlite3_close(db) != SQLITE_OK && !rc)
		rc = ut_err_set(err, -EIO, "SQLite: the database cannot be closed");
	ut_traces_release(&traces);
	return rc;
}
