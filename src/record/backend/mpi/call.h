/*
 * call.h - one call of the program's while it is under way, and what it says about itself.
 *
 * before: what has to be known before MPI has changed it; then the call is begun; MPI does it;
 * after: what came of it; then it is ended with its facts. All on the stack of the caller.
 */
#ifndef UT_BACKEND_MPI_CALL_H
#define UT_BACKEND_MPI_CALL_H

#include <stddef.h>

#include "backend/mpi/channel.h"
#include "backend/mpi/comm.h"
#include "backend/mpi/mpi.h"
#include "backend/mpi/mpi_match.h"

#define UT_MPI_FACTS       24u
#define UT_MPI_OTHER_FACTS 12u /* of them are kept for what are no messages */
#define UT_MPI_FEW         8u  /* requests for which there is room on the stack */

enum ut_mpi_op_kind {
	UT_MPI_OP_NONE,
	UT_MPI_OP_SEND,
	UT_MPI_OP_RECEIVE,
	UT_MPI_OP_MATCHED, /* a receive of a message that was probed for */
	UT_MPI_OP_COLLECTIVE,
	UT_MPI_OP_PART_SEND,
	UT_MPI_OP_PART_RECEIVE,
	UT_MPI_OP_FILE,
	UT_MPI_OP_ONE_SIDED,
};

/* What a request or a message stands for. */
struct ut_mpi_op {
	uint8_t kind; /* enum ut_mpi_op_kind */
	bool persistent, active, cancelled;
	bool neighbours; /* a collective call of neighbours only */
	uint16_t call;   /* enum ut_mpi_id that made it */
	int32_t peer, tag;
	struct ut_mpi_group *group;
	struct ut_mpi_ticket ticket; /* of a receive */
	uint64_t number; /* of the message, the collective call or, of a send, the request */
	uint64_t starts; /* of a partitioned one */
	int32_t parts;   /* of a partitioned one */
	int64_t bytes, received; /* what it moves, as far as that is known beforehand */
};

/* The same in the table of requests. */
struct ut_mpi_request {
	struct ut_handle_item item;
	_Atomic uint32_t serial; /* changes with every new owner of the handle */
	_Atomic int32_t ready;   /* parts that are, since it was started */
	struct ut_mpi_op op;
};

/* A request that a call looks at, as it was before the call. */
struct ut_mpi_seen {
	struct ut_mpi_request *request;
	uint32_t serial;
	struct ut_mpi_op op;
};

/* One end of a message of this communicator, from and to being ranks in it. */
struct ut_mpi_ends {
	uint64_t comm; /* id */
	int32_t from, to, tag;
	uint64_t number;
};

struct ut_mpi_call {
	uint16_t id; /* enum ut_mpi_id */
	uint16_t fact_count;
	uint16_t begun_facts; /* of the facts: those that the record of its begin has */
	bool begun;
	bool poll;        /* it only asks whether something has happened */
	bool probes;      /* a poll, for a message of op.peer and op.tag on comm */
	bool neighbours;  /* a collective call of neighbours only */
	bool to_somebody; /* it sends; the message is told when it is over */
	uint64_t start;   /* of a poll */
	ut_mpi_word comm; /* of a poll that probes */
	uint64_t correlation;
	struct ut_mpi_group *group;
	struct ut_mpi_op op;
	struct ut_mpi_ends sent;
	uint64_t seq;
	/* what came */
	int32_t from, from_tag;
	uint32_t messages;
	uint64_t received;
	struct ut_mpi_group *from_group;
	/* sends that are complete: how many, the least and the greatest number of their requests */
	uint32_t sends;
	uint64_t first_request, last_request;
	/* statuses and requests that it looks at */
	ut_mpi_word status;
	size_t count;
	struct ut_mpi_seen *seen;
	struct ut_mpi_seen few[UT_MPI_FEW];
	_Alignas(8) char own[UT_MPI_FEW * UT_MPI_STATUS_BYTES];
	struct ut_fact facts[UT_MPI_FACTS];
};

/* Where a call of this thread is, so that calls from inside of it are told from later ones. */
struct ut_mpi_thread {
	const char *frame; /* of the outermost call; NULL = none */
	/* tests and probes, one after the other, that all have failed; the last of them */
	uint16_t poll_id;
	uint64_t polls, poll_end, polling; /* how many, when the last one was, ns in all */
	uint64_t poll_start;               /* when the first was */
	bool polls_reported;               /* others before them are recorded already */
	uint64_t cpu, cpu_at; /* CPU time of the thread at a time in between; 0 = not asked yet */
	/* memory for calls with many requests; grows, never given back */
	char *spare;
	size_t spare_size;
};

extern _Thread_local struct ut_mpi_thread ut_mpi_me;

/* Polls that have failed become one record, as another call begins. */
void ut_mpi_polls_end(void);

/*
 * May this call be recorded? False inside another one, and while MPI is not up. A frame that is not
 * below that of the call under way proves that the program has left that one by a jump.
 */
static inline bool ut_mpi_enter(struct ut_mpi_call *c, enum ut_mpi_id id, const char *frame,
				const void *from)
{
	struct ut_mpi_thread *t = &ut_mpi_me;

	if (t->frame && frame < t->frame)
		return false;
	t->frame = frame;
	if (UT_UNLIKELY(atomic_load_explicit(&ut_mpi_mood, memory_order_acquire) != UT_MPI_AWAKE) &&
	    !ut_mpi_wake(from)) {
		t->frame = NULL;
		return false;
	}
	c->id = (uint16_t)id;
	c->fact_count = c->begun_facts = 0;
	c->begun = c->poll = c->probes = c->neighbours = c->to_somebody = false;
	c->correlation = 0;
	c->messages = 0;
	c->received = 0;
	c->sends = 0;
	c->count = 0;
	c->group = NULL;
	c->op.kind = UT_MPI_OP_NONE;
	return true;
}

/*
 * The call's record begins; with its number, if it needs one (set before), and the facts that are
 * known by now: all that there is to read about a call that never ends.
 */
static inline void ut_mpi_begin(struct ut_mpi_call *c)
{
	if (UT_UNLIKELY(ut_mpi_me.polls || ut_mpi_me.polls_reported))
		ut_mpi_polls_end();
	c->begun = true;
	c->begun_facts = c->fact_count;
	ut_mpi.host->call_begin_with(ut_mpi.api, ut_mpi.names[c->id], c->correlation, c->facts,
				     c->fact_count);
}

/* A call that only asks: hit tells whether it was so. */
void ut_mpi_poll_begin(struct ut_mpi_call *c);
void ut_mpi_poll_end(struct ut_mpi_call *c, int code, bool hit);

void ut_mpi_leave(struct ut_mpi_call *c, int code);

/* MPI_Init: MPI is up when it returns, not before. */
void ut_mpi_init_begin(enum ut_mpi_id id);
void ut_mpi_init_end(struct ut_mpi_call *c, enum ut_mpi_id id, int code, const void *from);
/* MPI_Finalize is about to go on to the library. */
void ut_mpi_finalize(struct ut_mpi_call *c);

/* Numbers by which messages are bound to calls that are told of later. */
uint64_t ut_mpi_correlation(void);

/* Bytes of count elements. */
int64_t ut_mpi_bytes(int64_t count, ut_mpi_word type);
/* Types may get new sizes: one was freed. */
void ut_mpi_types_change(void);
/* What a receive has brought. */
int64_t ut_mpi_status_bytes(ut_mpi_word status);

#endif
