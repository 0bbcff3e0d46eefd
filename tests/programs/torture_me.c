/*
 * torture_me.c - a program whose output does not depend on anybody who listens: tasks, names, a
 * thread, a forked child. Says how many tasks it made, and ends with status 7.
 */
#include <ittnotify.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Enough for the recording to outgrow its first 64 KiB, by the first thread and by the second. */
#define MAIN   6000
#define THREAD 4000
#define CHILD  500

static __itt_domain *domain;

static void tasks(const char *name, int count)
{
	__itt_string_handle *handle = __itt_string_handle_create(name);

	for (int i = 0; i < count; i++) {
		__itt_task_begin(domain, __itt_null, __itt_null, handle);
		__itt_task_end(domain);
	}
}

static void *thread(void *unused)
{
	tasks("thread", THREAD);
	return unused;
}

int main(void)
{
	pthread_t other;
	char *text = malloc(20000);
	pid_t child;

	domain = __itt_domain_create("torture");
	tasks("main", MAIN);
	if (!text || pthread_create(&other, NULL, thread, NULL))
		return 2;
	memset(text, 'x', 19999);
	text[19999] = '\0';
	tasks(text, 10);
	pthread_join(other, NULL);
	child = fork();
	if (!child) {
		tasks("child", CHILD);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	printf("%d\n", MAIN + THREAD + 10);
	free(text);
	return 7;
}
