/* timestamps.c - __itt_get_timestamp() against our records and against CLOCK_MONOTONIC. */
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include <ittnotify.h>

static __itt_domain *domain;

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static void *later(void *last)
{
	__itt_timestamp *seen = last, t = __itt_get_timestamp();

	if (t < *seen)
		puts("went backwards on another thread");
	*seen = t;
	return NULL;
}

int main(void)
{
	__itt_timestamp from, to, last;
	pthread_t thread;
	long long before, after;

	domain = __itt_domain_create("times");
	from = __itt_get_timestamp();
	before = now();
	__itt_task_begin(domain, __itt_null, __itt_null, __itt_string_handle_create("timed"));
	for (volatile int i = 0; i < 100000; i++)
		;
	__itt_task_end(domain);
	after = now();
	to = __itt_get_timestamp();
	__itt_frame_submit_v3(domain, NULL, from, to);
	last = to;
	for (int i = 0; i < 200; i++) {
		if (!pthread_create(&thread, NULL, later, &last))
			pthread_join(thread, NULL);
		if (__itt_get_timestamp() < last)
			puts("went backwards");
	}
	printf("%lld %lld\n", before, after);
	return 0;
}
