/* threads_many.c - thousands of short threads, one after the other and a few at once. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <ittnotify.h>

#define AT_ONCE 4

static __itt_domain *domain;

static void *work(void *number)
{
	char name[64];

	snprintf(name, sizeof(name), "thread %ld", (long)number);
	__itt_task_begin(domain, __itt_null, __itt_null, __itt_string_handle_create("short"));
	__itt_task_begin(domain, __itt_null, __itt_null, __itt_string_handle_create(name));
	__itt_task_end(domain);
	__itt_task_end(domain);
	return NULL;
}

int main(int argc, char **argv)
{
	long count = argc > 1 ? atol(argv[1]) : 3000;
	pthread_t threads[AT_ONCE];

	domain = __itt_domain_create("threads");
	for (long i = 0; i < count; i += AT_ONCE) {
		for (int k = 0; k < AT_ONCE; k++)
			if (pthread_create(&threads[k], NULL, work, (void *)(i + k)))
				return 1;
		for (int k = 0; k < AT_ONCE; k++)
			pthread_join(threads[k], NULL);
	}
	return 0;
}
