/*
 * merge_inputs.h - what goes into a merge, and whether its result can be written at all: all that
 * can be found out before anything is read.
 */
#ifndef UT_MERGE_MERGE_INPUTS_H
#define UT_MERGE_MERGE_INPUTS_H

#include "import/inputs.h"
#include "merge/merge.h"

/* On rank 0. Tells what was left out of directories. */
int ut_merge_find(const struct ut_merge *m, int argc, const char *const *argv, struct ut_inputs *in,
		  struct ut_err *err) UT_MUST_CHECK;

/* What is no regular file can be read only once, and a merge reads twice: keeps a copy of it. */
int ut_merge_keep(struct ut_merge *m, size_t i, struct ut_arena *a,
		  struct ut_err *err) UT_MUST_CHECK;

/* Is everything Chrome JSON, on both sides? Empty files do not count. */
bool ut_merge_all_text(const struct ut_merge *m);

#endif
