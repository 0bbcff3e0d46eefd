/*
 * harness.h - what the benchmarks in C share. UNITRACE_BENCH_SCALE=tiny makes them small: all of
 * their code runs, their figures mean nothing. harness.py is the same for Python.
 */
#ifndef UT_BENCH_HARNESS_H
#define UT_BENCH_HARNESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BENCH_SKIPPED 77 /* exit status: something that the benchmark needs is not here */

static inline bool bench_is_tiny(void)
{
	const char *scale = getenv("UNITRACE_BENCH_SCALE");

	return scale && !strcmp(scale, "tiny");
}

/* A count of either scale; the argument of that number, if there is one, overrides both. */
static inline uint64_t bench_size(int argc, char **argv, int number, uint64_t full, uint64_t tiny)
{
	if (argc > number)
		return strtoull(argv[number], NULL, 10);
	return bench_is_tiny() ? tiny : full;
}

/* How often something is repeated to find the best of it. */
static inline int bench_rounds(int full)
{
	return bench_is_tiny() ? 1 : full;
}

#endif
