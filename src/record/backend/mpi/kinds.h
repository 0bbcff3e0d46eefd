/*
 * kinds.h - what the wrappers of api.def do before and after the calls of a kind: messages,
 * requests, collective calls, windows, files. What is known before goes with the begin of the call.
 */
#ifndef UT_BACKEND_MPI_KINDS_H
#define UT_BACKEND_MPI_KINDS_H

#include "backend/mpi/call.h"

/* The status that MPI writes to: the program's, or one of ours where it wants none. */
static inline ut_mpi_word ut_mpi_own_status(struct ut_mpi_call *c, ut_mpi_word status)
{
	c->status = status != ut_mpi_abi.ignore ? status : (ut_mpi_word)c->own;
	return c->status;
}

void ut_mpi_send(struct ut_mpi_call *c, ut_mpi_word comm, int32_t to, int32_t tag);
void ut_mpi_sent(struct ut_mpi_call *c, int64_t bytes);
/* It has a request: the call that completes it names it by the same number. */
void ut_mpi_send_asked(struct ut_mpi_call *c, ut_mpi_word request);
void ut_mpi_receive(struct ut_mpi_call *c, ut_mpi_word comm, int32_t from, int32_t tag,
		    bool blocking);
void ut_mpi_received(struct ut_mpi_call *c);
void ut_mpi_receive_asked(struct ut_mpi_call *c, int64_t bytes, ut_mpi_word request);
/* What is probed for, as far as that is said; what was found. */
void ut_mpi_probe(struct ut_mpi_call *c, ut_mpi_word comm, int32_t from, int32_t tag);
void ut_mpi_probed(struct ut_mpi_call *c, ut_mpi_word comm);
void ut_mpi_matched(struct ut_mpi_call *c, ut_mpi_word comm, ut_mpi_word message);
void ut_mpi_take_message(struct ut_mpi_call *c, ut_mpi_word message);
void ut_mpi_took_message(struct ut_mpi_call *c);
void ut_mpi_take_asked(struct ut_mpi_call *c, ut_mpi_word request);

/* Persistent and partitioned ones. */
void ut_mpi_prepared(struct ut_mpi_call *c, enum ut_mpi_op_kind kind, int64_t bytes,
		     ut_mpi_word request);
void ut_mpi_parts_prepared(struct ut_mpi_call *c, enum ut_mpi_op_kind kind, int32_t parts,
			   int64_t bytes, ut_mpi_word request);
void ut_mpi_prepare_peer(struct ut_mpi_call *c, ut_mpi_word comm, int32_t peer, int32_t tag);
void ut_mpi_start(struct ut_mpi_call *c, size_t count, ut_mpi_word requests);
void ut_mpi_part(struct ut_mpi_call *c, ut_mpi_word request);
/* So many parts are ready: with the last of them the message is on its way. */
void ut_mpi_ready(struct ut_mpi_call *c, ut_mpi_word request, int32_t parts);

/* Completion: all requests that the call may complete, and those that it did. */
ut_mpi_word ut_mpi_look(struct ut_mpi_call *c, int64_t count, ut_mpi_word requests,
			ut_mpi_word statuses);
void ut_mpi_complete(struct ut_mpi_call *c, size_t i, size_t status);
void ut_mpi_complete_all(struct ut_mpi_call *c);
void ut_mpi_complete_some(struct ut_mpi_call *c, ut_mpi_word count, ut_mpi_word indices);
void ut_mpi_completed(struct ut_mpi_call *c);
void ut_mpi_cancel(ut_mpi_word request);
void ut_mpi_forget(ut_mpi_word request);

/* Collective calls: the number before; bytes, and the request if there is one, after. */
void ut_mpi_collective(struct ut_mpi_call *c, enum ut_mpi_group_kind kind, ut_mpi_word handle);
void ut_mpi_collected(struct ut_mpi_call *c, int64_t sent, int64_t received);
void ut_mpi_collective_asked(struct ut_mpi_call *c, ut_mpi_word request);
void ut_mpi_prepare_collective(struct ut_mpi_call *c, ut_mpi_word comm);
void ut_mpi_collective_prepared(struct ut_mpi_call *c, int64_t sent, int64_t received,
				ut_mpi_word request);

/* Bytes of collective calls. wide: counts of 8 bytes. */
struct ut_mpi_counts {
	ut_mpi_word array;
	bool wide;
};

int64_t ut_mpi_array_bytes(struct ut_mpi_counts counts, int32_t n, ut_mpi_word type);
int64_t ut_mpi_types_bytes(struct ut_mpi_counts counts, int32_t n, ut_mpi_word types);
int64_t ut_mpi_own_bytes(const struct ut_mpi_group *g, struct ut_mpi_counts counts,
			 ut_mpi_word type);
bool ut_mpi_at_root(const struct ut_mpi_group *g, int32_t root);
bool ut_mpi_with_root(const struct ut_mpi_group *g, int32_t root);
void ut_mpi_root(struct ut_mpi_call *c, int32_t root);

/* What is made of a communicator by the collective call under way. */
void ut_mpi_made(struct ut_mpi_call *c, ut_mpi_word handle);
void ut_mpi_made_on(struct ut_mpi_call *c, enum ut_mpi_group_kind kind, ut_mpi_word handle);
void ut_mpi_copied(struct ut_mpi_call *c, ut_mpi_word handle);
void ut_mpi_made_by_members(struct ut_mpi_call *c, ut_mpi_word parent, int32_t tag,
			    ut_mpi_word handle);
void ut_mpi_opened(struct ut_mpi_call *c, ut_mpi_word handle, const char *path);

/* Windows and files. */
void ut_mpi_about_win(struct ut_mpi_call *c, ut_mpi_word win);
void ut_mpi_target(struct ut_mpi_call *c, ut_mpi_word win, int32_t rank);
void ut_mpi_moved(struct ut_mpi_call *c, ut_mpi_word win, int32_t rank, int64_t sent,
		  int64_t received);
/* It is complete when its request is. */
void ut_mpi_moved_later(struct ut_mpi_call *c, ut_mpi_word win, int32_t rank, ut_mpi_word request);
/* Who else is in the group that opens a window to us, or that we open ours to. */
void ut_mpi_with_group(struct ut_mpi_call *c, ut_mpi_word group);
void ut_mpi_locked(struct ut_mpi_call *c, int32_t type);
void ut_mpi_file(struct ut_mpi_call *c, ut_mpi_word file, int64_t written, int64_t read);
void ut_mpi_file_asked(struct ut_mpi_call *c, ut_mpi_word file, ut_mpi_word request);

/* How many neighbours get from us, or send to us, in the collective call under way. */
int32_t ut_mpi_neighbours_of(struct ut_mpi_call *c, bool out);
/* Who they are; what we send to is no matter to a call that only completes it. */
void ut_mpi_neighbour_facts(struct ut_mpi_call *c, struct ut_mpi_group *g, bool sends);

#endif
