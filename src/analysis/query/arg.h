/*
 * arg.h - arguments as SQL values.
 *
 * A list of arguments has a number of its own, arg_set_id, in all traces: that of an event, one
 * that a trace keeps about itself and its tracks, or one that an async span has together with its
 * end, which is made for the query.
 */
#ifndef UT_QUERY_ARG_H
#define UT_QUERY_ARG_H

#include "query/sql.h"

struct ut_buf;

/* Arguments in the making; {0} is empty. Owner: whoever frees items. */
struct ut_arg_list {
	struct ut_arg *items;
	size_t count, cap;
	const struct ut_strtab *strings;
};

/* 0 for no list. own: a list of the trace itself, in its array of arguments. */
static inline int64_t ut_arg_set(uint32_t trace, bool own, uint32_t list)
{
	return list ? (int64_t)((uint64_t)trace << 33 | (uint64_t)own << 32 | list) : 0;
}

/* A key without the args. or debug. that Perfetto puts in front of it. */
const char *ut_arg_plain_key(const char *key);

/* Keys are equal with and without it. Adding the collation gives an SQLite code. */
#define UT_ARG_KEY_COLLATION "arg_key"
int ut_arg_key_collation_add(sqlite3 *db);

/* A list of ut_qtrace.joined is a list of the trace from here on. */
#define UT_JOINED_ARGS (UINT32_C(1) << 31)

/* The arguments behind a number; an unknown one has none. */
void ut_arg_list_get(struct ut_arg_list *l, const struct ut_traces *t, int64_t set);

/* One value: text, integer, real; arrays, objects and null as JSON. */
void ut_sql_result_arg(sqlite3_context *ctx, const struct ut_strtab *strings,
		       const struct ut_arg *args, size_t count);

/* What a piece of JSON text stands for; it is copied. */
void ut_sql_result_json(sqlite3_context *ctx, struct ut_str json);

/* All of them as a JSON object. */
void ut_sql_result_args(sqlite3_context *ctx, const struct ut_arg_list *l);

/* A JSON text that is handed over with its memory. */
void ut_sql_result_buf(sqlite3_context *ctx, struct ut_buf *b);

#endif
