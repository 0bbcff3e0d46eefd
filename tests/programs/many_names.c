/*
 * many_names.c - a program with a great many names: many_names COUNT [late|fork]
 *
 * COUNT string handles before the first task, or after it (late), or before a fork whose child
 * records (fork). Then a task for every thousandth name, and a name that is asked for again.
 */
#include <ittnotify.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static __itt_domain *domain;

static void one(__itt_string_handle *name)
{
	__itt_task_begin(domain, __itt_null, __itt_null, name);
	__itt_task_end(domain);
}

static __itt_string_handle *number(long i)
{
	char text[32];

	snprintf(text, sizeof(text), "name %ld", i);
	return __itt_string_handle_create(text);
}

int main(int argc, char **argv)
{
	long count = argc > 1 ? atol(argv[1]) : 1000;
	const char *how = argc > 2 ? argv[2] : "";
	__itt_string_handle **names = calloc((size_t)count, sizeof(void *)), *again = NULL;
	int status = 0;

	domain = __itt_domain_create("names");
	if (!names || count < 1)
		return 2;
	if (!strcmp(how, "late"))
		one(__itt_string_handle_create("first"));
	for (long i = 0; i < count; i++)
		names[i] = number(i);
	again = number(count / 2);
	if (!strcmp(how, "fork") && fork()) {
		one(__itt_string_handle_create("parent"));
		wait(&status);
		return WEXITSTATUS(status);
	}
	for (long i = 0; i < count; i += 1000)
		one(names[i]);
	puts(again == names[count / 2] ? "same" : "different");
	free(names);
	return 0;
}
