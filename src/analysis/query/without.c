/* without.c - stands in for the whole room where SQLite is missing. */
#include <errno.h>

#include "query/query.h"

int ut_query_open(struct ut_query **q, unsigned int threads, struct ut_err *err)
{
	(void)threads;
	*q = NULL;
	return ut_err_set(err, -ENOTSUP,
			  "built without SQLite; install libsqlite3-dev, build again");
}

void ut_query_close(struct ut_query *q)
{
	(void)q;
}

void ut_query_add(struct ut_query *q, const char *path, struct ut_store *store)
{
	(void)q;
	(void)path;
	(void)store;
}

int ut_query_run(struct ut_query *q, const char *sql, const struct ut_result *result,
		 struct ut_err *err)
{
	(void)q;
	(void)sql;
	(void)result;
	return ut_err_set(err, -ENOTSUP, "built without SQLite");
}

void ut_query_interrupt(struct ut_query *q)
{
	(void)q;
}

bool ut_query_complete(const char *sql)
{
	(void)sql;
	return true;
}

bool ut_query_schema(struct ut_buf *to, const char *name)
{
	(void)to;
	(void)name;
	return false;
}

const char *const *ut_query_tables(void)
{
	static const char *const none[] = { NULL };

	return none;
}
