/*
 * complain.h - what is wrong with a query: where, and what was probably meant.
 */
#ifndef UT_QUERY_COMPLAIN_H
#define UT_QUERY_COMPLAIN_H

#include "base/err.h"

/*
 * One line for SQLite's message about a text: "SQL:LINE:COLUMN: message; did you mean X?". offset
 * is where SQLite says that the mistake is, -1 = it does not say. Returns -EINVAL.
 */
int ut_sql_complain(const char *sql, long offset, const char *message, struct ut_err *err);

#endif
