/*
 * family.c - a process that has children, or that makes its own life hard, and records numbered
 * tasks "parent N" before and after. The first word says what happens in between; a second names
 * a program to run, a folder or a named pipe. Says "done" at the end.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ittnotify.h>

#define FEW  100
#define MANY 80000 /* more than the first MiB of a recording holds */

extern char **environ;

static __itt_domain *domain;
static int next_number;

static void task(const char *name)
{
	__itt_task_begin(domain, __itt_null, __itt_null, __itt_string_handle_create(name));
	__itt_task_end(domain);
}

static void numbered(const char *prefix, int from, int count)
{
	char name[64];

	for (int i = from; i < from + count; i++) {
		snprintf(name, sizeof(name), "%s %d", prefix, i);
		task(name);
	}
}

static void parent_tasks(int count)
{
	numbered("parent", next_number, count);
	next_number += count;
}

static void many_tasks(void)
{
	__itt_string_handle *name = __itt_string_handle_create("many");

	for (int i = 0; i < MANY; i++) {
		__itt_task_begin(domain, __itt_null, __itt_null, name);
		__itt_task_end(domain);
	}
}

static void wait_for_all(void)
{
	while (wait(NULL) > 0 || errno == EINTR)
		;
}

static void do_fork(char **words)
{
	char prefix[32];

	(void)words;
	for (int i = 0; i < 3; i++) {
		if (fork())
			continue;
		snprintf(prefix, sizeof(prefix), "child%d", i);
		numbered(prefix, 0, FEW);
		if (i == 2 && !fork())
			numbered("grandchild", 0, FEW);
		wait_for_all();
		_exit(0);
	}
	parent_tasks(FEW);
	wait_for_all();
}

static void do_vfork(char **words)
{
	if (!vfork()) {
		execv(words[0], words);
		_exit(99);
	}
	wait_for_all();
}

static void do_spawn(char **words)
{
	pid_t pid;

	if (posix_spawn(&pid, words[0], NULL, NULL, words, environ))
		exit(99);
	wait_for_all();
}

static void do_system(char **words)
{
	if (system(words[0]))
		exit(99);
}

static void do_clone(char **words)
{
	long pid = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);

	(void)words;
	if (!pid) {
		numbered("cloned", 0, FEW);
		syscall(SYS_exit_group, 0);
	}
	wait_for_all();
}

/* Outlives the program, and then until somebody opens the pipe words[0], if there is one; its
   streams are not the test's, which would wait for them. */
static void do_daemon(char **words)
{
	pid_t program = getpid();
	int null, recorded[2];
	char byte = 0;

	if (pipe(recorded))
		_exit(1);
	if (fork()) {
		close(recorded[1]);
		if (read(recorded[0], &byte, 1) != 1) /* it is part of the recording now */
			_exit(1);
		close(recorded[0]);
		wait_for_all();
		return;
	}
	close(recorded[0]);
	setsid();
	if (fork())
		_exit(0);
	null = open("/dev/null", O_RDWR);
	dup2(null, 0);
	dup2(null, 1);
	dup2(null, 2);
	numbered("daemon", 0, FEW / 2);
	if (write(recorded[1], &byte, 1) != 1)
		_exit(1);
	close(recorded[1]);
	while (!kill(program, 0))
		usleep(1000);
	if (words[0])
		close(open(words[0], O_RDONLY));
	numbered("daemon", FEW / 2, FEW / 2);
	_exit(0);
}

static void do_again(char **words)
{
	char left[16], way[] = "again";
	char *argv[] = { program_invocation_name, way, left, NULL };
	int n = words[0] ? atoi(words[0]) : 2;

	snprintf(left, sizeof(left), "%d", n - 1);
	printf("run %d\n", n);
	fflush(stdout);
	if (n > 0)
		execv(getenv("FAMILY_EXE") ? "/proc/self/exe" : program_invocation_name, argv);
}

static volatile int stop;

