/*
 * null_device.c BACKEND COUNT [kill|fork|threads] - a program that "uses" the null device inside an
 * ITT task: it submits COUNT pieces of work, then goes on as asked for.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ittnotify.h"

static union {
	void *pointer;
	int (*function)(uint64_t);
} run;
static uint64_t count;

static void *in_thread(void *arg)
{
	run.function(count);
	return arg;
}

static void go_on(const char *how)
{
	pthread_t threads[4];
	int status = 0;
	pid_t pid;

	if (!strcmp(how, "kill"))
		kill(getpid(), SIGKILL);
	if (!strcmp(how, "fork")) {
		fflush(stdout);
		pid = fork();
		if (pid == 0)
			exit(run.function(count));
		waitpid(pid, &status, 0);
	}
	for (int i = 0; !strcmp(how, "threads") && i < 4; i++)
		pthread_create(&threads[i], NULL, in_thread, NULL);
	for (int i = 0; !strcmp(how, "threads") && i < 4; i++)
		pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
	__itt_domain *domain = __itt_domain_create("program");
	__itt_string_handle *step = __itt_string_handle_create("step");
	void *library = argc > 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
	int rc;

	run.pointer = library ? dlsym(library, "unitrace_null_run") : NULL;
	if (!run.pointer)
		return 1;
	count = (uint64_t)atoll(argv[2]);
	__itt_task_begin(domain, __itt_null, __itt_null, step);
	rc = run.function(count);
	__itt_task_end(domain);
	printf("%d\n", rc);
	if (argc > 3)
		go_on(argv[3]);
	return 0;
}
