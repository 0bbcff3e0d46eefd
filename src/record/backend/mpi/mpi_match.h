/*
 * mpi_match.h - which message a receive got: its number in its channel (channel.h).
 *
 * MPI matches the messages of a channel with the receives that fit it in the order in which these
 * were posted, whatever the order in which the program asks for them. So a receive that names
 * source and tag has its number when it is posted. One with a wildcard has it when it is complete
 * and all posted before it that fit the same message are known; until then those behind it that it
 * may have kept from a message wait, too. A later one that is complete proves that the earlier ones
 * have been matched, so waiting always ends when the program has asked for all.
 *
 * Threads: with MPI_THREAD_MULTIPLE a queue with wildcards is held for some tens of nanoseconds,
 * as the MPI library holds itself in the same calls. Without wildcards nothing is held.
 */
#ifndef UT_BACKEND_MPI_MPI_MATCH_H
#define UT_BACKEND_MPI_MPI_MATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UT_MPI_ANY INT32_MIN /* source or tag, whichever number this MPI has for it */

struct ut_mpi_pending;

/* The receives of one communicator. Zeroed with comm set = nothing is posted. */
struct ut_mpi_queue {
	uint64_t comm; /* first part of channels' keys */
	bool shared;   /* threads may post at once */
	atomic_flag held;
	struct ut_mpi_pending *_Atomic first;
	struct ut_mpi_pending *last, *spare;
	uint32_t waiting; /* pending ones that could have a number but for an earlier one */
};

/* One receive that is posted. */
struct ut_mpi_ticket {
	struct ut_mpi_queue *queue;
	struct ut_mpi_pending *pending; /* NULL: it has its number, or gets it when it is done */
	uint64_t number;                /* UT_MPI_NO_NUMBER: none yet, or never */
	int32_t source, tag;
};

/* A receive that is complete has its number: told at once, or when an earlier one is known. */
struct ut_mpi_matched {
	uint64_t comm; /* of the queue */
	int32_t source, tag;
	uint64_t number; /* UT_MPI_NO_NUMBER: nobody will know */
	uint64_t correlation;
	const void *context;
	void *call; /* that asked for it, while it lasts; NULL when it is told of later */
};

typedef void ut_mpi_deliver_fn(const struct ut_mpi_matched *m);

/*
 * blocking: nobody else posts before it is complete. source or tag may be UT_MPI_ANY.
 */
void ut_mpi_match_post(struct ut_mpi_queue *q, int32_t source, int32_t tag, bool blocking,
		       struct ut_mpi_ticket *ticket);

/*
 * The number of the message that a receive of this source and tag would get if it were posted now;
 * UT_MPI_NO_NUMBER if one with a wildcard that was posted before may get it.
 */
uint64_t ut_mpi_match_peek(struct ut_mpi_queue *q, int32_t source, int32_t tag);

/*
 * It is complete, m says with what; m->number is filled in. deliver is called for it and for those
 * that have waited for it; the ticket is used up. True if its own was among them: otherwise it is
 * delivered later, by another call.
 */
bool ut_mpi_match_done(struct ut_mpi_ticket *ticket, struct ut_mpi_matched *m,
		       ut_mpi_deliver_fn *deliver);

/*
 * It was cancelled, or nobody will ever know what it got. Returns the number that it had: of the
 * tickets of that channel those with higher ones are to be lowered; UT_MPI_NO_NUMBER = none.
 */
uint64_t ut_mpi_match_undo(struct ut_mpi_ticket *ticket, ut_mpi_deliver_fn *deliver);

/* May its message be told of only later? Such a call needs a number of its own. */
static inline bool ut_mpi_match_may_wait(const struct ut_mpi_ticket *ticket)
{
	return ticket->pending != NULL;
}

/* The communicator is gone: what was posted is forgotten. */
void ut_mpi_match_reset(struct ut_mpi_queue *q);

/* How many receives had no room and therefore no number. */
uint64_t ut_mpi_match_lost(void);

#endif
