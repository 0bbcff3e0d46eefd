/*
 * threads.h - what the threads of programs did: ran, waited, stood in line for a CPU; how much of
 * what they ran was waiting in disguise; how many ran at once; how evenly they shared parallel
 * regions; what they waited for.
 *
 * Spinning is CPU time inside a library that hands out work (OpenMP, TBB, OpenBLAS, MPI, CUDA) and
 * in functions that are known to spin: the thread runs, and nothing comes of it. A parallel region
 * is a function that such a library called, on all of its threads.
 *
 * Owner: the caller. Not thread-safe.
 */
#ifndef UT_SAMPLE_THREADS_H
#define UT_SAMPLE_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/hashtab.h"
#include "model/strtab.h"

struct ut_store;

struct ut_thread_row {
	uint32_t name;    /* ids in the strings of the threads */
	uint32_t process; /* index in processes */
	uint64_t tid;
	uint64_t ran, waited, ready; /* ns; ran by samples if nobody has told of switches */
	uint64_t sampled, spun;      /* ns of samples, and of those that were spinning */
	uint64_t switches, preemptions, migrations;
	bool has_counts; /* waited, ready and the counts are known */
	bool together;   /* no thread, but what is told of many together */
};

/* A function that ran on several threads at once. */
struct ut_region_row {
	uint32_t name, module;
	uint64_t ran;     /* ns of all threads */
	uint64_t most;    /* of the one that ran longest */
	uint32_t threads; /* that took part */
	uint64_t samples;
	/* of the thread that is being counted */
	uint64_t now;
};

struct ut_wait_row {
	uint32_t kind, name, caller;
	uint64_t waited, count;
	uint64_t longest; /* between two stacks of a thread: mostly one wait */
	uint32_t threads; /* that waited there */
	uint32_t last;    /* thread that was counted last; + 1 */
};

struct ut_threads_process {
	uint32_t name;
	uint64_t pid;
	uint64_t ran, elapsed, paused; /* ns; ran of all its threads */
	bool switches;                 /* it is told when they ran, not only for how long */
	uint64_t *at_once;             /* ns in which so many threads ran */
	size_t at_once_count;
};

struct ut_threads {
	struct ut_arena arena;
	struct ut_strtab strings;
	struct ut_thread_row *rows;
	size_t count, cap;
	struct ut_region_row *regions;
	size_t region_count, region_cap;
	struct ut_hashtab region_of;
	struct ut_wait_row *waits;
	size_t wait_count, wait_cap;
	struct ut_hashtab wait_of;
	struct ut_threads_process *processes;
	size_t process_count, process_cap;
	uint64_t samples;
};

void ut_threads_init(struct ut_threads *t);
void ut_threads_add(struct ut_threads *t, const struct ut_store *store);
void ut_threads_sort(struct ut_threads *t); /* the most CPU time, the longest wait first */
void ut_threads_release(struct ut_threads *t);

/* How even: what the average thread ran of what the busiest one did, percent. */
double ut_region_balance(const struct ut_region_row *r);

#endif
