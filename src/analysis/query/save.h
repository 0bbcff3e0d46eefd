/*
 * save.h - a trace as an SQLite database: what a query sees as tables, as tables and views.
 */
#ifndef UT_QUERY_SAVE_H
#define UT_QUERY_SAVE_H

#include "base/err.h"

struct ut_store;

/*
 * Fills the empty file at path. Each string is stored once; slice, instant, counter and args are
 * views that have the columns of the tables of the same names in query.h. What a failure leaves in
 * the file is of no use.
 */
int ut_query_save(struct ut_store *store, const char *path, struct ut_err *err) UT_MUST_CHECK;

#endif
