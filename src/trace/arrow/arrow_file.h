/*
 * arrow_file.h - Arrow's file format (IPC): a table as a file that other programs map and read.
 *
 * Begins like a stream and has a table of contents at its end, so that it can be read both ways.
 * Batches are compressed (zstd, where the build has it). One owner, one thread; errors stick to the
 * out, which stays the caller's.
 */
#ifndef UT_ARROW_ARROW_FILE_H
#define UT_ARROW_ARROW_FILE_H

#include "unitrace/arrow.h"

struct ut_out;
struct ut_arrow_file;

/* Takes the schema, whose columns have no dictionaries. */
struct ut_arrow_file *ut_arrow_file_begin(struct ut_out *out, struct ArrowSchema *schema);
/* Takes the batch. */
void ut_arrow_file_add(struct ut_arrow_file *f, struct ArrowArray *batch);
void ut_arrow_file_end(struct ut_arrow_file *f);

#endif
