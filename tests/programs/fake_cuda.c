/*
 * fake_cuda.c BACKEND FAKE-CUPTI COUNT [kill] - plays a CUDA program: loads the backend as the
 * driver would, and launches COUNT kernels inside an ITT task. With "kill" it ends by SIGKILL.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "ittnotify.h"

static void *function(const char *library, const char *name)
{
	void *handle = dlopen(library, RTLD_NOW);

	return handle ? dlsym(handle, name) : NULL;
}

int main(int argc, char **argv)
{
	__itt_domain *domain = __itt_domain_create("train");
	__itt_string_handle *step = __itt_string_handle_create("step");
	union {
		void *pointer;
		int (*init)(void);
		void (*run)(int);
	} init = { .pointer = argc > 3 ? function(argv[1], "InitializeInjection") : NULL },
	  run = { .pointer = argc > 3 ? function(argv[2], "fake_cuda_run") : NULL };

	if (!init.pointer || !run.pointer)
		return 1;
	printf("init %d\n", init.init());
	__itt_task_begin(domain, __itt_null, __itt_null, step);
	if (!getenv("FAKE_CUPTI_BUSY"))
		run.run(atoi(argv[3]));
	__itt_task_end(domain);
	if (argc > 4) {
		sleep(3); /* the backend hands over what is complete once a second */
		raise(SIGKILL);
	}
	return 0;
}
