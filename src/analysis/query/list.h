/*
 * list.h - tables whose rows are known by a number from 0: one per track, process, trace, ...
 */
#ifndef UT_QUERY_LIST_H
#define UT_QUERY_LIST_H

#include "query/sql.h"

struct ut_sql_list {
	uint64_t (*count)(const struct ut_traces *t);
	/* Is there such a row? Threads, for example, go by the numbers of tracks. NULL = always */
	bool (*has)(const struct ut_traces *t, uint64_t row);
	void (*column)(sqlite3_context *ctx, const struct ut_traces *t, uint64_t row, int what);
};

/* What the columns of such a table may be. */
enum ut_sql_list_what {
	UT_SQL_LIST_KEY,  /* the number of the row: found at once */
	UT_SQL_LIST_UPID, /* rows are tracks, and this is their process: found at once */
	UT_SQL_LIST_MORE, /* the table's own start here */
};

extern const sqlite3_module ut_sql_list_module;

#endif
