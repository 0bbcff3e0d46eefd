/*
 * parquet_file.h - a table as a Parquet file, which engines read column by column, from the end.
 *
 * Texts that repeat are dictionaries, all else is plain; pages are compressed (zstd, where the
 * build has it); whole numbers have their least and greatest value, so that readers can leave out
 * what they do not need. One owner, one thread; errors stick to the out, which stays the caller's.
 */
#ifndef UT_ARROW_PARQUET_FILE_H
#define UT_ARROW_PARQUET_FILE_H

#include "unitrace/arrow.h"

struct ut_out;
struct ut_parquet;

/* Takes the schema: int64, int32, double, text and bytes, without dictionaries. */
struct ut_parquet *ut_parquet_begin(struct ut_out *out, struct ArrowSchema *schema);
/* A group of rows. Takes the batch. */
void ut_parquet_add(struct ut_parquet *p, struct ArrowArray *batch);
void ut_parquet_end(struct ut_parquet *p);

#endif
