/*
 * ranks_pop.h - how efficient the job was: the figures of the POP centre of excellence.
 *
 *	parallel efficiency      = useful, on average         / run
 *	  load balance           = useful, on average         / useful, at most
 *	  communication          = useful, at most            / run
 *	    serialisation        = useful, at most            / run on an ideal network
 *	    transfer             = run on an ideal network    / run
 *
 * run is the time from the first end of MPI_Init to the last begin of MPI_Finalize. The run on an
 * ideal network is found by playing all calls again: what lies outside of calls takes as long as it
 * did, messages take no time, and a call ends when what it needs from others has been begun.
 */
#ifndef UT_RANKS_RANKS_POP_H
#define UT_RANKS_RANKS_POP_H

#include "ranks/ranks_sum.h"

struct ut_rank_pop {
	uint64_t run, ideal, useful_most;
	uint32_t most_rank; /* index */
	double useful_mean;
	/* shares of 1 */
	double parallel, balance, communication, serialisation, transfer;
};

void ut_ranks_pop(struct ut_ranks *r, const struct ut_rank_sums *s, struct ut_rank_pop *pop);

#endif
