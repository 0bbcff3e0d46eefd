/*
 * unwinder.h - the stack of a sample, from its registers and the copy of its stack.
 *
 * Each function's row (symbol/unwind.h) is kept, so most steps are a look into a table. Code that
 * no table describes (Go, what a compiler made at run time) mostly keeps frame pointers: those are
 * followed then. Kernels of numeric libraries do not even do that: there the stack is searched for
 * an address to return to, behind a call, from which the walk goes on in good order. What lies
 * deeper than the copy is read from the process itself: outer frames do not change while their
 * callees run, and rounds are short. If they are gone nevertheless, what is there now is mostly no
 * return address: there is no call before it.
 *
 * Owner: the sampler. One thread.
 */
#ifndef UT_LAUNCH_CPU_UNWINDER_H
#define UT_LAUNCH_CPU_UNWINDER_H

#include <stddef.h>
#include <stdint.h>

#include "symbol/unwind.h"

struct ut_image;
struct ut_modules;
struct ut_perf_sample;

struct ut_unwinder_slot {
	uint64_t key; /* module << 44 ^ offset; 0 = free */
	struct ut_unwind_row row;
	uint32_t module; /* 0 = there is no row */
	/* what ends behind it may be a call: of the code at this offset of the file, or of any */
	bool call, direct;
	uint64_t target;
};

#define UT_UNWINDER_THREADS 32u
#define UT_UNWINDER_MOST    1024u

/* The last walk of a thread's stack, innermost first. */
struct ut_unwinder_last {
	const struct ut_image *image; /* NULL = none */
	uint32_t tid;
	uint64_t changes; /* of what is mapped */
	size_t count;
	bool whole;
	uint64_t frames[UT_UNWINDER_MOST];
	uint64_t sp[UT_UNWINDER_MOST]; /* the return address lies below; 0 = somewhere else */
};

struct ut_unwinder {
	struct ut_modules *modules;
	struct ut_unwinder_slot *slots;
	struct ut_unwinder_last *last; /* UT_UNWINDER_THREADS, by thread */
	unsigned char *deep;           /* of the process, beyond the copy */
	uint64_t deep_at, deep_bytes;
	bool whole; /* the last walk came to the first function of its thread */
};

void ut_unwinder_init(struct ut_unwinder *u, struct ut_modules *modules);
void ut_unwinder_release(struct ut_unwinder *u);

/* Addresses, innermost first, those of callers inside the call. How many: at least 1. */
size_t ut_unwinder_walk(struct ut_unwinder *u, struct ut_image *image,
			const struct ut_perf_sample *sample, uint64_t *frames, size_t most);

#endif
