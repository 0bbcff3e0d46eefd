/*
 * fake_cuda.c BACKEND FAKE-CUPTI COUNT [kill|pause] - plays a CUDA program: loads the backend as
 * the driver would, and launches COUNT kernels inside an ITT task. With "kill" it ends by SIGKILL;
 * with "pause" it records these alone, and not what it does before and after. FAKE_CUDA_CXX=1: it
 * has the C++ library, as programs of nvcc's have.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ittnotify.h"

static void *function(const char *library, const char *name)
{
	void *handle = dlopen(library, RTLD_NOW);

	return handle ? dlsym(handle, name) : NULL;
}

/* What the device does belongs to the part that asked for it: it has had its time before the
   switch, and begins after it. */
static void switch_recording(const char *on)
{
	usleep(2000);
	setenv("PTI_ENABLE_COLLECTION", on, 1);
	usleep(2000);
}

int main(int argc, char **argv)
{
	int pauses = argc > 4 && !strcmp(argv[4], "pause");

	__itt_domain *domain = __itt_domain_create("train");
	__itt_string_handle *step = __itt_string_handle_create("step");
	union {
		void *pointer;
		int (*init)(void);
		void (*run)(int);
		void (*wait)(void);
	} init = { .pointer = argc > 3 ? function(argv[1], "InitializeInjection") : NULL },
	  run = { .pointer = argc > 3 ? function(argv[2], "fake_cuda_run") : NULL },
	  wait = { .pointer = argc > 3 ? function(argv[2], "fake_cuda_wait") : NULL };

	if (!init.pointer || !run.pointer || !wait.pointer)
		return 1;
	if (getenv("FAKE_CUDA_CXX") && !dlopen("libstdc++.so.6", RTLD_NOW))
		return 1;
	printf("init %d\n", init.init());
	if (pauses) {
		run.run(17);
		switch_recording("1");
	}
	__itt_task_begin(domain, __itt_null, __itt_null, step);
	if (!getenv("FAKE_CUPTI_BUSY"))
		run.run(atoi(argv[3]));
	__itt_task_end(domain);
	if (pauses) {
		switch_recording("0");
		run.run(19);
	} else if (argc > 4) {
		wait.wait();
		raise(SIGKILL);
	}
	return 0;
}
