/*
 * stuck.c - tasks that are open when the process ends: "out" and "in" in it. Without an argument it
 * returns at once; with "status" it exits with 3, with "abort" and "segv" it crashes. With "here"
 * it prints its process id and waits until it is killed.
 *
 *	stuck child		a child does that, and the parent waits for it
 *	stuck overlapped	an overlapped task and a region are open, and it kills itself
 *	stuck zombie		the parent does not, and goes on until it may read a byte
 *	stuck exec PROGRAM...	becomes another program when it may read a byte
 *	stuck paused		resumes recording, begins, pauses it, and waits like "here"
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ittnotify.h"

static void wait_for_byte(void)
{
	char byte;

	while (read(STDIN_FILENO, &byte, 1) < 0)
		;
}

int main(int argc, char **argv)
{
	__itt_domain *d = __itt_domain_create("stuck");
	__itt_string_handle *out = __itt_string_handle_create("out");
	__itt_string_handle *in = __itt_string_handle_create("in");
	const char *how = argc > 1 ? argv[1] : "";
	const struct rlimit none = { 0, 0 };

	setrlimit(RLIMIT_CORE, &none);
	if (!strcmp(how, "child") && fork()) {
		wait(NULL);
		return 0;
	}
	if (!strcmp(how, "zombie") && fork()) {
		wait_for_byte();
		return 0;
	}
	if (!strcmp(how, "paused"))
		__itt_resume();
	if (!strcmp(how, "overlapped")) {
		__itt_task_begin_overlapped(d, __itt_id_make(d, 1), __itt_null,
					    __itt_string_handle_create("overlapped"));
		__itt_region_begin(d, __itt_id_make(d, 2), __itt_null,
				   __itt_string_handle_create("region"));
		raise(SIGKILL);
	}
	__itt_task_begin(d, __itt_null, __itt_null, out);
	__itt_task_begin(d, __itt_null, __itt_null, in);
	if (!strcmp(how, "status"))
		return 3;
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "segv"))
		raise(SIGSEGV);
	if (argc < 2)
		return 0;
	if (!strcmp(how, "paused"))
		__itt_pause();
	printf("%d\n", (int)getpid());
	fflush(stdout);
	if (!strcmp(how, "exec") && argc > 2) {
		wait_for_byte();
		execvp(argv[2], argv + 2);
		return 1;
	}
	for (;;)
		pause();
}