static void *record_on(void *unused)
{
	while (!stop)
		task("meanwhile");
	return unused;
}

static void do_threadfork(char **words)
{
	pthread_t thread;

	(void)words;
	if (pthread_create(&thread, NULL, record_on, NULL))
		exit(99);
	for (int i = 0; i < 10; i++) {
		if (fork())
			continue;
		numbered("forked", 0, FEW);
		_exit(0);
	}
	wait_for_all();
	stop = 1;
	pthread_join(thread, NULL);
}

static void do_close(char **words)
{
	(void)words;
	for (int fd = 3; fd < 4096; fd++)
		close(fd);
	many_tasks();
	for (int fd = 3; fd < 1200; fd++) /* somebody else gets the number */
		if (open("/dev/null", O_RDONLY) < 0)
			break;
	many_tasks();
}

static void do_chdir(char **words)
{
	if (chdir(words[0] ? words[0] : "/"))
		exit(99);
	many_tasks();
	do_fork(words);
}

static void do_chroot(char **words)
{
	if (chroot(words[0]) || chdir("/"))
		exit(99);
	many_tasks();
	if (!fork()) {
		numbered("jailed", 0, FEW);
		_exit(0);
	}
	wait_for_all();
}

static void limit(int what, rlim_t value)
{
	const struct rlimit l = { value, value };

	if (setrlimit((__rlimit_resource_t)what, &l))
		exit(99);
}

static void do_nofile(char **words)
{
	(void)words;
	limit(RLIMIT_NOFILE, 3);
	many_tasks();
	if (!fork()) {
		numbered("limited", 0, FEW);
		_exit(0);
	}
	wait_for_all();
}

static void do_fsize(char **words)
{
	(void)words;
	limit(RLIMIT_FSIZE, 100000);
	many_tasks();
	if (!fork()) {
		numbered("limited", 0, FEW);
		_exit(0);
	}
	wait_for_all();
}

static void do_as(char **words)
{
	(void)words;
	limit(RLIMIT_AS, 1 << 20); /* less than there is: nothing more can be mapped */
	many_tasks();
}

static void do_env(char **words)
{
	char *none[] = { NULL };

	if (!fork()) {
		execve(words[0], words, none);
		_exit(99);
	}
	wait_for_all();
}

/* The child is process 1 of a namespace, as we may be of ours. */
static void do_newpid(char **words)
{
	(void)words;
	if (unshare(CLONE_NEWPID))
		exit(99);
	if (!fork()) {
		alarm(1);
		numbered("namespaced", 0, FEW);
		_exit(0);
	}
	wait_for_all();
}

static const struct {
	const char *name;
	void (*run)(char **words);
} ways[] = {
	{ "fork", do_fork },     { "vfork", do_vfork },
	{ "spawn", do_spawn },   { "system", do_system },
	{ "clone", do_clone },   { "daemon", do_daemon },
	{ "again", do_again },   { "threadfork", do_threadfork },
	{ "close", do_close },   { "chdir", do_chdir },
	{ "chroot", do_chroot }, { "nofile", do_nofile },
	{ "fsize", do_fsize },   { "as", do_as },
	{ "env", do_env },       { "newpid", do_newpid },
};

/* Whatever goes wrong, we do not stay; with a handler, because process 1 is immune without. */
static void give_up(int sig)
{
	_exit(sig);
}

int main(int argc, char **argv)
{
	signal(SIGALRM, give_up);
	alarm(600); /* whatever goes wrong, we do not stay */
	domain = __itt_domain_create("family");
	/* "late": the trouble comes before the first mark. */
	if (argc < 2 || strncmp(argv[1], "late-", 5) != 0)
		parent_tasks(FEW);
	else
		argv[1] += 5;
	for (size_t i = 0; argc > 1 && i < sizeof(ways) / sizeof(ways[0]); i++)
		if (!strcmp(argv[1], ways[i].name))
			ways[i].run(argv + 2);
	parent_tasks(FEW);
	puts("done");
	return 0;
}
