/*
 * ranks.h - the calls and messages of all ranks of a job, and what they do to each other.
 *
 * Filled from stores, one by one (ut_ranks_add), each with one process of a job or many; or from
 * what other processes of ours have read (ranks_pack.h). Then ut_ranks_finalize() brings them onto
 * one clock, joins the ends of messages and the members of collective calls, and finds out who
 * waited for whom. What is known afterwards is in struct ut_rank and struct ut_rank_call; sums of
 * it are made by ranks_sum.h and ranks_pop.h.
 *
 * Owner: the caller. One thread, except where it says otherwise.
 */
#ifndef UT_RANKS_RANKS_H
#define UT_RANKS_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "clocks/time_map.h"
#include "model/strtab.h"
#include "ranks/rank_call.h"
#include "ranks/rank_use.h"

struct ut_store;

/* In place of a task: what a rank does after its process has failed. */
#define UT_RANK_AFTER_END "(process ended)"

/* From this time on the main thread was in this task of the program's. */
struct ut_rank_shift {
	uint64_t at;
	uint32_t task;
};

/* A task that is in no other. */
struct ut_rank_top {
	uint64_t begin, end;
	uint32_t task;
};

/* A communicator, window or file that the rank is a member of because it made it. */
struct ut_rank_made {
	uint32_t group;
};

struct ut_rank {
	int32_t rank;
	uint32_t host, program; /* strings */
	uint32_t origin;        /* which store it came from */
	uint32_t main_track;    /* there: its main thread, if it has calls of MPI */
	uint32_t clock;         /* once settled: index of its clock */
	int64_t realtime;       /* ns since 1970 at time 0; 0 = unknown */
	uint64_t start, stop;   /* what is looked at: from the end of MPI_Init to MPI_Finalize */
	uint64_t first, last;   /* of all that its trace has, before it is settled */
	struct ut_rank_call *calls; /* by begin */
	size_t call_count, call_cap;
	struct ut_rank_shape *shapes;
	size_t shape_count, shape_cap;
	struct ut_rank_more *mores;
	size_t more_count, more_cap;
	struct ut_rank_end *ends; /* by call */
	size_t end_count, end_cap;
	struct ut_rank_shift *shifts; /* by time */
	size_t shift_count, shift_cap;
	struct ut_rank_top *tops; /* by begin */
	size_t top_count, top_cap;
	struct ut_rank_coll *colls; /* by call */
	size_t coll_count, coll_cap;
	struct ut_rank_open *opens; /* by call */
	size_t open_count, open_cap;
	struct ut_rank_post *posts; /* by call; none unless something is open */
	size_t post_count, post_cap;
	struct ut_rank_made *made;
	size_t made_count, made_cap;
	/* Where its main thread was in the end: the innermost task that had not ended. */
	uint32_t in_task; /* 0 = none */
	uint64_t in_since;
	/* What was open beside it: an overlapped task or a frame, or one of another thread. */
	uint32_t beside; /* string; 0 = none */
	uint64_t beside_since;
	uint64_t end;   /* the last sign of life of its threads that are read */
	bool end_known; /* that it is when its process ended */
	uint32_t ended; /* string: how its process ended, if not as it should */
	bool left;      /* it ended with status 0, but without MPI_Finalize */
	bool lossy;     /* records of its trace are lost */
	/* What was measured against the clock of another host while it ran. */
	uint32_t clock_id, reference;  /* strings: names of the two clocks; 0 = unknown */
	struct ut_time_knot *measured; /* by at; error is that of each */
	size_t measured_count, measured_cap;
};

/* A clock that ranks have in common: of a host, or of a file that was merged before. */
struct ut_rank_clock {
	uint32_t host; /* string; 0 = several */
	uint32_t ranks;
	struct ut_time_map map; /* onto that of the root */
	int64_t apart;          /* by how much its wall clock was wrong against the root's, ns */
	uint64_t evidence, measured;
	bool root, proven, contrary;
};

