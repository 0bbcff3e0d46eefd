/*
 * name.h - what an event's name says about it, worked out once per distinct name.
 *
 * The tool that writes the traces puts everything into names: "mul_3 Cmpt Exec" is the third
 * multiplication's execution, "SenRdmaRecv_8 [4096B] [sync=...] DmaI" a receive. Not thread-safe,
 * but after ut_ace_names_reserve() several threads may ask for flags, as long as no string is
 * added.
 */
#ifndef UT_ACELYZER_NAME_H
#define UT_ACELYZER_NAME_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "acelyzer/event_table.h"

/* flag, how it is looked for, text */
#define UT_ACE_NAME_LIST(X)                                                                        \
	X(IN, CONTAINS, " DmaI")                                                                   \
	X(PREP, CONTAINS, " Cmpt Prep")                                                            \
	X(EXEC, CONTAINS, " Cmpt Exec")                                                            \
	X(OUT, CONTAINS, " DmaO")                                                                  \
	X(ANY_EXEC, CONTAINS, "Cmpt Exec")                                                         \
	X(ANY_PREP, CONTAINS, " Prep")                                                             \
	X(ANY_IN, CONTAINS, "DmaI")                                                                \
	X(ANY_OUT, CONTAINS, "DmaO")                                                               \
	X(ANY_CMPT, CONTAINS, "Cmpt")                                                              \
	X(CMPT_EX, CONTAINS, " Cmpt Ex")                                                           \
	X(RDMA, CONTAINS, "Rdma")                                                                  \
	X(ALL_REDUCE, CONTAINS, "AllReduce_all_reduce")                                            \
	X(ANY_REDUCE, CONTAINS, "AllReduce")                                                       \
	X(ANY_GATHER, CONTAINS, "AllGather")                                                       \
	X(ROUNDTRIP, CONTAINS, "AIU Roundtrip")                                                    \
	X(FLEX_TRIP, CONTAINS, "Flex RoundTrip")                                                   \
	X(SEN_RDMA, CONTAINS, "SenRdma")                                                           \
	X(SEN_SEND, CONTAINS, "SenRdmaSend")                                                       \
	X(SEN_RECV, CONTAINS, "SenRdmaRecv")                                                       \
	X(PREDICT, CONTAINS, "built-in method Predict of PyCapsule object")                        \
	X(COMPILED, CONTAINS, "Torch-Compiled Region")                                             \
	X(SCHEDULE_WAIT, CONTAINS, "ScheduleWait")                                                 \
	X(SYNC, CONTAINS, " [sync=")                                                               \
	X(PROFILER, CONTAINS, "PyTorch Profiler")                                                  \
	X(RECV, CONTAINS, "Recv_")                                                                 \
	X(END_IN, ENDS, " DmaI")                                                                   \
	X(END_PREP, ENDS, "Cmpt Prep")                                                             \
	X(END_EXEC, ENDS, "Cmpt Exec")                                                             \
	X(END_SPACE_PREP, ENDS, " Cmpt Prep")                                                      \
	X(END_SPACE_EXEC, ENDS, " Cmpt Exec")                                                      \
	X(END_OUT, ENDS, " DmaO")                                                                  \
	X(BEGIN_REDUCE, BEGINS, "AllReduce")                                                       \
	X(IS_ROUNDTRIP, IS, "AIU Roundtrip")                                                       \
	X(IS_FLEX_TRIP, IS, "Flex RoundTrip")                                                      \
	X(LAUNCH, LAUNCHES, "")                                                                    \
	X(NUMBERED, NUMBERS, "")                                                                   \
	X(GLOBAL, GLOBALS, "")

enum ut_ace_name_bit {
#define UT_ACE_NAME_ENUM(flag, how, text) UT_ACE_BIT_##flag,
	UT_ACE_NAME_LIST(UT_ACE_NAME_ENUM)
#undef UT_ACE_NAME_ENUM
	UT_ACE_NAME_BITS
};

_Static_assert(UT_ACE_NAME_BITS < 63, "one bit says that the others are known");

#define UT_ACE_NAME(flag) (UINT64_C(1) << UT_ACE_BIT_##flag)

struct ut_ace_names {
	_Atomic uint64_t *flags; /* by string id; 0 = not looked at yet */
	uint32_t *unified;       /* RDMA and Receive as Rdma and Recv */
	uint32_t *bare;          /* without its numbers */
	uint32_t *numbered;      /* numbers as [N] */
	size_t cap;
};

void ut_ace_names_release(struct ut_ace_names *n);
void ut_ace_names_reserve(struct ut_ace_names *n, const struct ut_ace_table *t);

/* Its flags, if they have been asked for before; 0 = they have not. */
static inline uint64_t ut_ace_name_known(const struct ut_ace_names *n, uint32_t name)
{
	return name < n->cap ? atomic_load_explicit(&n->flags[name], memory_order_relaxed) : 0;
}

/* Of the name in flags of enum ut_ace_name_bit. */
uint64_t ut_ace_name_flags(struct ut_ace_names *n, struct ut_ace_table *t, uint32_t name);

/* String ids of spellings of a name; the same id if there is nothing to change. */
uint32_t ut_ace_name_unified(struct ut_ace_names *n, struct ut_ace_table *t, uint32_t name);
uint32_t ut_ace_name_bare(struct ut_ace_names *n, struct ut_ace_table *t, uint32_t name);
uint32_t ut_ace_name_numbered(struct ut_ace_names *n, struct ut_ace_table *t, uint32_t name);

/* Which of the four intervals between the stamps the name is about, 0..3; -1 = none of them. */
static inline int ut_ace_name_part(uint64_t flags)
{
	return flags & UT_ACE_NAME(IN)     ? 0
	       : flags & UT_ACE_NAME(PREP) ? 1
	       : flags & UT_ACE_NAME(EXEC) ? 2
	       : flags & UT_ACE_NAME(OUT)  ? 3
					   : -1;
}

#endif
