/*
 * mpijob.h - one command run by several processes under MPI: who we are, and how to talk.
 *
 * `mpiexec -n 4 unitrace stats ...` starts four times the same command line. Each process takes its
 * share of the inputs (share.h); results come together on rank 0, which alone prints and writes.
 * Started without mpiexec, or with one rank, nothing is loaded, we are rank 0 of 1, and all
 * functions here do what is right for one process. MPI itself is a plugin (plugin.h).
 *
 * All functions are collective: every rank calls them in the same order, from one thread. What goes
 * wrong inside MPI ends the whole job, so only agree() and reduce() return errors: those of ours.
 */
#ifndef UT_MPIJOB_MPIJOB_H
#define UT_MPIJOB_MPIJOB_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct ut_mpi;

struct ut_mpijob {
	int rank, ranks;          /* 0 of 1 when alone */
	const struct ut_mpi *mpi; /* NULL = alone */
};

enum ut_mpijob_role {
	UT_MPIJOB_WORK, /* go on: alone, or with the others */
	UT_MPIJOB_IDLE, /* there are others but no plugin to reach them: rank 0 does it all */
};

/*
 * Finds out which job we are in and joins it. note is set on rank 0 if there is something that the
 * user should know, such as a missing plugin. Every successful start needs a stop.
 */
enum ut_mpijob_role ut_mpijob_start(struct ut_mpijob *s, struct ut_err *note);
void ut_mpijob_stop(struct ut_mpijob *s);

/*
 * Did all ranks succeed? Returns 0, or on all ranks the failure of the lowest rank that failed,
 * with its text, so that one of them can tell the user and all can end alike.
 */
int ut_mpijob_agree(struct ut_mpijob *s, int rc, struct ut_err *err) UT_MUST_CHECK;

/* Fails on all ranks if they were started with different words. */
int ut_mpijob_same(struct ut_mpijob *s, int argc, const char *const *argv,
		   struct ut_err *err) UT_MUST_CHECK;

void ut_mpijob_barrier(struct ut_mpijob *s);
int64_t ut_mpijob_max(struct ut_mpijob *s, int64_t value);

/* The sum of what the ranks below gave. */
uint64_t ut_mpijob_before(struct ut_mpijob *s, uint64_t mine);

/* What rank 0 gives, as a malloc'ed copy on every rank (also on rank 0); free() it. */
void *ut_mpijob_bcast(struct ut_mpijob *s, const void *data, size_t *len);

/* What every rank gave. Empty except on rank 0. */
struct ut_gathered {
	char *data;       /* one behind the other, in the order of ranks */
	uint64_t *starts; /* ranks + 1 of them */
	size_t count;     /* ranks; 0 elsewhere */
};

void ut_mpijob_gather(struct ut_mpijob *s, const void *data, size_t len, struct ut_gathered *all);
void ut_gathered_release(struct ut_gathered *all);

/* What every rank gave, one behind the other in the order of ranks, on every rank; free() it. */
void *ut_mpijob_share(struct ut_mpijob *s, const void *data, size_t len, size_t *all_len);

/*
 * Folds partial results into one, on rank 0. pack() writes what this rank has so far into a
 * malloc'ed buffer, fold() takes the packed result of the ranks right above in. Neighbours are
 * folded pairwise, log2(ranks) deep, always lower with higher rank: with an associative fold the
 * result is that of folding all in order. On failure all ranks return the same one.
 */
struct ut_fold {
	void (*pack)(void *ctx, char **data, size_t *len);
	int (*fold)(void *ctx, const char *data, size_t len, struct ut_err *err);
	void *ctx;
};

int ut_mpijob_reduce(struct ut_mpijob *s, const struct ut_fold *f,
		     struct ut_err *err) UT_MUST_CHECK;

#endif
