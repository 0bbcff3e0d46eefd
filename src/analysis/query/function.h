/*
 * function.h - the SQL functions that traces add to those of SQLite.
 */
#ifndef UT_QUERY_FUNCTION_H
#define UT_QUERY_FUNCTION_H

#include <sqlite3.h>

struct ut_traces;

struct ut_sql_function {
	const char *name;
	const char *usage; /* "arg(id, 'key')" */
	const char *doc;   /* one line, no full stop */
	int args;          /* -1 = any number */
	void (*call)(sqlite3_context *ctx, int argc, sqlite3_value **argv);
};

/* Closed by a name of NULL. */
extern const struct ut_sql_function ut_sql_functions[];

/* Adds them all; traces must live as long as db. Returns an SQLite code. */
int ut_sql_functions_add(sqlite3 *db, struct ut_traces *t);

#endif
