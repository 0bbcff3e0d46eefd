/*
 * coll_kind.h - collective operations by their names, in the spelling of any library, and what
 * their bandwidth is compared by.
 */
#ifndef UT_RANKS_COLL_KIND_H
#define UT_RANKS_COLL_KIND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "ranks/rank_use.h"

/*
 * kind, name, whom it needs, and its bus factor for n ranks. The factor is nccl-tests': the share
 * of the size that crosses the slowest link, at least, whatever the algorithm. Size divided by
 * time, times the factor, compares with what the hardware can do.
 */
#define UT_COLL_LIST(X)                                                                            \
	X(NONE, "", OTHER, 0)                                                                      \
	X(ALLREDUCE, "allreduce", ALL, 2 * (n - 1) / n)                                            \
	X(ALLGATHER, "allgather", ALL, (n - 1) / n)                                                \
	X(ALLTOALL, "alltoall", ALL, (n - 1) / n)                                                  \
	X(REDUCE_SCATTER, "reduce_scatter", ALL, (n - 1) / n)                                      \
	X(BROADCAST, "broadcast", FROM_ROOT, 1)                                                    \
	X(BARRIER, "barrier", ALL, 0)                                                              \
	X(REDUCE, "reduce", TO_ROOT, 1)                                                            \
	X(GATHER, "gather", TO_ROOT, (n - 1) / n)                                                  \
	X(SCATTER, "scatter", FROM_ROOT, (n - 1) / n)                                              \
	X(SEND_RECEIVE, "sendrecv", OTHER, 1)                                                      \
	X(SEND, "send", OTHER, 1)                                                                  \
	X(RECEIVE, "recv", OTHER, 1)

enum ut_coll_kind {
#define UT_COLL_ENUM(kind, name, use, factor) UT_COLL_##kind,
	UT_COLL_LIST(UT_COLL_ENUM)
#undef UT_COLL_ENUM
	UT_COLLS
};

extern const char *const ut_coll_names[UT_COLLS];
extern const uint8_t ut_coll_uses[UT_COLLS]; /* enum ut_rank_use */

/* What "_allgather_base", "AllReduce", "MPI_Iallreduce" or "all_to_all_single" is. */
enum ut_coll_kind ut_coll_called(struct ut_str name);

double ut_coll_bus_factor(enum ut_coll_kind kind, uint32_t ranks);

/* Bytes of an element, by what PyTorch or C++ call its type; 0 = not known. */
uint32_t ut_coll_element(struct ut_str type);

/* Is it a kernel of NCCL's? "ncclDevKernel_AllReduce_Sum_f32_RING_LL(...)" and older spellings. */
bool ut_coll_is_nccl(struct ut_str kernel, enum ut_coll_kind *coll);

/* The library in front of "gloo:all_reduce"; NULL: none, or not such an operation. */
const char *ut_coll_library(struct ut_str name, enum ut_coll_kind *coll);

#endif
