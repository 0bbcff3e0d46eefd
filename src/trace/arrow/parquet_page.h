/*
 * parquet_page.h - one column of a group of rows, as the pages of a Parquet file.
 */
#ifndef UT_ARROW_PARQUET_PAGE_H
#define UT_ARROW_PARQUET_PAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "unitrace/arrow.h"

/* Numbers of the format. */
enum {
	UT_PARQUET_INT32 = 1,
	UT_PARQUET_INT64 = 2,
	UT_PARQUET_DOUBLE = 5,
	UT_PARQUET_BYTES = 6,
	UT_PARQUET_PLAIN = 0,
	UT_PARQUET_RLE = 3,
	UT_PARQUET_DICTIONARY = 8,
	UT_PARQUET_NOT_PACKED = 0,
	UT_PARQUET_ZSTD = 6,
};

int ut_parquet_type(const struct ArrowSchema *column);
int ut_parquet_codec(void);

/* What was written of a column, for the table of contents. */
struct ut_parquet_chunk {
	int64_t dictionary, data; /* where they begin; dictionary 0 = there is none */
	int64_t values, nulls;
	int64_t plain_size, packed_size; /* with the heads of pages */
	int64_t least, most;             /* of whole numbers */
	bool has_bounds;
};

/* Appends the pages. at is where in the file the buffer begins. -E2BIG: a page of over 2 GB. */
int ut_parquet_column(struct ut_buf *to, int64_t at, const struct ArrowSchema *column,
		      const struct ArrowArray *values, struct ut_parquet_chunk *chunk);

#endif
