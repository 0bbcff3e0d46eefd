/*
 * span_join.h - SPAN_JOIN, SPAN_LEFT_JOIN, SPAN_OUTER_JOIN: when spans of two tables coincide.
 *
 * CREATE VIRTUAL TABLE both USING SPAN_JOIN(a PARTITIONED utid, b PARTITIONED utid). Each table
 * has ts and dur. Where the spans of one table overlap in a partition, Perfetto gives wrong rows;
 * here each span is joined on its own.
 */
#ifndef UT_QUERY_SPAN_JOIN_H
#define UT_QUERY_SPAN_JOIN_H

#include <sqlite3.h>

struct ut_traces;

/* Adds the three modules; t, whose stop ends them, lives as long as db. Returns an SQLite code. */
int ut_span_join_add(sqlite3 *db, const struct ut_traces *t);

#endif
