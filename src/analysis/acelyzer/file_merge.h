/*
 * file_merge.h - many files as one table.
 */
#ifndef UT_ACELYZER_FILE_MERGE_H
#define UT_ACELYZER_FILE_MERGE_H

#include "acelyzer/options.h"
#include "acelyzer/read_input.h"

/*
 * Ranks and ids of a file, once all of it is known: a file that says which rank it is gives its
 * spans that process id. Release 1.2 takes the first event's process for the rank if the
 * file does not say. May run for several parts at once.
 */
void ut_ace_finalize(struct ut_ace_part *part, enum ut_ace_release release);

/* Moves the rows of from behind those of t; from is left without any. */
void ut_ace_append(struct ut_ace_table *t, struct ut_ace_table *from);

/*
 * Moves the events of all parts into t, whose jobs are the parts in their order. At each step the
 * earliest next event of a file comes first; inside a file the order stays. The parts are left
 * without events.
 */
void ut_ace_merge(struct ut_ace_table *t, struct ut_ace_part *parts, size_t count);

#endif
