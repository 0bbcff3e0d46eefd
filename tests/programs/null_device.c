/*
 * null_device.c BACKEND COUNT - a program that "uses" the null device inside ITT tasks: each task
 * submits COUNT pieces of work.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "ittnotify.h"

int main(int argc, char **argv)
{
	__itt_domain *domain = __itt_domain_create("program");
	__itt_string_handle *step = __itt_string_handle_create("step");
	union {
		void *pointer;
		int (*function)(uint64_t);
	} run;
	void *library = argc > 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
	int rc;

	run.pointer = library ? dlsym(library, "unitrace_null_run") : NULL;
	if (!run.pointer)
		return 1;
	__itt_task_begin(domain, __itt_null, __itt_null, step);
	rc = run.function((uint64_t)atoll(argv[2]));
	__itt_task_end(domain);
	printf("%d\n", rc);
	return 0;
}
