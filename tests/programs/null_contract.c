/*
 * null_contract.c BACKEND {WHAT N}... - has the null backend do WHAT with N, each inside an ITT
 * task, and looks whether errno stays what it was. "here" samples this program.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ittnotify.h"

#define MINE 4711 /* no errno of the system */

int main(int argc, char **argv)
{
	__itt_domain *domain = __itt_domain_create("program");
	__itt_string_handle *step = __itt_string_handle_create("step");
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	union {
		void *pointer;
		int (*function)(const char *what, uint64_t n);
	} run = { library ? dlsym(library, "unitrace_null_do") : NULL };
	int wrong = 0;

	if (!run.pointer)
		return 1;
	for (int i = 2; i + 1 < argc; i += 2) {
		uint64_t n = strcmp(argv[i], "here") ? strtoull(argv[i + 1], NULL, 0)
						     : (uint64_t)(uintptr_t)main;
		int rc;

		errno = MINE;
		__itt_task_begin(domain, __itt_null, __itt_null, step);
		rc = run.function(argv[i], n);
		__itt_task_end(domain);
		wrong += errno != MINE;
		printf("%s %d\n", argv[i], rc);
	}
	printf("errno %s\n", wrong ? "changed" : "kept");
	return wrong;
}
