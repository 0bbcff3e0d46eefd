/*
 * sql.h - what a table of the query is: its columns, in words, and the code that answers.
 *
 * The list of tables is the only place that knows them: SQLite's declarations, .schema, the
 * suggestions after a typing error and the SQLite exporter all read it.
 */
#ifndef UT_QUERY_SQL_H
#define UT_QUERY_SQL_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "query/match.h"
#include "query/traces.h"

struct ut_sql_list;

struct ut_sql_column {
	const char *name;
	const char *type; /* INTEGER, TEXT, REAL or "" for any */
	const char *doc;  /* one line, no full stop */
	int what;         /* what the table's own code calls it */
	bool hidden;      /* not part of "select *" */
};

/* A column in a list of them. */
#define UT_SQL_INT(name, what, doc)                                                                \
	{                                                                                          \
		name, "INTEGER", doc, what, false                                                  \
	}
#define UT_SQL_TEXT(name, what, doc)                                                               \
	{                                                                                          \
		name, "TEXT", doc, what, false                                                     \
	}

struct ut_sql_table {
	const char *name;
	const char *doc;                     /* one line, no full stop */
	const struct ut_sql_column *columns; /* closed by a name of NULL */
	const sqlite3_module *module;        /* NULL: a view */
	const char *view;                    /* what it selects */
	uint32_t kinds;                      /* tables of events: bits of enum ut_kind */
	const struct ut_sql_list *list;      /* tables of list.h */
	const char *call;      /* "name(ID)": it takes arguments; NULL = it does not */
	const char *collation; /* of columns whose names end with "key"; NULL = none */
};

/* All of them, closed by NULL; views come after the tables that they use. */
extern const struct ut_sql_table *const ut_sql_tables[];

extern const struct ut_sql_table ut_sql_slice, ut_sql_instant, ut_sql_counter, ut_sql_event;
extern const struct ut_sql_table ut_sql_sample, ut_sql_callsite, ut_sql_frame; /* and views: */
extern const struct ut_sql_table ut_sql_mapping, ut_sql_perf_sample, ut_sql_allocation;
extern const struct ut_sql_table ut_sql_track, ut_sql_thread, ut_sql_process, ut_sql_trace;
extern const struct ut_sql_table ut_sql_metadata, ut_sql_args, ut_sql_flow;
extern const struct ut_sql_table ut_sql_slice_stats, ut_sql_device_work;
extern const struct ut_sql_table ut_sql_ancestor_slice, ut_sql_descendant_slice;
extern const struct ut_sql_table ut_sql_following_flow, ut_sql_preceding_flow;
extern const struct ut_sql_table ut_sql_directly_connected_flow;

/* The columns of slice, and a hidden one for the argument of tables that take a slice's id. */
extern const struct ut_sql_column ut_sql_tree_columns[];

#define UT_SQL_START 1000 /* what that one is, whatever the table */

/* A connection of a table: SQLite hands its methods a pointer to base. */
struct ut_sql_vtab {
	sqlite3_vtab base; /* first */
	const struct ut_sql_table *table;
	struct ut_traces *traces;
};

/* What modules are registered with. */
struct ut_sql_use {
	const struct ut_sql_table *table;
	struct ut_traces *traces;
};

/* xConnect and xDisconnect of every table. */
int ut_sql_connect(sqlite3 *db, void *use, int argc, const char *const *argv, sqlite3_vtab **vtab,
		   char **err);
int ut_sql_disconnect(sqlite3_vtab *vtab);

/*
 * For xBestIndex of a table that is called with one argument: takes the condition on the column
 * that is this. An SQLite code, with a message if there is none.
 */
int ut_sql_argument(sqlite3_vtab *vtab, sqlite3_index_info *info, int what);

/* The event with the id in this value; false if it is none. */
bool ut_sql_event_id(sqlite3_value *value, const struct ut_traces *t, struct ut_place *p);

/* The value of a cell; text is not copied. */
void ut_sql_result_datum(sqlite3_context *ctx, const struct ut_datum *cell);
void ut_sql_result_str(sqlite3_context *ctx, struct ut_str s); /* NULL if there is none */
/* Text of any bytes, which stays where it is; SQLite's readers want UTF-8, so bad bytes become
 * U+FFFD in a copy. "" is a text. */
void ut_sql_result_text(sqlite3_context *ctx, struct ut_str s);
void ut_sql_result_u64(sqlite3_context *ctx, uint64_t value); /* its digits if it does not fit */

/* The enum ut_op behind a SQLITE_INDEX_CONSTRAINT_..., or UT_OP_COUNT. */
enum ut_op ut_sql_op(unsigned char constraint);

#endif
