/*
 * stuck.c - tasks that are open when the process ends: "out" and "in" in it. With the argument
 * "here" it says so and waits until it is killed; with "child" a child does, and the parent waits
 * for that.
 */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ittnotify.h"

int main(int argc, char **argv)
{
	__itt_domain *d = __itt_domain_create("stuck");
	__itt_string_handle *out = __itt_string_handle_create("out");
	__itt_string_handle *in = __itt_string_handle_create("in");

	if (argc > 1 && !strcmp(argv[1], "child") && fork()) {
		wait(NULL);
		return 0;
	}
	__itt_task_begin(d, __itt_null, __itt_null, out);
	__itt_task_begin(d, __itt_null, __itt_null, in);
	if (argc < 2)
		return 0;
	printf("%d\n", (int)getpid());
	fflush(stdout);
	for (;;)
		pause();
}
