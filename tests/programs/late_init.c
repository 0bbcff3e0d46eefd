/* late_init.c - eight threads make the program's first ITT calls at the same moment. */
#include <pthread.h>
#include <stdio.h>

#include <ittnotify.h>

#define THREADS 8
#define TASKS   500

static pthread_barrier_t barrier;

static void *work(void *number)
{
	char name[32], thread[32];
	__itt_domain *domain;

	snprintf(name, sizeof(name), "racer %ld", (long)number);
	snprintf(thread, sizeof(thread), "thread %ld", (long)number);
	pthread_barrier_wait(&barrier);
	domain = __itt_domain_create("race");
	for (int i = 0; i < TASKS; i++) {
		__itt_task_begin(domain, __itt_null, __itt_null, __itt_string_handle_create(name));
		__itt_task_end(domain);
	}
	__itt_thread_set_name(thread);
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];

	pthread_barrier_init(&barrier, NULL, THREADS);
	for (long i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)i))
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
