/*
 * flight.c - two threads record nested tasks, "outer N" around three "inner", which do not fill
 * chunks evenly: what a flight recorder leaves of them must not be paired wrongly.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <ittnotify.h>

static __itt_domain *domain;
static long count = 60000;

static void *fly(void *which)
{
	__itt_string_handle *inner = __itt_string_handle_create("inner");
	__itt_string_handle *outer = __itt_string_handle_create(which);
	__itt_string_handle *key = __itt_string_handle_create("n");

	for (int64_t i = 0; i < count; i++) {
		__itt_task_begin(domain, __itt_null, __itt_null, outer);
		__itt_metadata_add(domain, __itt_null, key, __itt_metadata_s64, 1, &i);
		for (int k = 0; k < 3; k++) {
			__itt_task_begin(domain, __itt_null, __itt_null, inner);
			__itt_task_end(domain);
		}
		__itt_task_end(domain);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	char first[] = "outer 0", second[] = "outer 1";
	pthread_t thread;

	if (argc > 1)
		count = atol(argv[1]);
	domain = __itt_domain_create("flight");
	if (pthread_create(&thread, NULL, fly, second))
		return 1;
	fly(first);
	pthread_join(thread, NULL);
	return 0;
}
