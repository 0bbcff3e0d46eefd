/*
 * rank_inputs.h - the inputs of a command that runs on several ranks.
 *
 * Rank 0 looks for them, so that all ranks work on the same list even where a shared file system
 * shows new files late.
 */
#ifndef UT_MPIJOB_RANK_INPUTS_H
#define UT_MPIJOB_RANK_INPUTS_H

#include "import/inputs.h"
#include "import/load.h"
#include "mpijob/mpijob.h"

/*
 * All inputs on all ranks, and their sizes in bytes (free() them; what is no regular file has 0).
 * On failure every rank has the same error. all->logger receives what is left out.
 */
int ut_rank_inputs(struct ut_mpijob *s, int argc, const char *const *argv, struct ut_inputs *all,
		   uint64_t **sizes, struct ut_err *err) UT_MUST_CHECK;

/* The list of rank 0, which was found in another way, and changed, to all ranks. */
void ut_mpijob_list(struct ut_mpijob *s, struct ut_inputs *all, uint64_t **sizes);

/*
 * Keeps only this rank's share of the list: neighbours, so that going through the ranks in order
 * is going through the inputs in order. Returns the index of its first one in the whole list.
 */
size_t ut_mpijob_keep_share(const struct ut_mpijob *s, struct ut_inputs *all,
			    const uint64_t *sizes);

/* Who takes a store that was read: see ut_load_each(). */
struct ut_rank_reader {
	int (*each)(void *ctx, size_t i, struct ut_store *store, struct ut_err *err);
	void *ctx;
};

/*
 * Every rank reads its share of the inputs that the words of the command line name, the same on all
 * ranks, and hands each store to the reader. On failure every rank has the same error.
 */
int ut_rank_load(struct ut_mpijob *s, int argc, const char *const *argv, const struct ut_load *how,
		 const struct ut_rank_reader *reader, struct ut_err *err) UT_MUST_CHECK;

#endif
