/*
 * result.h - what can be asked about an event, as a value of SQL.
 */
#ifndef UT_QUERY_RESULT_H
#define UT_QUERY_RESULT_H

#include "query/arg.h"
#include "query/field.h"

/* list is scratch memory of the caller's, for arguments. */
void ut_sql_result_field(sqlite3_context *ctx, const struct ut_traces *t, const struct ut_place *p,
			 enum ut_field f, struct ut_arg_list *list);

#endif
