/*
 * request.h - what requests and probed messages stand for, and what happens when they complete.
 */
#ifndef UT_BACKEND_MPI_REQUEST_H
#define UT_BACKEND_MPI_REQUEST_H

#include "backend/mpi/call.h"

/* Before all others. */
void ut_mpi_requests_init(void);

/* The handle stands for op now. */
void ut_mpi_request_new(ut_mpi_word handle, const struct ut_mpi_op *op);
/* NULL if nothing is known about it. */
struct ut_mpi_request *ut_mpi_request_find(ut_mpi_word handle);

/* The same for messages of MPI_Mprobe(); take gives UT_MPI_OP_NONE where there is none. */
void ut_mpi_message_new(ut_mpi_word handle, const struct ut_mpi_op *op);
void ut_mpi_message_take(ut_mpi_word handle, struct ut_mpi_op *op);

/* A receive is complete: its message is told, and what came is noted in the call. */
void ut_mpi_take(struct ut_mpi_call *c, struct ut_mpi_op *op, ut_mpi_word status);
/* The facts about all that came. */
void ut_mpi_receive_facts(struct ut_mpi_call *c);

void ut_mpi_deliver(const struct ut_mpi_matched *m);

/* The number that its arrow has; UT_MPI_NO_NUMBER must be no number of e. */
uint64_t ut_mpi_message_number(const struct ut_mpi_ends *e);

/* c: the call that it belongs to; NULL = that with this correlation, which has ended. */
void ut_mpi_message(struct ut_mpi_call *c, enum ut_message_end end, const struct ut_mpi_ends *ends,
		    uint64_t correlation);

/* The ends of the next message of a partitioned request. */
void ut_mpi_part_ends(enum ut_message_end end, const struct ut_mpi_op *op,
		      struct ut_mpi_ends *ends);
/* One end of what a partitioned request has moved since it was started. */
void ut_mpi_part_message(struct ut_mpi_call *c, enum ut_message_end end, struct ut_mpi_op *op);

#endif
