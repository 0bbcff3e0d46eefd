/*
 * ranks_coll.h - collective operations of a job, by library, kind, group and size: how fast they
 * are, how much of them nothing was computed in, and who comes last.
 */
#ifndef UT_RANKS_RANKS_COLL_H
#define UT_RANKS_RANKS_COLL_H

#include "ranks/coll_kind.h"
#include "ranks/ranks.h"

/*
 * Sizes are those of nccl-tests: the buffer that is reduced or sent, of a gather or scatter of any
 * sort the whole of it, as the rank has it that has most. Those of a row are alike: less than twice
 * as large.
 */
struct ut_rank_by_coll {
	uint32_t library, comm; /* strings */
	uint32_t ranks;         /* that take part; 0 = unknown */
	uint8_t kind;           /* enum ut_coll_kind */
	uint64_t count;
	uint64_t unfinished; /* that never ended: they count in nothing but spent, exposed and wait
			      */
	uint64_t bytes;
	/* Of the operations themselves, without waiting: of each the rank counts that came last,
	 * or, if there is a root, the time from when all were there until the last one left. */
	uint64_t time;
	uint64_t sized;   /* the part of it whose size is known */
	uint64_t spent;   /* of all ranks, waiting included */
	uint64_t exposed; /* the part of it in which its rank computed nothing */
	uint64_t wait;    /* of all ranks for those that came later */
	uint32_t late;    /* index of the rank most of it was for; UT_RANK_NOBODY = none */
	uint64_t late_wait;
	uint64_t late_times; /* how often it came last */
};

struct ut_rank_colls {
	struct ut_rank_by_coll *rows; /* most time spent first */
	size_t count, cap;
	bool others; /* there are some of other libraries than MPI */
};

void ut_ranks_colls(struct ut_ranks *r, struct ut_rank_colls *colls);
void ut_rank_colls_release(struct ut_rank_colls *colls);

/* GB/s, as nccl-tests count them; 0 = not known. */
double ut_rank_coll_algorithm(const struct ut_rank_by_coll *row);
double ut_rank_coll_bus(const struct ut_rank_by_coll *row);

#endif
