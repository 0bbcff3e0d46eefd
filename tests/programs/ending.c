/*
 * ending.c - records numbered tasks, leaves two open, says so, and ends in the way its first word
 * asks for: return, exit, _exit, quick_exit, abort, segv, term, kill, exec PROGRAM, fork, vfork,
 * thread, cpu (RLIMIT_CPU), stack, wait (until a signal), raise N.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ittnotify.h>

#define TASKS 5000

static __itt_domain *domain;

static void begin(const char *name)
{
	__itt_task_begin(domain, __itt_null, __itt_null, __itt_string_handle_create(name));
}

static void numbered(const char *prefix, int count)
{
	__itt_string_handle *key = __itt_string_handle_create("number");
	char name[64];

	for (int i = 0; i < count; i++) {
		int32_t value = i;

		snprintf(name, sizeof(name), "%s%d", prefix, i);
		begin(name);
		if (i % 100 == 0)
			__itt_metadata_add(domain, __itt_null, key, __itt_metadata_s32, 1, &value);
		__itt_task_end(domain);
	}
}

static void overflow_stack(int depth)
{
	volatile char here[4096];

	here[0] = (char)depth;
	if (depth > 0) /* always; the compiler need not know */
		overflow_stack(depth % 1000 + 1);
	here[1] = here[0];
}

static void *work_for_ever(void *ready)
{
	_Atomic int *flag = ready;

	__itt_thread_set_name("for ever");
	begin("thread open");
	for (unsigned long i = 0; *flag < 2; i++) {
		begin("thread task");
		__itt_task_end(domain);
		if (i == 1000)
			*flag = 1;
	}
	return NULL;
}

static void leave_thread_running(void)
{
	static _Atomic int ready;
	pthread_t thread;

	if (pthread_create(&thread, NULL, work_for_ever, &ready))
		abort();
	while (!ready)
		usleep(1000);
}

static void fork_child(void)
{
	pid_t pid = fork();

	if (!pid) {
		numbered("child ", TASKS);
		begin("child open");
		_exit(3);
	}
	waitpid(pid, NULL, 0);
}

static void use_cpu(void)
{
	const struct rlimit one = { 1, 1 };

	setrlimit(RLIMIT_CPU, &one); /* soft is hard: the kernel kills */
	for (volatile unsigned long i = 0;; i++)
		;
}

static void end_by_signal(const char *how)
{
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "segv"))
		*(volatile int *)0 = 1;
	if (!strcmp(how, "term"))
		raise(SIGTERM);
	if (!strcmp(how, "kill"))
		raise(SIGKILL);
	if (!strcmp(how, "stack"))
		overflow_stack(1);
	if (!strcmp(how, "cpu"))
		use_cpu();
	if (!strcmp(how, "wait"))
		for (;;)
			pause();
}

int main(int argc, char **argv)
{
	const struct rlimit none = { 0, 0 };
	const char *how = argc > 1 ? argv[1] : "return";

	setrlimit(RLIMIT_CORE, &none);
	domain = __itt_domain_create("ending");
	numbered("task ", TASKS);
	begin("open outer");
	begin("open inner");
	fputs("to stderr\n", stderr);
	puts("recorded");
	fflush(stdout);
	end_by_signal(how);
	if (!strcmp(how, "exit"))
		exit(42);
	if (!strcmp(how, "_exit"))
		_exit(43);
	if (!strcmp(how, "quick_exit"))
		quick_exit(44);
	if (!strcmp(how, "thread"))
		leave_thread_running();
	if (!strcmp(how, "fork"))
		fork_child();
	if (!strcmp(how, "exec") && argc > 2)
		execv(argv[2], argv + 2);
	return !strcmp(how, "return") ? 0 : 7;
}
