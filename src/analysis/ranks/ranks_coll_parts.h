/*
 * ranks_coll_parts.h - what the files that read collective operations of other libraries than MPI
 * share: ranks_coll_read.c finds them, ranks_coll_facts.c knows what is said about each,
 * ranks_coll_calls.c makes calls of their rank of them.
 */
#ifndef UT_RANKS_RANKS_COLL_PARTS_H
#define UT_RANKS_RANKS_COLL_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/store.h"
#include "ranks/ranks_parts.h"

#define UT_COLL_KEY_LIST(X)                                                                        \
	X(collective, "Collective name")                                                           \
	X(in, "In msg nelems")                                                                     \
	X(out, "Out msg nelems")                                                                   \
	X(dtype, "dtype")                                                                          \
	X(group, "Process Group Name")                                                             \
	X(group_text, "Process Group Description")                                                 \
	X(group_size, "Group size")                                                                \
	X(order, "Seq")                                                                            \
	X(external, "External id")                                                                 \
	X(dims, "Input Dims")                                                                      \
	X(types, "Input type")                                                                     \
	X(bytes, "bytes")                                                                          \
	X(received, "received")                                                                    \
	X(comm, "comm")                                                                            \
	X(seq, "seq")                                                                              \
	X(ranks, "ranks")                                                                          \
	X(root, "root_rank")                                                                       \
	X(send_size, "send_size")                                                                  \
	X(recv_size, "recv_size")

struct ut_coll_keys {
#define KEY(key, text) uint32_t key;
	UT_COLL_KEY_LIST(KEY)
#undef KEY
};

/* One operation, as it is found. */
struct ut_coll_found {
	uint64_t begin, end;
	uint64_t in, out; /* bytes */
	uint64_t seq;     /* plus 1; 0 = not said */
	uint64_t external;
	uint32_t group, group_text; /* strings of the ranks' */
	uint32_t size, track;
	int32_t root;
	uint8_t coll;
	bool on_device;
	bool open; /* it has not ended */
	const char *library;
};

struct ut_coll_piece {
	uint64_t begin, end;
};

struct ut_coll_reader {
	struct ut_ranks *ranks;
	const struct ut_store *store;
	struct ut_coll_keys keys;
	struct ut_coll_row_type *types; /* one for each of the store's: ranks_coll_read.c */
	struct ut_coll_found *found;    /* of one rank */
	size_t found_count, found_cap;
	struct ut_coll_found *params; /* operations that the program has begun, by external id */
	size_t params_count, params_cap;
	struct ut_coll_piece *busy; /* when the rank computed: sorted, apart */
	size_t busy_count, busy_cap;
	bool plugin; /* NCCL's plugin was there */
};

/* What is said about an operation, from its arguments: ranks_coll_facts.c. */
void ut_coll_take_facts(struct ut_coll_reader *rd, struct ut_coll_found *f, uint32_t list);

/*
 * All that was found become calls of a rank, which may have calls of MPI already: those inside of
 * an operation of its main thread are part of that, during others nothing is exposed.
 * ranks_coll_calls.c
 */
void ut_coll_add_calls(struct ut_coll_reader *rd, struct ut_rank *one);

#endif
