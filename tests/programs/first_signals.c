/*
 * first_signals.c - a timer whose handler records, while the program makes its first call.
 *
 * Says how many tasks the handler made.
 */
#include <ittnotify.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>

static __itt_domain *domain;
static __itt_string_handle *name, *work;
static volatile sig_atomic_t made;

static void tick(int signal)
{
	(void)signal;
	__itt_task_begin(domain, __itt_null, __itt_null, name);
	__itt_task_end(domain);
	made = made + 1;
}

static long ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000 + t.tv_nsec;
}

int main(void)
{
	struct itimerval often = { { 0, 50 }, { 0, 50 } }, never = { { 0, 0 }, { 0, 0 } };
	struct sigaction action = { .sa_handler = tick, .sa_flags = SA_RESTART };
	long end = ns() + 50000000;

	domain = __itt_domain_create("signals");
	name = __itt_string_handle_create("tick");
	work = __itt_string_handle_create("work");
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL); /* the handler may well be the first to call */
	while (ns() < end) {
		__itt_task_begin(domain, __itt_null, __itt_null, work);
		__itt_task_end(domain);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	printf("%d\n", (int)made);
	return 0;
}
