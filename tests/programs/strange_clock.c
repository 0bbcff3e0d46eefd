/*
 * strange_clock.c - a program whose time is not the machine's: it has put a clock_gettime() of its
 * own in front of the C library's, which counts ten times as fast from a far day on, as libraries
 * for tests do. Each task takes a tenth of a second of real time.
 *
 * link: -rdynamic
 */
#include <ittnotify.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t id, struct timespec *now)
{
	static long first;
	long rc = syscall(SYS_clock_gettime, id, now);

	if (!first)
		first = now->tv_sec;
	now->tv_sec = 2000000000 + 10 * (now->tv_sec - first) + now->tv_nsec / 100000000;
	now->tv_nsec = now->tv_nsec % 100000000 * 10;
	return (int)rc;
}

int main(void)
{
	__itt_domain *domain = __itt_domain_create("strange");
	__itt_string_handle *nap = __itt_string_handle_create("nap");
	const struct timespec tenth = { 0, 100000000 };

	for (int i = 0; i < 4; i++) {
		__itt_task_begin(domain, __itt_null, __itt_null, nap);
		nanosleep(&tenth, NULL);
		__itt_task_end(domain);
	}
	puts("done");
	return 0;
}
