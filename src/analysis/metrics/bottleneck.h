/*
 * bottleneck.h - what a kernel is bound by, in a sentence with its evidence: rules over what was
 * recorded of it, whatever that is. docs/guides/kernels.md explains each rule and its threshold.
 *
 * Pure: facts in, sentences out. What was not recorded is no number (NAN), and rules that need it
 * do not speak.
 */
#ifndef UT_METRICS_BOTTLENECK_H
#define UT_METRICS_BOTTLENECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/* name, key, unit, what it is */
#define UT_KERNEL_FACT_LIST(X)                                                                     \
	X(MEAN, "duration", "ns", "of a launch, on average")                                       \
	X(LAUNCH, "launch", "ns", "the host's call that launched it, on average")                  \
	X(BLOCKS, "blocks", "", "of the grid")                                                     \
	X(THREADS, "threads", "", "of a block")                                                    \
	X(REGISTERS, "registers", "", "of a thread")                                               \
	X(SHARED, "shared_memory", "bytes", "of a block")                                          \
	X(LOCAL, "local_memory", "bytes", "of a thread: arrays, spilled registers")                \
	X(PROCESSORS, "processors", "", "multiprocessors of the device")                           \
	X(FIT, "blocks_per_processor", "", "that fit onto a multiprocessor at once")               \
	X(WAVES, "waves", "", "how often the grid fills the device")                               \
	X(FILL, "fill", "%", "multiprocessors that get a block")                                   \
	X(OCCUPANCY, "occupancy", "%", "warps that can be in flight, of those that fit")           \
	X(ACHIEVED, "achieved_occupancy", "%", "warps that were in flight")                        \
	X(ACTIVE, "active", "%", "time in which multiprocessors had work")                         \
	X(DRAM, "dram", "%", "of the peak of device memory")                                       \
	X(L2, "l2", "%", "of the peak of the L2 cache")                                            \
	X(L1, "l1", "%", "of the peak of the L1 caches and shared memory")                         \
	X(COMPUTE, "compute", "%", "of the peak of multiprocessors")                               \
	X(TENSOR, "tensor", "%", "of the peak of the tensor pipe")                                 \
	X(FMA, "fma", "%", "of the peak of the FP32 pipe")                                         \
	X(FP64, "fp64", "%", "of the peak of the FP64 pipe")                                       \
	X(ALU, "alu", "%", "of the peak of the integer pipe")                                      \
	X(FP16, "fp16", "%", "of the peak of FP16 and BF16 arithmetic")                            \
	X(FMA_HEAVY, "fma_heavy", "%", "of the peak of the half of it that multiplies integers")   \
	X(MULTIPLY, "integer_multiply", "%", "of the peak of multiplying integers, in there")      \
	X(SPECIAL, "special", "%", "of the peak of the pipe of special functions")                 \
	X(ISSUE, "issue", "%", "cycles in which a scheduler issued")                               \
	X(SHARED_PATH, "shared", "%", "of the peak of shared memory's data path")                  \
	X(CONFLICTS, "bank_conflicts", "%", "of shared memory's cycles that repeat an access")     \
	X(ATOMICS, "atomics", "%", "of the peak of L2's busiest unit for atomics")                 \
	X(ATOMIC_SHARE, "atomic_share", "%", "of the sectors that L2 was asked for")               \
	X(LANES, "lanes", "", "threads of a warp that an instruction runs for")                    \
	X(CONFLICT_CYCLES, "bank_conflict_cycles", "", "of shared memory")                         \
	X(SHARED_CYCLES, "shared_cycles", "", "of shared memory's data path")                      \
	X(L2_SECTORS, "l2_sectors", "", "of 32 bytes, that L2 was asked for")                      \
	X(ATOM_SECTORS, "atom_sectors", "", "of these, atomics that return a value")               \
	X(RED_SECTORS, "red_sectors", "", "of these, atomics that return none")                    \
	X(COUNTER_SAMPLES, "counter_samples", "", "of counters, at intervals that it filled")      \
	X(LOAD_SECTORS, "load_sectors", "", "32-byte sectors of a load of global memory")          \
	X(STORE_SECTORS, "store_sectors", "", "32-byte sectors of a store")                        \
	X(LOAD_BYTES, "load_bytes", "bytes", "used of each sector that loads fetch")               \
	X(STALL, "stall", "%", "of samples that wait for the most frequent reason")                \
	X(STALL_PLACE, "stall_place", "%", "of samples that wait for it at one place")             \
	X(READY, "ready", "%", "of samples in which the warp could issue")                         \
	X(NOT_SELECTED, "not_selected", "%", "of samples in which another warp issued instead")    \
	X(SAMPLES, "samples", "", "of instructions")

enum ut_kernel_fact {
#define UT_KERNEL_FACT(name, key, unit, about) UT_FACT_##name,
	UT_KERNEL_FACT_LIST(UT_KERNEL_FACT)
#undef UT_KERNEL_FACT
	UT_KERNEL_FACTS
};

