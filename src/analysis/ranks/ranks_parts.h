/*
 * ranks_parts.h - what the files of this room tell each other.
 */
#ifndef UT_RANKS_RANKS_PARTS_H
#define UT_RANKS_RANKS_PARTS_H

#include "ranks/ranks.h"

/* By rank, then as they were added. */
void ut_ranks_sort(struct ut_ranks *r);

/* The index of a rank of the world; UT_RANK_NOBODY if it is not there. Ranks are in order. */
uint32_t ut_ranks_find(const struct ut_ranks *r, int32_t rank);

/* What is known about a message or a collective call, in one rank: ranks_mark.c. */
enum ut_rank_mark_kind {
	UT_RANK_MARK_SENT,
	UT_RANK_MARK_RECEIVED,
	UT_RANK_MARK_SOFT,   /* knows something about the message before it, or about another one */
	UT_RANK_MARK_MEMBER, /* comes to a collective call */
	UT_RANK_MARK_WAITER, /* waits for one that it began before */
};

struct ut_rank_mark {
	uint64_t id;
	uint32_t kind : 3; /* enum ut_rank_mark_kind */
	uint32_t rank : 29;
	uint32_t index; /* of ut_rank.ends, of messages; otherwise of ut_rank.calls */
};

static inline uint32_t ut_rank_mark_place(const struct ut_ranks *r, const struct ut_rank_mark *m)
{
	return m->kind >= UT_RANK_MARK_MEMBER ? m->index : r->items[m->rank].ends[m->index].call;
}

static inline struct ut_rank_call *ut_rank_mark_call(const struct ut_ranks *r,
						     const struct ut_rank_mark *m)
{
	return &r->items[m->rank].calls[ut_rank_mark_place(r, m)];
}

/* Those of one message or call stand together, by kind and rank. */
struct ut_rank_marks {
	struct ut_rank_mark *items;
	size_t count;
};

/*
 * Sorted; free(items). threads: to sort with. most: if there are more, about as many are chosen by
 * their numbers; 0 = all.
 */
void ut_ranks_mark(const struct ut_ranks *r, size_t threads, size_t most, struct ut_rank_marks *m);

/* All of them to join(), some at a time: those that it has settled do not come again. */
void ut_ranks_join_marks(struct ut_ranks *r, size_t threads,
			 void (*join)(struct ut_ranks *r, const struct ut_rank_marks *m));

/* How many marks from this one on are of the same. */
static inline size_t ut_rank_marks_alike(const struct ut_rank_marks *m, size_t i)
{
	size_t n = 1;

	while (i + n < m->count && m->items[i + n].id == m->items[i].id)
		n++;
	return n;
}

/* Are these the two ends of one message, perhaps with more that is known about it? */
static inline bool ut_rank_marks_are_message(const struct ut_rank_mark *marks, size_t count)
{
	return count >= 2 && marks[0].kind == UT_RANK_MARK_SENT &&
	       marks[1].kind == UT_RANK_MARK_RECEIVED &&
	       (count == 2 || marks[2].kind == UT_RANK_MARK_SOFT);
}

/* Brings all ranks onto one clock: ranks_clock.c. */
void ut_ranks_align(struct ut_ranks *r, size_t threads);
/* The number of a collective call, from 2^63 on: no message has it. */
uint64_t ut_rank_meeting_id(const struct ut_rank *one, const struct ut_rank_call *c);

/* What was measured about its host's clock, from the fact of a trace: ranks_measured.c. */
void ut_ranks_measured(struct ut_ranks *r, struct ut_rank *one, struct ut_str json);

/* The call of MPI_Finalize; NULL: it made none. */
const struct ut_rank_call *ut_rank_finalize(const struct ut_rank *one);
/* Was it in a task up to its end, which was not after MPI_Finalize? */
bool ut_rank_in_task(const struct ut_rank *one);

/* Is a span of this category and name what a library does, and no task of the program's? */
bool ut_rank_is_library(struct ut_str category, struct ut_str name);

/* By begin; ends and collective operations follow. */
void ut_rank_order_calls(struct ut_rank *r);

#define UT_RANK_ROWS 3

/*
 * What a rank (index) was in, from rows of the store: what the first of them says, where that is in
 * nothing the next. The first is a device's queue. UINT32_MAX: there is no such row. ranks_read.c
 */
void ut_ranks_read_tasks(struct ut_ranks *r, const struct ut_store *store, size_t rank,
			 const uint32_t rows[UT_RANK_ROWS]);

/*
 * Collective operations of other libraries than MPI, in ranks from this index on that the store has
 * given already, and in new ones: ranks_coll_read.c.
 */
void ut_ranks_add_colls(struct ut_ranks *r, const struct ut_store *store, size_t from);
/* Are there any? A look at types only. */
bool ut_ranks_any_colls(const struct ut_store *store);

/*
 * The numbers of some strings, which keys of arguments are; UINT32_MAX, which is no string's, where
 * there is none. Nothing is added: others may read the same store. ranks_walk.c
 */
void ut_rank_find_keys(const struct ut_strtab *strings, const char *const *texts, uint32_t *numbers,
		       size_t count);

/* When a rank came to a collective call: its begin, or before that. */
uint64_t ut_rank_came(const struct ut_rank *r, uint32_t call);

/* Ranks that come to MPI_Finalize within so many ns of each other end together. */
#define UT_RANK_TOGETHER 50000u

/* Who waited for whom, once ends and meetings are joined: ranks_wait.c. */
void ut_ranks_wait(struct ut_ranks *r);
/* The call waited until this time, because of that rank; the longest wait counts. */
void ut_rank_waited(struct ut_rank *one, uint32_t call, uint64_t until, uint32_t rank,
		    enum ut_rank_why why);
/*
 * When the rank came back into MPI, after it had been away for most of the time since begin; 0 = it
 * was there, or did not come before end: ranks_lock.c.
 */
uint64_t ut_rank_came_back(const struct ut_rank *one, uint64_t begin, uint64_t end);
/* Who waited for a target's memory: for its rank, or for one that had locked it: ranks_lock.c. */
void ut_ranks_wait_locks(struct ut_ranks *r);
/* Who has locked the target that a call which never ended waits for; UT_RANK_NOBODY: nobody known.
 */
uint32_t ut_ranks_lock_holder(const struct ut_ranks *r, uint32_t rank, uint32_t call);

#endif
