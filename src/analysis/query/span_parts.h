/*
 * span_parts.h - the spans of a partition and how they are joined, for span_join.c. Nobody else
 * includes it.
 */
#ifndef UT_QUERY_SPAN_PARTS_H
#define UT_QUERY_SPAN_PARTS_H

#include <signal.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum ut_span_kind {
	UT_SPAN_INNER,
	UT_SPAN_LEFT,
	UT_SPAN_OUTER,
};

#define UT_SPAN_NONE SIZE_MAX

/* Spans of one table in the order of their begin. {0} is empty. */
struct ut_spans {
	int64_t *ts, *end;
	size_t count, ts_cap, end_cap;
	sqlite3_value **values; /* columns of them for each span */
	size_t value_cap, columns;
};

/* A stretch of time and what was going on then. */
struct ut_span_row {
	int64_t ts, dur;
	size_t from[2]; /* spans of either side, UT_SPAN_NONE = none */
};

struct ut_span_rows {
	struct ut_span_row *items;
	size_t count, cap;
};

/* The row that the statement stands on: ts, dur, partition, columns. False if SQLite has no memory.
 */
bool ut_spans_add(struct ut_spans *s, sqlite3_stmt *stmt);
void ut_spans_clear(struct ut_spans *s);
void ut_spans_release(struct ut_spans *s);

/*
 * Adds the rows of sides[0] with sides[1] in the order of ts. Spans of one side may overlap: each
 * is then joined on its own. False if *stop was set meanwhile.
 */
bool ut_spans_join(struct ut_span_rows *to, const struct ut_spans *sides, enum ut_span_kind kind,
		   const volatile sig_atomic_t *stop) UT_MUST_CHECK;

#endif
