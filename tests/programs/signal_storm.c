/*
 * signal_storm.c - a timer's handler records numbered tasks ("storm") in the middle of whatever
 * the main code ("main") and a thread are recording. Prints how many the handler had made when the
 * first call was over, and in the end.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/time.h>

#include <ittnotify.h>

static __itt_domain *domain, *storm_domain;
static __itt_string_handle *storm, *key, *main_name;
static _Atomic int64_t made;

static void on_timer(int sig)
{
	int64_t n = made++;
	int saved = errno;

	(void)sig;
	__itt_task_begin(storm_domain, __itt_null, __itt_null, storm);
	__itt_metadata_add(storm_domain, __itt_null, key, __itt_metadata_s64, 1, &n);
	__itt_task_end(storm_domain);
	if (errno != saved)
		made = -1000000; /* a hook has touched errno */
}

static void *work(void *count)
{
	for (int64_t i = 0; i < (intptr_t)count; i++) {
		__itt_task_begin(domain, __itt_null, __itt_null, main_name);
		__itt_metadata_add(domain, __itt_null, key, __itt_metadata_s64, 1, &i);
		__itt_task_end(domain);
	}
	return NULL;
}

int main(void)
{
	const struct itimerval often = { { 0, 50 }, { 0, 50 } }, never = { { 0, 0 }, { 0, 0 } };
	struct sigaction action = { .sa_handler = on_timer, .sa_flags = SA_RESTART };
	long long ready;
	pthread_t thread;

	domain = __itt_domain_create("main");
	storm_domain = __itt_domain_create("storm");
	main_name = __itt_string_handle_create("main");
	storm = __itt_string_handle_create("storm");
	key = __itt_string_handle_create("n");
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL); /* so that the very first call is interrupted, too */
	__itt_task_begin(domain, __itt_null, __itt_null, __itt_string_handle_create("first"));
	__itt_task_end(domain);
	ready = made;
	if (pthread_create(&thread, NULL, work, (void *)100000))
		return 1;
	work((void *)100000);
	while (made < 200 && made >= 0)
		;
	pthread_join(thread, NULL);
	setitimer(ITIMER_REAL, &never, NULL);
	printf("%lld %lld\n", ready, (long long)made);
	return 0;
}
