/*
 * parts.h - the result of a parallel merge in parts: which rank writes what, and where.
 */
#ifndef UT_MERGE_PARTS_H
#define UT_MERGE_PARTS_H

#include "merge/merge.h"
#include "merge/spill.h"

struct ut_merge_parts {
	char *const *paths;          /* of the temporary files of all ranks; not owned */
	const struct ut_spill *mine; /* the one of this rank; not owned */
	char *result;                /* the file that all write to; owned */
	/*
	 * For each rank's temporary file in turn, ranks + 1 cuts: part r of it lies between the
	 * cuts r and r + 1. The same on all ranks; owned.
	 */
	struct ut_spill_cut *cuts;
};

/* Opens a temporary file of another rank; its descriptor, or what is wrong. */
int ut_merge_open_share(const char *path, struct ut_err *err);

/* Agrees on the cuts. All ranks take part. */
int ut_merge_cut(struct ut_merge *m, struct ut_merge_parts *p, struct ut_err *err) UT_MUST_CHECK;

/* Writes this rank's part, and on rank 0 what stands around the events. All ranks take part. */
int ut_merge_write_part(struct ut_merge *m, const struct ut_merge_plan *plan,
			const struct ut_merge_parts *p, struct ut_err *err) UT_MUST_CHECK;

#endif
