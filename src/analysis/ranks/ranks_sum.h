/*
 * ranks_sum.h - sums of what ranks did and waited for, once they are settled.
 *
 * Times of a rank are those of its main thread between MPI_Init and MPI_Finalize: useful is what
 * lies outside of all calls. Whom a wait is blamed on is found by ranks_blame.h.
 */
#ifndef UT_RANKS_RANKS_SUM_H
#define UT_RANKS_RANKS_SUM_H

#include "base/hashtab.h"
#include "ranks/ranks.h"
#include "ranks/ranks_blame.h"

#define UT_RANK_KEYS_RECENT 16

/* Rows known by a few numbers. {0} is empty. */
struct ut_rank_keys {
	struct ut_hashtab lookup;
	uint32_t (*items)[4];
	size_t count, cap;
	uint32_t recent[UT_RANK_KEYS_RECENT]; /* rows asked for lately, plus 1 */
};

/* The index of the row of these; count has grown by one if it is new. */
size_t ut_rank_keys_row(struct ut_rank_keys *k, uint32_t a, uint32_t b, uint32_t c, uint32_t d);
/* SIZE_MAX: there is none. */
size_t ut_rank_keys_find(const struct ut_rank_keys *k, uint32_t a, uint32_t b, uint32_t c,
			 uint32_t d);
void ut_rank_keys_release(struct ut_rank_keys *k);

/* Of one rank. */
struct ut_rank_sum {
	uint64_t total, useful, in_calls;
	uint64_t wait[UT_RANK_WHYS]; /* [0]: all of them */
	uint64_t transfer;           /* the rest of calls that communicate */
	uint64_t file;               /* the rest of calls about files */
	uint64_t idle;               /* in calls, as MPI itself says */
	uint64_t caused;             /* that others waited because of it */
	uint64_t indirect;           /* of that, where somebody else was waited for */
	uint32_t waiters;            /* ranks that waited because of it */
	uint32_t blamed_task;        /* in which most of that was; 0 = in none */
	uint64_t blamed;
	uint64_t calls, messages, sent, received;
	uint64_t written, read; /* bytes, of files */
};

/* Of one name of calls. */
struct ut_rank_by_call {
	uint32_t name;
	uint64_t count, time, wait, transfer, sent, received;
	uint64_t file, written, read;
	uint64_t most; /* time of the rank with the most of it */
	uint32_t most_rank;
	uint32_t found; /* as the how many-th, from 0 */
};

/* Of one task; task 0 is what lies in none. */
struct ut_rank_by_task {
	uint32_t task;
	uint64_t useful; /* outside of calls, of all ranks */
	uint64_t most;
	uint32_t most_rank;
	uint32_t ranks; /* that have it */
	uint32_t found;
	uint64_t in_calls, wait;
	uint64_t caused; /* that others waited because of it */
};

/* What was waited for. */
struct ut_rank_wait {
	uint32_t rank; /* index: whose fault it was */
	uint32_t task; /* that it took longer for; 0 = no task, UT_RANK_IN_CALL */
	uint32_t why, call;
	uint64_t time, times;
	uint64_t indirect; /* of the time: somebody else was waited for, who waited as well */
	uint32_t waiters;  /* ranks that waited */
	uint32_t found;
	/* where it can be seen best: the longest of them */
	uint64_t longest;
	uint32_t longest_rank; /* index: who waited */
	uint64_t begin, end;   /* of its call */
};

/* What went from one rank to another. */
struct ut_rank_pair {
	int32_t from, to; /* ranks of the world */
	uint64_t messages, bytes;
	uint64_t time; /* from when both ends were there to the end */
	uint64_t wait; /* of one of them for the other */
};

struct ut_rank_sums {
	struct ut_rank_sum *ranks; /* as in struct ut_ranks */
	struct ut_rank_sum all;    /* of all ranks; total is their sum */
	struct ut_rank_by_call *calls;
	size_t call_count;
	struct ut_rank_by_task *tasks;
	size_t task_count;
	struct ut_rank_wait *waits; /* the longest first */
	size_t wait_count;
	struct ut_rank_pair *pairs; /* by from and to */
	size_t pair_count;
};

void ut_ranks_sum(const struct ut_ranks *r, struct ut_rank_sums *s);
void ut_rank_sums_release(struct ut_rank_sums *s);

/* A piece of the main thread's time: in a task, outside of calls, or in a call. */
struct ut_rank_piece {
	uint64_t begin, end;
	uint32_t task;
	const struct ut_rank_call *call; /* NULL: outside */
};

typedef void ut_rank_piece_fn(void *ctx, const struct ut_rank_piece *piece);

/* All pieces of a rank between two times, in order. */
void ut_rank_walk(const struct ut_rank *r, uint64_t from, uint64_t to, ut_rank_piece_fn *fn,
		  void *ctx);

/* How many calls begin, and how many shifts are, before a time. */
struct ut_rank_place {
	size_t call, shift;
};

/* near: where we were last; anything is right, but what is close is found sooner. */
void ut_rank_seek(const struct ut_rank *r, uint64_t time, struct ut_rank_place *near);
void ut_rank_walk_near(const struct ut_rank *r, struct ut_rank_place near, uint64_t from,
		       uint64_t to, ut_rank_piece_fn *fn, void *ctx);

#endif
