/*
 * query.h - SQL over traces.
 *
 * The traces are tables that exist in the columns only: nothing is copied, nothing can be written.
 * The database around them lies in memory; temporary tables and views can be made in it. It cannot
 * reach the file system: no ATTACH, no extensions. Owner: whoever closes it. One thread; only
 * ut_query_interrupt() may be called from elsewhere.
 */
#ifndef UT_QUERY_QUERY_H
#define UT_QUERY_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct ut_buf;
struct ut_query;
struct ut_store;

enum ut_query_type {
	UT_VALUE_NULL,
	UT_VALUE_INT,
	UT_VALUE_REAL,
	UT_VALUE_TEXT,
	UT_VALUE_BLOB,
};

/* One value of a result, valid until the next row. */
struct ut_value {
	enum ut_query_type type;
	int64_t number;
	double real;
	const char *text; /* text and blob; may hold any bytes */
	size_t len;
};

/* Where results go: for each statement that has columns begin, its rows, end. */
struct ut_result {
	void *ctx;
	void (*begin)(void *ctx, size_t columns, const char *const *names);
	/* Anything but 0 ends the query and is returned by ut_query_run(). */
	int (*row)(void *ctx, const struct ut_value *values);
	void (*end)(void *ctx);
};

/* threads: for what can use several (slice_stats). -ENOTSUP: built without SQLite. */
int ut_query_open(struct ut_query **q, unsigned int threads, struct ut_err *err) UT_MUST_CHECK;
void ut_query_close(struct ut_query *q);

/* The store stays the caller's and must live as long as q. Before the first run only. */
void ut_query_add(struct ut_query *q, const char *path, struct ut_store *store);

/*
 * Runs all statements of a text. A mistake in it is -EINVAL with one line that says where it is
 * and, if something has a similar name, what was probably meant; -EINTR after an interrupt.
 */
int ut_query_run(struct ut_query *q, const char *sql, const struct ut_result *result,
		 struct ut_err *err) UT_MUST_CHECK;

/* Ends the running query soon. For signal handlers and other threads. */
void ut_query_interrupt(struct ut_query *q);

/* Is this the end of a statement, for a prompt that reads line by line? */
bool ut_query_complete(const char *sql);

/*
 * Describes a table, column by column, or all tables, views and functions if name is NULL. False
 * if there is none of that name.
 */
bool ut_query_schema(struct ut_buf *to, const char *name);

/* The names of all tables and views, closed by NULL. */
const char *const *ut_query_tables(void);

#endif
