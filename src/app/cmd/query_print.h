/*
 * query_print.h - the rows of a query as a report (text/table_report.h), a table per statement.
 *
 * One owner, one thread.
 */
#ifndef UT_CMD_QUERY_PRINT_H
#define UT_CMD_QUERY_PRINT_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "query/query.h"
#include "text/table_report.h"

struct ut_out;

struct ut_print {
	struct ut_result result; /* hand this to ut_query_run() */
	struct ut_out *out;      /* not owned */
	struct ut_report *report;
	uint64_t rows; /* of the last statement */
	int rc;        /* of --sort: no such column */
	struct ut_err err;

	struct ut_arena arena; /* of the statement */
	struct ut_report_cell *cells;
	size_t count;
};

void ut_print_init(struct ut_print *p, struct ut_out *out, const struct ut_report_opts *opts);
void ut_print_release(struct ut_print *p);

#endif
