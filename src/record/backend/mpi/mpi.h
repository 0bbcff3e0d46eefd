/*
 * mpi.h - the MPI backend: what its parts share.
 *
 * A layer in front of the MPI library, by LD_PRELOAD: every function of api.def is there twice, as
 * MPI_NAME and as PMPI_NAME, and goes on to the next one of the same name. What a program calls
 * from C comes in by the first; Fortran's bindings call the one or the other, C's functions in
 * either case. Calls from inside a call are handed on, so each counts once.
 */
#ifndef UT_BACKEND_MPI_MPI_H
#define UT_BACKEND_MPI_MPI_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "backend/mpi/mpi_abi.h"
#include "base/likely.h"
#include "unitrace/backend.h"

#define UT_EXPORT __attribute__((visibility("default")))

enum ut_mpi_id {
#define MPI_FN(name, ...) UT_MPI_##name,
#include "backend/mpi/api.def"
	UT_MPI_COUNT
};

/* What is said about calls: the name of the fact. */
#define UT_MPI_KEY_LIST(X)                                                                         \
	X(to, "to")                                                                                \
	X(from, "from")                                                                            \
	X(target, "target")                                                                        \
	X(message, "message")                                                                      \
	X(request, "request")                                                                      \
	X(last_request, "last_request")                                                            \
	X(ranks, "ranks")                                                                          \
	X(sources, "sources")                                                                      \
	X(destinations, "destinations")                                                            \
	X(lock, "lock")                                                                            \
	X(counter, "mpi_counter")                                                                  \
	X(tag, "tag")                                                                              \
	X(from_tag, "from_tag")                                                                    \
	X(bytes, "bytes")                                                                          \
	X(received, "received")                                                                    \
	X(comm, "comm")                                                                            \
	X(win, "win")                                                                              \
	X(file, "file")                                                                            \
	X(seq, "seq")                                                                              \
	X(root, "root")                                                                            \
	X(made, "new")                                                                             \
	X(size, "size")                                                                            \
	X(rank, "rank")                                                                            \
	X(offset, "offset")                                                                        \
	X(requests, "requests")                                                                    \
	X(messages, "messages")                                                                    \
	X(polls, "polls")                                                                          \
	X(polling, "polling_ns")                                                                   \
	X(pending, "pending")                                                                      \
	X(path, "path")                                                                            \
	X(name, "name")                                                                            \
	X(collective, "collective")                                                                \
	X(library, "library")                                                                      \
	X(threads, "thread_level")                                                                 \
	X(error, "error")

/* Functions of MPI that we call ourselves, with their parameters. */
#define UT_MPI_ASK_LIST(X)                                                                         \
	X(Comm_rank, 2)                                                                            \
	X(Comm_size, 2)                                                                            \
	X(Comm_remote_size, 2)                                                                     \
	X(Comm_test_inter, 2)                                                                      \
	X(Comm_group, 2)                                                                           \
	X(Comm_remote_group, 2)                                                                    \
	X(Group_size, 2)                                                                           \
	X(Group_rank, 2)                                                                           \
	X(Group_translate_ranks, 5)                                                                \
	X(Group_free, 1)                                                                           \
	X(Win_get_group, 2)                                                                        \
	X(File_get_group, 2)                                                                       \
	X(Topo_test, 2)                                                                            \
	X(Cartdim_get, 2)                                                                          \
	X(Cart_shift, 5)                                                                           \
	X(Graph_neighbors_count, 3)                                                                \
	X(Graph_neighbors, 4)                                                                      \
	X(Dist_graph_neighbors_count, 4)                                                           \
	X(Dist_graph_neighbors, 7)                                                                 \
	X(Type_size_x, 2)                                                                          \
	X(Get_elements_x, 3)                                                                       \
	X(Test_cancelled, 2)                                                                       \
	X(Initialized, 1)                                                                          \
	X(Query_thread, 1)                                                                         \
	X(Get_library_version, 2)

#define UT_MPI_WORDS_1 ut_mpi_word
#define UT_MPI_WORDS_2 UT_MPI_WORDS_1, ut_mpi_word
#define UT_MPI_WORDS_3 UT_MPI_WORDS_2, ut_mpi_word
#define UT_MPI_WORDS_4 UT_MPI_WORDS_3, ut_mpi_word
#define UT_MPI_WORDS_5 UT_MPI_WORDS_4, ut_mpi_word
#define UT_MPI_WORDS_6 UT_MPI_WORDS_5, ut_mpi_word
#define UT_MPI_WORDS_7 UT_MPI_WORDS_6, ut_mpi_word

struct ut_mpi_ask {
#define UT_MPI_ASK(name, count) int (*name)(UT_MPI_WORDS_##count);
	UT_MPI_ASK_LIST(UT_MPI_ASK)
#undef UT_MPI_ASK
};

struct ut_mpi_key {
#define UT_MPI_KEY(key, text) uint32_t key;
	UT_MPI_KEY_LIST(UT_MPI_KEY)
#undef UT_MPI_KEY
};

/* Written before the layer says that it is ready, read-only afterwards. */
struct ut_mpi_state {
	const struct ut_host *host;
	struct ut_mpi_ask ask;
	struct ut_mpi_key key;
	uint32_t api, message;
	uint32_t exclusive, shared; /* kinds of locks */
	uint32_t names[UT_MPI_COUNT];
	int32_t rank, size; /* in MPI_COMM_WORLD */
	ut_mpi_word world_group;
	uint64_t job;   /* tells this job from others */
	bool threads;   /* MPI_THREAD_MULTIPLE: calls may come at once */
	bool each_poll; /* tests that fail are told one by one */
};

extern struct ut_mpi_state ut_mpi;

/* Is there somebody to record for? Joins the session, the first time. errno is kept. */
bool ut_mpi_join(void);

/*
 * Makes the layer ready, the first time MPI is up; true if it is. from: see ut_mpi_find(). Called
 * inside a call of MPI's, so nothing of what we ask is taken for the program's.
 */
bool ut_mpi_wake(const void *from);

enum ut_mpi_mood {
	UT_MPI_ASLEEP,
	UT_MPI_AWAKE,
	UT_MPI_NEVER, /* nobody wants to know, or MPI has ended */
};

extern _Atomic int ut_mpi_mood;

const char *ut_mpi_name(enum ut_mpi_id id);

#endif
