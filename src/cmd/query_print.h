/*
 * query_print.h - the rows of a query as a table for people, as CSV, TSV, JSON or JSON lines.
 *
 * Columns of a table are as wide as the first rows need; what follows is printed as it comes, so
 * memory does not grow with the result. One owner, one thread.
 */
#ifndef UT_CMD_QUERY_PRINT_H
#define UT_CMD_QUERY_PRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"
#include "query/query.h"

struct ut_out;

enum ut_print_format {
	UT_PRINT_TABLE,
	UT_PRINT_CSV,
	UT_PRINT_TSV,
	UT_PRINT_JSON,
	UT_PRINT_JSONL,
	UT_PRINT_COUNT,
};

/* "table", ...; what --format takes. */
extern const char *const ut_print_words[UT_PRINT_COUNT];

struct ut_print_column;

struct ut_print {
	struct ut_result result; /* hand this to ut_query_run() */
	struct ut_out *out;      /* not owned */
	enum ut_print_format format;
	size_t widest; /* characters of a table's cell; 0 = any */
	uint64_t rows; /* of the last statement */

	struct ut_arena arena; /* of the statement */
	struct ut_print_column *columns;
	size_t column_count;
	struct ut_buf *cells; /* rows that wait for the widths, as text */
	size_t waiting;
	bool laid_out;
};

void ut_print_init(struct ut_print *p, struct ut_out *out, enum ut_print_format format,
		   size_t widest);
void ut_print_release(struct ut_print *p);

#endif
