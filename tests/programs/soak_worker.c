/*
 * soak_worker.c - does what the lines on its standard input say, and answers each with how many
 * tasks it and its children have recorded up to then:
 *
 *   tasks N   fork N (a child records them)   paused N (not recorded under --start-paused, and on
 * afterwards) run (tasks without end, an answer after every thousand)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ittnotify.h>

#define NAMES 100

static __itt_domain *domain;
static __itt_string_handle *names[NAMES], *key;
static unsigned long recorded;

static void tasks(long count)
{
	for (long i = 0; i < count; i++) {
		int64_t value = i;

		__itt_task_begin(domain, __itt_null, __itt_null, names[i % NAMES]);
		if (i % 10 == 0)
			__itt_metadata_add(domain, __itt_null, key, __itt_metadata_s64, 1, &value);
		__itt_task_end(domain);
	}
	recorded += (unsigned long)count;
}

static void answer(void)
{
	printf("%lu\n", recorded);
	fflush(stdout);
}

static void in_child(long count)
{
	pid_t pid = fork();

	if (!pid) {
		tasks(count);
		_exit(0);
	}
	if (pid > 0 && waitpid(pid, NULL, 0) == pid)
		recorded += (unsigned long)count;
}

static void obey(const char *word, long count)
{
	if (!strcmp(word, "tasks"))
		tasks(count);
	if (!strcmp(word, "fork"))
		in_child(count);
	if (!strcmp(word, "paused")) {
		__itt_pause();
		tasks(count);
		recorded -= (unsigned long)count;
		__itt_resume();
	}
	while (!strcmp(word, "run")) {
		tasks(1000);
		answer();
		usleep(1000);
	}
}

int main(void)
{
	char line[64], word[16];
	long count;

	domain = __itt_domain_create("soak");
	key = __itt_string_handle_create("value");
	for (int i = 0; i < NAMES; i++) {
		snprintf(line, sizeof(line), "task %d", i);
		names[i] = __itt_string_handle_create(line);
	}
	while (fgets(line, sizeof(line), stdin)) {
		count = 0;
		if (sscanf(line, "%15s %ld", word, &count) >= 1)
			obey(word, count);
		answer();
	}
	return 0;
}
