/*
 * kernel_facts.h - the kernels of a trace and what was recorded about each: launch geometry,
 * counters of -q, samples of -k and of --stall-sampling; and the verdicts that follow.
 *
 * Kernels of one name that were launched with different grids or blocks are different variants:
 * they are bound by different things. Made from a store and the log of its devices, which must live
 * as long. O(n log n) for n launches. One thread.
 */
#ifndef UT_METRICS_KERNEL_FACTS_H
#define UT_METRICS_KERNEL_FACTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "metrics/bottleneck.h"

struct ut_device_log;
struct ut_device_work;
struct ut_event;
struct ut_store;

struct ut_kernel_variant {
	uint32_t name;   /* id in the log's strings */
	uint32_t device; /* index into the log's devices */
	double blocks, threads;
	uint64_t launches, total, least, most; /* ns */
	struct ut_kernel_facts facts;
	struct ut_kernel_bottleneck *bottlenecks; /* the first is the verdict */
	size_t bottleneck_count;
};

struct ut_kernel_set {
	struct ut_arena arena;
	struct ut_kernel_variant *variants;
	size_t count, cap;
	uint32_t *of_work; /* 1 + variant of each work of the log; 0 = no kernel */
	uint64_t total;    /* ns of all */
	uint64_t left;     /* launches that found no room among the variants */
};

/* The log is finished and of this store alone. */
void ut_kernel_set_make(struct ut_kernel_set *s, const struct ut_store *store,
			const struct ut_device_log *log);
void ut_kernel_set_release(struct ut_kernel_set *s);

/* The list of arguments of the row that is this work, in store->args; 0 = none. */
uint32_t ut_kernel_row_args(const struct ut_store *store, const struct ut_device_work *w);

/*
 * Adds up the samples of a counter's track that were taken while this work ran, on its device; how
 * many they are.
 */
uint32_t ut_kernel_sampled(const struct ut_store *store, const struct ut_device_work *w,
			   uint32_t track, double *sum);

/* Every sample of instructions of devices. */
void ut_kernel_each_sample(const struct ut_store *store,
			   void (*take)(void *ctx, const struct ut_event *e), void *ctx);

/*
 * Which fact an argument or a counter of this name tells, as NVIDIA, Intel or torch.profiler call
 * it, with or without its unit; UT_KERNEL_FACTS = none.
 */
enum ut_kernel_fact ut_kernel_fact_named(struct ut_str name);

#endif
