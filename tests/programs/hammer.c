/*
 * hammer.c - two threads record numbered tasks as fast as they can, "hammer 0" and "hammer 1",
 * each with its number as metadata "n": words[1] times (20000). Says "going" when the first ten are
 * recorded.
 *
 *	hammer killed N
 *
 * for ever, until a third thread sees that "hammer 0" has recorded N, and sends SIGKILL: neither of
 * the two can know at which moment.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ittnotify.h>

static __itt_domain *domain;
static __itt_string_handle *key;
static uint64_t count = 20000;
static _Atomic uint64_t recorded; /* by "hammer 0" */

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
		if (is_main)
			atomic_store_explicit(&recorded, i + 1, memory_order_relaxed);
	}
	return NULL;
}

static void *killer(void *limit)
{
	while (recorded < *(const uint64_t *)limit)
		sched_yield();
	kill(getpid(), SIGKILL);
	return NULL;
}

int main(int argc, char **argv)
{
	char name[] = "hammer 1", main_name[] = "hammer 0";
	uint64_t limit = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
	pthread_t thread, other;

	if (argc > 1)
		count = limit ? UINT64_MAX : strtoull(argv[1], NULL, 10);
	alarm(600); /* whatever goes wrong, we do not stay */
	domain = __itt_domain_create("hammer");
	key = __itt_string_handle_create("n");
	if (pthread_create(&thread, NULL, hammer, name) ||
	    (limit && pthread_create(&other, NULL, killer, &limit)))
		return 1;
	hammer(main_name);
	pthread_join(thread, NULL);
	return 0;
}
