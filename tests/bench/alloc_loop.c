/*
 * alloc_loop.c - a program that allocates and works: what watching its memory costs
 * (bench_memory.py).
 *
 *	alloc_loop COUNT WORK SIZE      COUNT blocks of 16 to 2 * SIZE bytes, 4,096 of them live at
 * a time, each at the end of ten calls, and WORK steps of something else
 *
 * Prints the CPU time of a block and its work in ns: the lower quartile of batches.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LIVE    4096u
#define BATCHES 40u

static void *blocks[LIVE];

static double cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

__attribute__((noinline)) static void *take(size_t size)
{
	void *block = malloc(size);

	memset(block, 1, size < 64 ? size : 64);
	return block;
}

__attribute__((noinline)) static void *deep(int depth, size_t size)
{
	void *block = depth ? deep(depth - 1, size) : take(size);

	__asm__ volatile("" : "+r"(block)); /* no tail call */
	return block;
}

static double run(uint64_t count, uint64_t work, uint64_t size, uint64_t *random)
{
	double begin = cpu_ns(), value = 1;

	for (uint64_t i = 0; i < count; i++) {
		uint64_t at;

		*random ^= *random << 13;
		*random ^= *random >> 7;
		*random ^= *random << 17;
		at = (*random >> 40) % LIVE;
		free(blocks[at]);
		blocks[at] = deep(10, 16 + (*random >> 20) % (2 * size - 15));
		for (uint64_t k = 0; k < work; k++)
			value = value * 1.0000001 + 0.5;
	}
	__asm__ volatile("" : : "x"(value));
	return (cpu_ns() - begin) / (double)count;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
	uint64_t work = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
	uint64_t size = argc > 3 ? strtoull(argv[3], NULL, 10) : 256;
	uint64_t random = 88172645463325252u;
	double batches[BATCHES];

	for (unsigned int i = 0; i < BATCHES; i++)
		batches[i] = run(count / BATCHES, work, size, &random);
	qsort(batches, BATCHES, sizeof(*batches), by_value);
	printf("%.2f\n", batches[BATCHES / 4]);
	return 0;
}
