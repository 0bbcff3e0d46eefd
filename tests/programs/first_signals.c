/*
 * first_signals.c - a timer whose handler records, while the program makes its first call and some
 * more.
 *
 * Says how many tasks the handler made.
 */
#include <ittnotify.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

#define TICKS 200  /* the handler has recorded at least so many, */
#define WORKS 2000 /* the program so many */

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

int main(void)
{
	struct itimerval often = { { 0, 50 }, { 0, 50 } }, never = { { 0, 0 }, { 0, 0 } };
	struct sigaction action = { .sa_handler = tick, .sa_flags = SA_RESTART };

	domain = __itt_domain_create("signals");
	name = __itt_string_handle_create("tick");
	work = __itt_string_handle_create("work");
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL); /* the handler may well be the first to call */
	for (int i = 0; i < WORKS; i++) {
		__itt_task_begin(domain, __itt_null, __itt_null, work);
		__itt_task_end(domain);
	}
	while (made < TICKS)
		continue;
	setitimer(ITIMER_REAL, &never, NULL);
	printf("%d\n", (int)made);
	return 0;
}
