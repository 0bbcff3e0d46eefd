/*
 * scale_rank.c TASKS SEED - one rank of a large job, to be recorded by bench_scale.py: four
 * threads, 512 names, tasks up to three deep. Only the marks, no work in between, so that a
 * hundred million of them take seconds.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "ittnotify.h"

#define THREADS 4
#define NAMES   512
#define INNER   8 /* tasks per step: one step, one phase, six calls */

static __itt_domain *domain;
static __itt_string_handle *names[NAMES];
static uint64_t steps, seed;

static uint64_t next_random(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

static void begin(uint64_t *x)
{
	/* A few names make up most of the calls, as in real programs. */
	uint64_t r = next_random(x);

	__itt_task_begin(domain, __itt_null, __itt_null, names[r & r >> 9 & (NAMES - 1)]);
}

static void *run(void *arg)
{
	uint64_t x = seed * THREADS + (uint64_t)(uintptr_t)arg + 1;

	for (uint64_t i = 0; i < steps; i++) {
		begin(&x);
		begin(&x);
		for (int k = 2; k < INNER; k++) {
			begin(&x);
			__itt_task_end(domain);
		}
		__itt_task_end(domain);
		__itt_task_end(domain);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t tasks = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
	pthread_t threads[THREADS];
	char name[32];

	seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
	steps = tasks / THREADS / INNER;
	domain = __itt_domain_create("bench.scale");
	for (int i = 0; i < NAMES; i++) {
		snprintf(name, sizeof(name), "kernel_%03d", i);
		names[i] = __itt_string_handle_create(name);
	}
	for (uintptr_t t = 0; t < THREADS; t++)
		pthread_create(&threads[t], NULL, run, (void *)t);
	for (int t = 0; t < THREADS; t++)
		pthread_join(threads[t], NULL);
	return 0;
}
