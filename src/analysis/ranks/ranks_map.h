/*
 * ranks_map.h - what pictures of a job are made of: the time of ranks along the run, and who waits
 * for whom. Ranks of a large job are taken together, neighbours with neighbours, so that a picture
 * has a bounded number of places; sums stay those of all of them.
 */
#ifndef UT_RANKS_RANKS_MAP_H
#define UT_RANKS_RANKS_MAP_H

#include "ranks/ranks_sum.h"

/* What the time of a rank is spent on: as in the table of ranks, and the rest of its calls. */
enum ut_rank_spent {
	UT_RANK_USEFUL,
	UT_RANK_WAITING,
	UT_RANK_TRANSFER,
	UT_RANK_OTHER_CALLS,
	UT_RANK_SPENT
};

/* Times of places along the run, which is cut into pieces of equal length. */
struct ut_rank_course {
	uint64_t from, to;
	size_t pieces, places;
	uint32_t each;                 /* ranks of a place; the last one may have fewer */
	uint64_t *time[UT_RANK_SPENT]; /* [place * pieces + piece]: ns of all its ranks */
	/* Of each piece: useful time of the ranks; who had the most. */
	uint64_t *least, *most;
	double *mean;
	uint32_t *most_rank; /* index */
};

void ut_ranks_course(const struct ut_ranks *r, size_t pieces, size_t most_places,
		     struct ut_rank_course *c);
void ut_rank_course_release(struct ut_rank_course *c);

static inline uint64_t ut_rank_course_edge(const struct ut_rank_course *c, size_t piece)
{
	return c->from + (uint64_t)((long double)(c->to - c->from) * (long double)piece /
				    (long double)c->pieces);
}

/* What places do to each other. */
struct ut_rank_field {
	uint32_t from, to; /* places: who sends and receives; who is waited for, and who waits */
	uint64_t messages, bytes;
	uint64_t wait;    /* of receivers for senders, as in the matrix */
	uint64_t waiting; /* in all calls, collective ones as well */
	/* the longest of these waits: who, when */
	uint64_t longest, begin, end;
	uint32_t waiter, waited_for; /* indices */
};

struct ut_rank_map {
	uint32_t each;
	size_t places;
	struct ut_rank_field *fields; /* those with something in them, by from and to */
	size_t count, cap;
};

void ut_ranks_map(const struct ut_ranks *r, const struct ut_rank_sums *s, size_t most_places,
		  struct ut_rank_map *m);
void ut_rank_map_release(struct ut_rank_map *m);

#endif
