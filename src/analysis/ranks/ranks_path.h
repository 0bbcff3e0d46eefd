/*
 * ranks_path.h - the critical path: what the run had to wait for, from its end back to its begin.
 *
 * From the rank that ended last, back in time. Where that rank waited for another, the path goes on
 * there. It is as long as the run: none of it can be left out without making the run shorter, while
 * what is not on it could have taken longer.
 *
 * And steps: a task that is in no other and comes equally often in all ranks is a step of the
 * program; each has the rank that most of the path was on.
 */
#ifndef UT_RANKS_RANKS_PATH_H
#define UT_RANKS_RANKS_PATH_H

#include "ranks/ranks_sum.h"

/* A stretch of the path on one rank. */
struct ut_rank_stretch {
	uint64_t begin, end;
	uint32_t rank; /* index */
};

struct ut_rank_on_path {
	uint32_t rank, task; /* index; task, or UT_RANK_IN_CALL */
	uint64_t time;
	uint32_t found; /* as the how many-th */
};

struct ut_rank_step {
	uint64_t begin, end;        /* of the first and the last rank */
	uint64_t shortest, longest; /* of a rank */
	uint32_t slowest;           /* index of the rank that took longest */
	uint32_t critical;          /* index of the rank with most of the path */
	uint64_t on_path;           /* how much of it */
	uint32_t task;              /* what that was in, mostly */
	uint64_t wait;              /* of all ranks, in calls that begin in it */
};

struct ut_rank_path {
	struct ut_rank_stretch *stretches; /* by time */
	size_t stretch_count, stretch_cap;
	struct ut_rank_on_path *parts; /* the longest first */
	size_t part_count, part_cap;
	uint64_t *of_rank;  /* time on it, of each rank */
	uint32_t critical;  /* index of the rank with most of it */
	uint32_t step_task; /* 0 = no task comes equally often everywhere */
	struct ut_rank_step *steps;
	size_t step_count;
};

/* step: the name of the task that makes steps; empty: find one. */
void ut_ranks_path(const struct ut_ranks *r, struct ut_str step, struct ut_rank_path *path);
void ut_rank_path_release(struct ut_rank_path *path);

#endif
