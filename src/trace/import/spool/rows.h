/*
 * rows.h - spans that belong to no thread are dealt onto rows, as many as it takes for them to nest
 * or not to overlap. Rows are tried in order, so what fits into one gets one.
 */
#ifndef UT_IMPORT_SPOOL_ROWS_H
#define UT_IMPORT_SPOOL_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "import/spool/vec.h"

struct ut_spool_import;

/* Whose rows they are; the number says which of them. */
enum ut_spool_rows_of {
	UT_ROWS_LANE,    /* string id of the lane */
	UT_ROWS_QUEUE,   /* number of the queue */
	UT_ROWS_CALLS,   /* of a thread: tid */
	UT_ROWS_SET,     /* number of the metric set */
	UT_ROWS_COUNTER, /* device, and number of the name */
	UT_ROWS_SILENT,  /* a thread that has recorded nothing itself: tid */
};

struct ut_spool_row {
	uint32_t track;
	UT_VEC(uint64_t) ends; /* of the spans that are open, the outermost first */
};

struct ut_spool_rows {
	UT_VEC(struct ut_spool_row) rows;
};

/* A recording that is followed goes on with the rows it had; any other begins with none. */
struct ut_spool_rows *ut_spool_rows_begin(struct ut_spool_import *im, enum ut_spool_rows_of of,
					  uint64_t number);
void ut_spool_rows_end(struct ut_spool_import *im, struct ut_spool_rows *r);
void ut_spool_rows_free(struct ut_spool_rows *r);

/* The place among the rows for a span; one behind the last if a new one is needed. A row is never
 * searched, only its top. */
size_t ut_spool_rows_find(struct ut_spool_rows *r, uint64_t begin, uint64_t end, bool nests);

/* Puts it there; a new row is that of this track, which does not matter for others. */
void ut_spool_rows_put(struct ut_spool_rows *r, size_t at, uint64_t end, uint32_t track);

#endif
