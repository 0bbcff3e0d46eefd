/*
 * live_rate.c RATE SECONDS - tasks at a steady rate, a thousandth of them around all others of its
 * time; then says how many there were.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <ittnotify.h>

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
	double rate = argc > 1 ? atof(argv[1]) : 100000, seconds = argc > 2 ? atof(argv[2]) : 5;
	__itt_domain *domain = __itt_domain_create("bench.live");
	__itt_string_handle *outer = __itt_string_handle_create("outer"), *names[16];
	unsigned long done = 0;
	double start = now();

	for (unsigned int i = 0; i < 16; i++) {
		char name[16];

		snprintf(name, sizeof(name), "task %u", i);
		names[i] = __itt_string_handle_create(name);
	}
	__itt_task_begin(domain, __itt_null, __itt_null, outer);
	while (now() - start < seconds) {
		unsigned long due = (unsigned long)((now() - start) * rate);
		struct timespec nap = { 0, 1000000 };

		__itt_task_begin(domain, __itt_null, __itt_null, outer);
		for (; done < due; done++) {
			__itt_task_begin(domain, __itt_null, __itt_null, names[done % 16]);
			__itt_task_end(domain);
		}
		__itt_task_end(domain);
		nanosleep(&nap, NULL);
	}
	__itt_task_end(domain);
	printf("%lu tasks\n", done);
	return 0;
}