struct ut_kernel_facts {
	struct ut_str name;            /* of the kernel */
	double value[UT_KERNEL_FACTS]; /* NAN = not known */
	struct ut_str reason;          /* STALL: "long_scoreboard" */
	struct ut_str place;           /* STALL_PLACE: "chase.cu:12", "0x1c0" */
	const char *limit;             /* OCCUPANCY: "registers"; NULL = not known */
};

/* All unknown. */
void ut_kernel_facts_init(struct ut_kernel_facts *f);

struct ut_kernel_fact_info {
	const char *key, *unit, *about;
};

extern const struct ut_kernel_fact_info ut_kernel_fact_info[UT_KERNEL_FACTS];

/* rule, word for programs, title for people; in the order in which they are asked */
#define UT_KERNEL_RULE_LIST(X)                                                                     \
	X(LAUNCH, "launch", "launch-bound")                                                        \
	X(GRID, "grid", "grid too small")                                                          \
	X(TAIL, "tail", "tail of the last wave")                                                   \
	X(ACCESS, "access", "uncoalesced access")                                                  \
	X(DIVERGENCE, "divergence", "divergent branches")                                          \
	X(DRAM, "dram", "bound by DRAM")                                                           \
	X(TENSOR, "tensor", "bound by the tensor pipe")                                            \
	X(NO_TENSOR, "no_tensor", "tensor pipe unused")                                            \
	X(FP64, "fp64", "bound by the FP64 pipe")                                                  \
	X(FP16, "fp16", "bound by the FP16 pipe")                                                  \
	X(FMA, "fma", "bound by the FP32 pipe")                                                    \
	X(ALU, "alu", "bound by the integer pipe")                                                 \
	X(SPECIAL, "special", "bound by special functions")                                        \
	X(CONFLICTS, "bank_conflicts", "bound by bank conflicts")                                  \
	X(SHARED, "shared", "bound by shared memory")                                              \
	X(ATOMICS, "atomics", "bound by atomics")                                                  \
	X(L1, "l1", "bound by L1 and shared memory")                                               \
	X(L2, "l2", "bound by L2")                                                                 \
	X(COMPUTE, "compute", "bound by multiprocessors")                                          \
	X(ISSUE, "issue", "bound by instruction issue")                                            \
	X(OCCUPANCY, "occupancy", "occupancy limited")                                             \
	X(LATENCY, "latency", "latency-bound")                                                     \
	X(MEMORY_WAIT, "memory_wait", "waits for memory")                                          \
	X(STALL, "stall", "stalled")                                                               \
	X(SPILL, "spill", "registers spilled")                                                     \
	X(BALANCE, "balance", "uneven work")                                                       \
	X(NOTHING, "balanced", "no single limit")                                                  \
	X(UNKNOWN, "unknown", "not measured")                                                      \
	X(RANKS, "ranks", "talks to other ranks")

enum ut_kernel_rule {
#define UT_KERNEL_RULE(name, key, title) UT_BOUND_##name,
	UT_KERNEL_RULE_LIST(UT_KERNEL_RULE)
#undef UT_KERNEL_RULE
	UT_KERNEL_RULES
};

/* The word for programs, the title for people. */
const char *ut_kernel_rule_key(enum ut_kernel_rule rule);
const char *ut_kernel_rule_title(enum ut_kernel_rule rule);

#define UT_BOTTLENECK_EVIDENCE 5

struct ut_kernel_bottleneck {
	enum ut_kernel_rule rule;
	enum ut_kernel_fact evidence[UT_BOTTLENECK_EVIDENCE];
	size_t evidence_count;
	char sentence[320]; /* without a full stop; texts of the trace are made fit for people */
	const char *advice; /* what to do about it */
	double loss;        /* part of its time that this costs, at most, 0..1; NAN = not known */
};

/*
 * All that can be said, the verdict first. Never 0: at least that too little was measured.
 */
#define UT_BOTTLENECKS_MAX UT_KERNEL_RULES
size_t ut_kernel_bottlenecks(const struct ut_kernel_facts *f,
			     struct ut_kernel_bottleneck bottlenecks[UT_BOTTLENECKS_MAX]);

/* Limits of a device's multiprocessor, by the name of the device; zeros = not known. */
struct ut_device_limits {
	uint32_t processors, warps, blocks, registers, shared; /* of one multiprocessor; bytes */
};

struct ut_device_limits ut_device_limits(struct ut_str model);

/*
 * Fills in what follows from grid, block, registers and shared memory on such a device: FIT, WAVES,
 * FILL, OCCUPANCY, PROCESSORS and the limit, as far as they are not known.
 */
void ut_kernel_facts_fit(struct ut_kernel_facts *f, const struct ut_device_limits *limits);

#endif
