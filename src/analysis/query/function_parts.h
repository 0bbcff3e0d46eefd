/*
 * function_parts.h - between function.c and the files with the functions that need no traces.
 * Nobody else includes it.
 */
#ifndef UT_QUERY_FUNCTION_PARTS_H
#define UT_QUERY_FUNCTION_PARTS_H

#include <sqlite3.h>

/* Of the user data, a struct ut_traces, they need the clock only. */
void ut_sql_to_realtime(sqlite3_context *ctx, int argc, sqlite3_value **argv);
void ut_sql_abs_time_str(sqlite3_context *ctx, int argc, sqlite3_value **argv);

void ut_sql_str_split(sqlite3_context *ctx, int argc, sqlite3_value **argv);
void ut_sql_regexp(sqlite3_context *ctx, int argc, sqlite3_value **argv);
void ut_sql_regexp_extract(sqlite3_context *ctx, int argc, sqlite3_value **argv);
void ut_sql_hash(sqlite3_context *ctx, int argc, sqlite3_value **argv);

/* time_to_ms() and its relatives; percentile() and last_non_null(). SQLite codes. */
int ut_sql_times_add(sqlite3 *db);
int ut_sql_aggregates_add(sqlite3 *db);

#endif
