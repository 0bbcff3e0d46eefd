/*
 * ranks_blame.h - what made a rank wait: whose doing it was, and in which of its tasks.
 *
 * Somebody comes late because he has done more than those who wait since they were last together.
 * So both are compared, task by task, from then until each of them came: what the late one has more
 * of is to blame, in proportion. If that is waiting, it is not his fault but that of whom he waited
 * for, and the question is asked again there.
 *
 * Owner: the caller; ranks are settled and outlive it. One thread.
 */
#ifndef UT_RANKS_RANKS_BLAME_H
#define UT_RANKS_RANKS_BLAME_H

#include "ranks/ranks.h"

#define UT_RANK_IN_CALL UINT32_MAX /* in place of a task: in a call of its own */

struct ut_rank_blame {
	uint32_t rank;        /* index */
	uint32_t task;        /* 0 = no task, UT_RANK_IN_CALL */
	unsigned int between; /* ranks that lie between it and the one that waits */
	uint64_t time;        /* of the wait */
};

typedef void ut_rank_blame_fn(void *ctx, const struct ut_rank_blame *b);

struct ut_rank_part;
struct ut_rank_place;

struct ut_rank_blamer {
	const struct ut_ranks *ranks;
	ut_rank_blame_fn *fn;
	void *ctx;
	uint32_t *slots;            /* by task: its part, plus 1; 0 = none */
	struct ut_rank_part *parts; /* a stack: those of a wait, above them those behind it */
	size_t count, cap;
	struct ut_rank_place *places; /* by rank: where it was looked at last */
	size_t *ends;                 /* by rank: the same, of its ends */
	uint32_t waiter;              /* whose wait it is */
	uint64_t least;               /* ns of it that are followed further */
};

void ut_rank_blamer_init(struct ut_rank_blamer *b, const struct ut_ranks *r, ut_rank_blame_fn *fn,
			 void *ctx);
void ut_rank_blamer_release(struct ut_rank_blamer *b);

/* Calls fn for all that a call of this rank (index) waited for; times add up to its wait. */
void ut_rank_blame(struct ut_rank_blamer *b, uint32_t rank, const struct ut_rank_call *c);

#endif
