/*
 * opencl_loop.c N BATCH - N tiny kernels, with a clFinish() after every BATCH of them. Prints what
 * one takes: microseconds of CPU time, then of the clock on the wall.
 */
#include "../programs/opencl_use.h"

#ifdef HAVE_OPENCL

#include <time.h>

static double now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 20000, batch = argc > 2 ? atoi(argv[2]) : count;
	const size_t global = 64;
	double cpu, wall;
	cl_command_queue q;
	cl_kernel k;
	cl_mem m;

	if (!opencl_start())
		return CANNOT_RUN;
	q = opencl_queue(0);
	k = opencl_kernel("add");
	m = opencl_buffer(global * sizeof(int));
	MUST(cl.clSetKernelArg(k, 0, sizeof(m), &m));
	/* The first launch compiles. */
	MUST(cl.clEnqueueNDRangeKernel(q, k, 1, NULL, &global, NULL, 0, NULL, NULL));
	MUST(cl.clFinish(q));
	cpu = now(CLOCK_PROCESS_CPUTIME_ID);
	wall = now(CLOCK_MONOTONIC);
	for (int i = 1; i <= count; i++) {
		MUST(cl.clEnqueueNDRangeKernel(q, k, 1, NULL, &global, NULL, 0, NULL, NULL));
		if (i % batch == 0)
			MUST(cl.clFinish(q));
	}
	MUST(cl.clFinish(q));
	printf("%.3f %.3f\n", (now(CLOCK_PROCESS_CPUTIME_ID) - cpu) / count,
	       (now(CLOCK_MONOTONIC) - wall) / count);
	return 0;
}

#endif
