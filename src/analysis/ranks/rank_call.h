/*
 * rank_call.h - one call of a rank, in as few bytes as can be: there are millions of them in each
 * rank, and the critical path goes back through all. Most calls of a rank are like others of it
 * but for their times, so what they have in common is kept once (a shape); what only some calls
 * have, which meet others or wait for them, lies in a list of its own (more).
 *
 * Owner: struct ut_rank, whose calls, shapes, mores and ends these are.
 */
#ifndef UT_RANKS_RANK_CALL_H
#define UT_RANKS_RANK_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hashtab.h"

struct ut_rank;

/* Why a call waited. */
#define UT_RANK_WHY_LIST(X)                                                                        \
	X(NOTHING, "-")                                                                            \
	X(LATE_SENDER, "late sender")                                                              \
	X(LATE_RECEIVER, "late receiver")                                                          \
	X(COLLECTIVE, "late to collective")                                                        \
	X(LATE_TARGET, "late target")                                                              \
	X(LATE_ORIGIN, "late origin")                                                              \
	X(LOCKED, "lock held")

enum ut_rank_why {
#define UT_RANK_WHY_ENUM(why, text) UT_RANK_##why,
	UT_RANK_WHY_LIST(UT_RANK_WHY_ENUM)
#undef UT_RANK_WHY_ENUM
	UT_RANK_WHYS
};

extern const char *const ut_rank_why_words[UT_RANK_WHYS];

#define UT_RANK_NOBODY UINT32_MAX
#define UT_RANK_MOST   ((UINT32_C(1) << 29) - 1) /* ranks */
#define UT_RANK_ABSENT UT_RANK_MOST              /* is waited for, but nobody that is here */

struct ut_rank_call {
	uint64_t begin, end; /* ns, on the common clock once settled */
	uint32_t shape;      /* index */
	uint32_t more;       /* index + 1; 0 = nothing more */
};

/* What calls have in common. Strings are those of struct ut_ranks. No bytes between members. */
struct ut_rank_shape {
	uint64_t sent, received;
	uint32_t name;  /* "MPI_Allreduce" */
	uint32_t group; /* communicator, window or file; 0 = none */
	uint32_t task;  /* of the program's own: the innermost around it; 0 = none */
	int32_t to;     /* rank that it sends to; -1 = none */
	int32_t root;   /* -1 = none; of a lock: 1 = it is exclusive */
	uint8_t use;    /* enum ut_rank_use */
	uint8_t meets;  /* the same, of the collective call that it is, begins or waits for */
	bool side;      /* inside another call, or not on the main thread */
	bool firm;      /* nobody can leave it before those have come that it needs */
};

_Static_assert(sizeof(struct ut_rank_shape) == 40, "shapes are compared byte by byte");

/* What a call that meets others or waits for them has beside. */
struct ut_rank_more {
	uint64_t seq;             /* of a collective call, in its group; 0 = it is none */
	uint64_t wait;            /* ns, from its begin on */
	uint32_t link;            /* once settled, of a collective call: its number, plus 1 */
	uint32_t why : 3;         /* enum ut_rank_why */
	uint32_t waited_for : 29; /* index of the rank, if it waited */
};

/*
 * What else calls have to do with messages or with each other. They are joined as the ends of
 * messages are, but nothing is moved by them, and clocks are not found by them.
 */
enum ut_rank_soft {
	UT_RANK_NOT_SOFT,
	UT_RANK_FOUND,  /* a probe found this message */
	UT_RANK_POSTED, /* a receive was posted that gets this message */
	UT_RANK_READY,  /* the last part of it was made ready */
	UT_RANK_TOKEN, /* of an epoch of a window, or between neighbours: one waits for the other */
	UT_RANK_DONE,  /* a send is complete: partner_call is the call of ours that began it */
	UT_RANK_SOFTS
};

/* One end of a message. */
struct ut_rank_end {
	union {
		uint64_t id; /* until it is settled */
		struct {
			uint32_t partner; /* index of the rank; UT_RANK_NOBODY = not found */
			uint32_t partner_call;
		};
	};
	uint32_t call; /* index */
	bool received;
	bool finalized; /* which of the two is there */
	uint8_t soft;   /* enum ut_rank_soft */
};

/* A call as it is found, before it is put away. */
struct ut_rank_found {
	uint64_t begin, end;
	uint64_t seq;
	struct ut_rank_shape shape;
	/* what it has to do with other calls: 0 = nothing */
	uint64_t message;
	bool is_part; /* of it: that is ready */
	uint64_t request, last_request;
	uint32_t ranks, sources, destinations; /* strings: "0,2,5" */
	bool pending;                          /* tests that have failed, so far */
};

/* The shapes that a rank has already; {0} knows none. */
#define UT_RANK_RECENT 64u

struct ut_rank_shaper {
	struct ut_hashtab lookup;
	uint32_t recent[UT_RANK_RECENT]; /* number + 1 */
};

/* At the end of the rank's calls. */
void ut_rank_put_call(struct ut_rank *one, struct ut_rank_shaper *shaper,
		      const struct ut_rank_found *found);
/* The call is inside of another one. */
void ut_rank_make_side(struct ut_rank *one, struct ut_rank_shaper *shaper, uint32_t call);
/*
 * The call that is put next has not ended; from: the rank that it receives from, or -1; peers: of
 * a window, a string, or 0.
 */
void ut_rank_put_open(struct ut_rank *one, int32_t from, uint32_t peers);
void ut_rank_shaper_release(struct ut_rank_shaper *shaper);

/* What a call has beside, to be written to; the next one may move it. */
struct ut_rank_more *ut_rank_more_of(struct ut_rank *one, uint32_t call);

extern const struct ut_rank_more ut_rank_no_more;

static inline uint64_t ut_rank_time(const struct ut_rank_call *c)
{
	return c->end - c->begin;
}

/*
 * A collective operation of another library than MPI. It may run beside what the rank computes:
 * its call begins where nothing is computed any more, or is a side call if that never was.
 */
struct ut_rank_coll {
	uint64_t came;    /* ns: it began; it ends with its call */
	uint64_t exposed; /* ns of it in which nothing was computed */
	uint32_t call;    /* index */
	uint32_t library; /* strings */
	uint32_t comm;
	uint32_t size; /* ranks that take part; 0 = unknown */
};

/* A call that had not ended when the recording of its process did. */
struct ut_rank_open {
	uint32_t call;  /* index */
	int32_t from;   /* rank that it receives from; -1 = none, or any */
	uint32_t peers; /* string: "0,2", of a window that was opened by these, or to them */
};

/*
 * A send or receive that was begun before a call that has not ended, and that this call may wait
 * for.
 */
struct ut_rank_post {
	uint32_t call; /* index */
	int32_t peer;
};

#endif
