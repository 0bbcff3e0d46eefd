/*
 * busy_threads.c - so many threads that each do the same fixed work, some calls deep:
 *
 *	busy_threads THREADS ROUNDS
 *
 * Prints the CPU time that it has taken, in ms.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#define DEPTH 20

static long rounds;

__attribute__((noinline)) static uint64_t work(uint64_t x)
{
	for (int i = 0; i < 100000; i++)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}

__attribute__((noinline)) static uint64_t deeper(int depth, uint64_t x)
{
	volatile uint64_t kept = x;

	if (depth)
		kept = deeper(depth - 1, x);
	else
		kept = work(x);
	return kept + 1;
}

static void *run(void *arg)
{
	uint64_t x = (uintptr_t)arg;

	for (long i = 0; i < rounds; i++)
		x = deeper(DEPTH, x);
	return (void *)(uintptr_t)x;
}

static double ms(const struct timeval *t)
{
	return (double)t->tv_sec * 1e3 + (double)t->tv_usec / 1e3;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 8;
	pthread_t *threads = calloc((size_t)count, sizeof(*threads));
	struct rusage used;

	rounds = argc > 2 ? atol(argv[2]) : 1000;
	for (int i = 0; i < count; i++) {
		if (pthread_create(&threads[i], NULL, run, NULL))
			return 1;
	}
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	getrusage(RUSAGE_SELF, &used);
	printf("%.3f %.3f\n", ms(&used.ru_utime), ms(&used.ru_stime));
	free(threads);
	return 0;
}
