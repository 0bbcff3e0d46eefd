/*
 * taker.h - from a sample (registers and a copy of the stack, or addresses) to a record in the file
 * of the program that it is of: the stack is walked, Python functions are put between, places and
 * stacks get numbers.
 *
 * Owner: the sampler. One thread.
 */
#ifndef UT_LAUNCH_CPU_TAKER_H
#define UT_LAUNCH_CPU_TAKER_H

#include <stdbool.h>
#include <stdint.h>

#include "launch/cpu/images.h"
#include "launch/cpu/unwinder.h"
#include "launch/cpu/weave.h"

struct ut_perf_sample;

#define UT_TAKER_THREADS 32u

/* The last stack of a thread: the outer part of the next one is mostly the same. */
struct ut_taker_last {
	const struct ut_image *image; /* NULL = none */
	uint32_t tid;
	uint64_t changes; /* of what is mapped */
	size_t count;     /* from the outside */
	uint64_t frames[UT_STACK_MOST];
	uint32_t given[UT_STACK_MOST];  /* places that were known already */
	uint32_t stacks[UT_STACK_MOST]; /* numbers */
};

struct ut_taker {
	struct ut_images images;
	struct ut_unwinder unwinder;
	struct ut_weaver weaver;
	struct ut_stack stack;      /* of the sample at hand */
	struct ut_taker_last *last; /* UT_TAKER_THREADS, by thread */
	uint32_t self;              /* our own process, which nobody wants to see */
	uint64_t samples;
	struct {               /* of waits, too many would cost more than they tell */
		uint64_t hz;   /* so many in a second are taken, all others only counted */
		uint64_t left; /* at this time */
		uint64_t since;
	} waits;
};

void ut_taker_init(struct ut_taker *t, const char *dir);
void ut_taker_release(struct ut_taker *t);

void ut_taker_sample(struct ut_taker *t, const struct ut_perf_sample *p);

/* Is at least one of the processes Python? What it runs changes from one moment to the next. */
bool ut_taker_finds_python(struct ut_taker *t);

#endif
