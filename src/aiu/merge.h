/*
 * merge.h - many files as one table.
 */
#ifndef UT_AIU_MERGE_H
#define UT_AIU_MERGE_H

#include "aiu/read.h"

/*
 * Ranks and ids of a file, once all of it is known: a file that says which rank it is gives its
 * spans that process id. Release 1.2 (head) takes the first event's process for the rank if the
 * file does not say. May run for several parts at once.
 */
void ut_aiu_settle(struct ut_aiu_part *part, bool head);

/* Moves the rows of from behind those of t; from is left without any. */
void ut_aiu_append(struct ut_aiu_table *t, struct ut_aiu_table *from);

/*
 * Moves the events of all parts into t, whose jobs are the parts in their order. At each step the
 * earliest next event of a file comes first; inside a file the order stays. The parts are left
 * without events.
 */
void ut_aiu_merge(struct ut_aiu_table *t, struct ut_aiu_part *parts, size_t count);

#endif