/* A collective call of all its members. */
struct ut_rank_meeting {
	uint64_t first, last; /* when the first and the last one came */
	uint64_t end;         /* when the last one left */
	uint32_t last_rank;   /* index */
	uint32_t root;        /* index; UT_RANK_NOBODY = none, or not recorded */
	int32_t root_said;    /* of the world */
	uint64_t root_came;
	uint32_t members;
	uint32_t absent; /* index of a rank that never came; UT_RANK_NOBODY = none, or not here */
	bool open;       /* somebody has not left it */
	bool mixed;      /* not all of them have made the same call */
	uint32_t name, group;
	uint64_t bytes; /* the most that one of them sent or received */
	uint64_t ideal; /* of ranks_pop.h */
	uint64_t ideal_root;
};

/* A rank that has made no call; where it was in the end. */
struct ut_rank_silent {
	int32_t rank;
	uint32_t task; /* string; 0 = in none */
	uint64_t time; /* ns in it */
};

struct ut_ranks {
	struct ut_arena arena;
	struct ut_strtab strings;
	struct ut_rank *items; /* by rank once settled */
	size_t count, cap;
	struct ut_rank_meeting *meetings;
	size_t meeting_count, meeting_cap;
	struct ut_rank_clock *clocks; /* once settled; none if all have one */
	size_t clock_count;
	struct ut_rank_silent *silent;
	size_t silent_count, silent_cap;
	bool thin;               /* ut_ranks_thin() was here */
	uint32_t origins;        /* stores that were added */
	int64_t world;           /* ranks that the job says it has; 0 = unknown */
	uint64_t start, stop;    /* of all ranks */
	uint64_t messages;       /* with both ends */
	uint64_t single;         /* with one */
	uint64_t backwards;      /* that arrive before they were sent */
	uint64_t most_backwards; /* ns */
};

void ut_ranks_init(struct ut_ranks *r);
void ut_ranks_release(struct ut_ranks *r);

bool ut_ranks_any(const struct ut_store *store); /* are there calls? A look at its types only */

/* All processes of a store that have made calls. */
int ut_ranks_add(struct ut_ranks *r, const struct ut_store *store,
		 struct ut_err *err) UT_MUST_CHECK;

/* A new rank at the end. */
struct ut_rank *ut_ranks_new(struct ut_ranks *r, int32_t rank);
/* The same of one without calls, to be filled in. */
struct ut_rank_silent *ut_ranks_add_silent(struct ut_ranks *r);

/*
 * Joins what was added. -EEXIST: a rank is there twice; -ENODATA: there is no call at all.
 * threads: to sort with.
 */
int ut_ranks_finalize(struct ut_ranks *r, size_t threads, struct ut_err *err) UT_MUST_CHECK;

/*
 * Only what clocks can be found by stays of the ranks from this index on, and no more than about
 * budget pieces of each; all ranks of a job keep the same ones. They cannot be settled any more.
 */
void ut_ranks_thin(struct ut_ranks *r, size_t from, size_t budget);

/* Fills in clocks, and counts messages that run backwards on them; moves nothing. */
void ut_ranks_find_clocks(struct ut_ranks *r, size_t threads);

static inline const struct ut_rank_shape *ut_rank_shape(const struct ut_rank *one,
							const struct ut_rank_call *c)
{
	return &one->shapes[c->shape];
}

/* Has every rank left its calls, and tasks or MPI, and did its process end as it should? */
bool ut_ranks_ended(const struct ut_ranks *r);

/* What is known of a call that has not ended; NULL: it has. */
const struct ut_rank_open *ut_rank_open(const struct ut_rank *one, uint32_t call);

static inline const struct ut_rank_more *ut_rank_more(const struct ut_rank *one,
						      const struct ut_rank_call *c)
{
	return c->more ? &one->mores[c->more - 1] : &ut_rank_no_more;
}

#endif
