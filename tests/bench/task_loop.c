/*
 * task_loop.c PAIRS REPEATS THREADS - what one task costs the program that has it.
 *
 * Prints the median over REPEATS of the CPU time of a begin and an end, in ns, and then what the
 * kernel says about the process's memory. Run by bench_task.py and bench_spool.py without a
 * collector, with the floor and with ours.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ittnotify.h"

static __itt_domain *domain;
static __itt_string_handle *name;
static long pairs, repeats;

static double cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void *run(void *arg)
{
	double *times = calloc((size_t)repeats, sizeof(*times));

	for (long r = 0; r < repeats; r++) {
		double start = cpu_ns();

		for (long i = 0; i < pairs; i++) {
			__itt_task_begin(domain, __itt_null, __itt_null, name);
			__itt_task_end(domain);
		}
		times[r] = (cpu_ns() - start) / (double)pairs;
	}
	qsort(times, (size_t)repeats, sizeof(*times), by_value);
	*(double *)arg = times[repeats / 2];
	free(times);
	return NULL;
}

static void print_memory(void)
{
	char line[256];
	FILE *f = fopen("/proc/self/status", "r");

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "Rss", 3) || !strncmp(line, "VmHWM", 5))
			fputs(line, stdout);
	if (f)
		fclose(f);
}

int main(int argc, char **argv)
{
	pthread_t threads[64];
	double medians[64], sum = 0;
	long count;

	pairs = argc > 1 ? atol(argv[1]) : 100000;
	repeats = argc > 2 ? atol(argv[2]) : 15;
	count = argc > 3 ? atol(argv[3]) : 1;
	if (pairs < 1 || repeats < 1 || count < 1 || count > 64)
		return 2;
	domain = __itt_domain_create("bench");
	name = __itt_string_handle_create("task");
	for (long i = 1; i < count; i++)
		if (pthread_create(&threads[i], NULL, run, &medians[i]))
			return 1;
	run(&medians[0]);
	for (long i = 1; i < count; i++)
		pthread_join(threads[i], NULL);
	for (long i = 0; i < count; i++)
		sum += medians[i];
	printf("%.2f\n", sum / (double)count);
	print_memory();
	return 0;
}
