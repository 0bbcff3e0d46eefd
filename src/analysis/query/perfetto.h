/*
 * perfetto.h - PerfettoSQL: what Perfetto adds to SQLite's SQL, turned into SQLite's own.
 *
 * INCLUDE PERFETTO MODULE, CREATE [OR REPLACE] PERFETTO TABLE, VIEW, FUNCTION, MACRO and INDEX, and
 * calls of macros, name!(...). Everything else passes unchanged. What is made of a statement goes
 * through SQLite's prepare like any other, so what a query may not do stays forbidden. Owner:
 * whoever frees it. One thread.
 */
#ifndef UT_QUERY_PERFETTO_H
#define UT_QUERY_PERFETTO_H

#include <sqlite3.h>

#include "base/err.h"

struct ut_buf;
struct ut_perfetto;
struct ut_guard;

struct ut_perfetto *ut_perfetto_new(const struct ut_guard *guard);
/* To be called before the database is closed: functions hold statements. NULL is fine. */
void ut_perfetto_free(struct ut_perfetto *p);

/* Makes the tables and views that only Perfetto's queries ask for. Returns an SQLite code. */
int ut_perfetto_make_views(sqlite3 *db);

enum ut_perfetto_kind {
	UT_PERFETTO_PLAIN, /* SQLite takes the statement as it is */
	UT_PERFETTO_TEXT,  /* SQLite takes text instead; several statements */
	UT_PERFETTO_DONE,  /* nothing is left to do */
};

/*
 * Looks at the statement at *at in sql. Unless it is plain, *at is moved behind it. Returns an
 * enum ut_perfetto_kind, or -EINVAL with the place and the reason in err.
 */
int ut_perfetto_read(struct ut_perfetto *p, const char *sql, const char **at, struct ut_buf *text,
		     struct ut_err *err);

/*
 * sqlite3_prepare_v2(), and once more if names are ambiguous or unknown: our tables have columns
 * that Perfetto's have not (slice.tid) and lack some that are always NULL here (machine_id), so
 * the second time they have exactly Perfetto's. Errors are those of the first time.
 */
int ut_perfetto_prepare(sqlite3 *db, const char *sql, sqlite3_stmt **stmt, const char **tail);

#endif
