/*
 * hammer.c - two threads record numbered tasks as fast as they can, "hammer 0" and "hammer 1",
 * each with its number as metadata "n": words[1] times (20000), or "for-ever". Says "going" when
 * the first ten are recorded.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ittnotify.h>

static __itt_domain *domain;
static __itt_string_handle *key;
static uint64_t count = 20000;

static void *hammer(void *name)
{
	__itt_string_handle *task = __itt_string_handle_create(name);
	int is_main = !strcmp(name, "hammer 0");

	for (uint64_t i = 0; i < count; i++) {
		__itt_task_begin(domain, __itt_null, __itt_null, task);
		__itt_metadata_add(domain, __itt_null, key, __itt_metadata_u64, 1, &i);
		__itt_task_end(domain);
		if (i == 9 && is_main) {
			puts("going");
			fflush(stdout);
		}
	}
	return NULL;
}

int main(int argc, char **argv)
{
	char name[] = "hammer 1", main_name[] = "hammer 0";
	pthread_t thread;

	if (argc > 1)
		count = strcmp(argv[1], "for-ever") ? strtoull(argv[1], NULL, 10) : UINT64_MAX;
	alarm(20); /* whatever goes wrong, we do not stay */
	domain = __itt_domain_create("hammer");
	key = __itt_string_handle_create("n");
	if (pthread_create(&thread, NULL, hammer, name))
		return 1;
	hammer(main_name);
	pthread_join(thread, NULL);
	return 0;
}
