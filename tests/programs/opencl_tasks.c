/*
 * opencl_tasks.c STEPS [THREADS] - kernels of OpenCL inside ITT tasks: every thread does STEPS
 * times "load", which copies, and "step", which runs two kernels and waits for them.
 */
#include "opencl_use.h"

#ifdef HAVE_OPENCL

#include <pthread.h>

#include "ittnotify.h"

#define VALUES    1024
#define MOST_ROWS 16

static __itt_domain *domain;
static __itt_string_handle *load_name, *step_name;
static int steps = 3;

static void begin(__itt_string_handle *name)
{
	__itt_task_begin(domain, __itt_null, __itt_null, name);
}

static void *work(void *unused)
{
	static const int zeros[VALUES];
	const size_t global = VALUES;
	cl_command_queue q = opencl_queue(0);
	cl_mem m = opencl_buffer(sizeof(zeros));
	cl_kernel k = opencl_kernel("add");

	MUST(cl.clSetKernelArg(k, 0, sizeof(m), &m));
	for (int i = 0; i < steps; i++) {
		begin(load_name);
		MUST(cl.clEnqueueWriteBuffer(q, m, CL_TRUE, 0, sizeof(zeros), zeros, 0, NULL,
					     NULL));
		__itt_task_end(domain);
		begin(step_name);
		for (int n = 0; n < 2; n++)
			MUST(cl.clEnqueueNDRangeKernel(q, k, 1, NULL, &global, NULL, 0, NULL,
						       NULL));
		MUST(cl.clFinish(q));
		__itt_task_end(domain);
	}
	MUST(cl.clReleaseKernel(k));
	MUST(cl.clReleaseMemObject(m));
	MUST(cl.clReleaseCommandQueue(q));
	return unused;
}

int main(int argc, char **argv)
{
	int threads = argc > 2 ? atoi(argv[2]) : 1;
	pthread_t ids[MOST_ROWS];

	if (!opencl_start())
		return CANNOT_RUN;
	steps = argc > 1 ? atoi(argv[1]) : steps;
	domain = __itt_domain_create("tasks");
	load_name = __itt_string_handle_create("load");
	step_name = __itt_string_handle_create("step");
	for (int i = 1; i < threads && i < MOST_ROWS; i++)
		pthread_create(&ids[i], NULL, work, NULL);
	work(NULL);
	for (int i = 1; i < threads && i < MOST_ROWS; i++)
		pthread_join(ids[i], NULL);
	return 0;
}

#endif
