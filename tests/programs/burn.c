/*
 * burn.c - spends CPU time where it says: each word of the command line is something to do, and at
 * the end it prints how much time each function has really taken, as JSON.
 *
 *	shares MS      burn_half 50 %, burn_third 30 %, burn_rest 20 % of MS
 *	deep N MS      burns MS below N calls of recurse()
 *	threads N MS   N threads called "worker K" that burn MS each
 *	brief N US     N threads, one after the other, that burn US microseconds each
 *	signal MS      burns in a handler of SIGUSR1
 *	fork MS        burns in a child
 *	exec MS        executes itself with "shares MS"
 *	task NAME MS   burns in an ITT task
 *	sleep MS       waits
 *	itt WHAT       __itt_resume, __itt_pause or __itt_detach
 *	variable V     sets PTI_ENABLE_COLLECTION
 *	lines N        prints "ready" and reads a line of standard input, N times
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ittnotify.h"

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

static volatile uint64_t sink;
static double spent_half, spent_third, spent_rest, spent_deep, spent_worker, spent_handler;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static double cpu(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* The clock is read in main parts: what is sampled is in the function itself. */
#define BURN(name, spent)                                                                          \
	NOINLINE static void name(double ms)                                                       \
	{                                                                                          \
		double start = cpu(), now = start;                                                 \
                                                                                                   \
		while (now - start < ms) {                                                         \
			for (int i = 0; i < 100000; i++)                                           \
				sink = sink * 6364136223846793005u + 1;                            \
			now = cpu();                                                               \
		}                                                                                  \
		pthread_mutex_lock(&lock);                                                         \
		(spent) += now - start;                                                            \
		pthread_mutex_unlock(&lock);                                                       \
	}

BURN(burn_half, spent_half)
BURN(burn_third, spent_third)
BURN(burn_rest, spent_rest)
BURN(burn_deep, spent_deep)
BURN(burn_worker, spent_worker)
BURN(burn_handler, spent_handler)

static void shares(double ms)
{
	for (int i = 0; i < 10; i++) {
		burn_half(ms * 0.05);
		burn_third(ms * 0.03);
		burn_rest(ms * 0.02);
	}
}

NOINLINE static int recurse(int n, double ms)
{
	volatile int frame[8] = { n };

	if (!n)
		burn_deep(ms);
	else
		frame[1] = recurse(n - 1, ms);
	return frame[0] + frame[1];
}

struct work {
	double ms;
	int number;
};

static void *work(void *arg)
{
	const struct work *w = arg;
	char name[16];

	snprintf(name, sizeof(name), "worker %d", w->number % 1000);
	pthread_setname_np(pthread_self(), name);
	burn_worker(w->ms);
	return NULL;
}

static void threads(int count, double ms, int at_once)
{
	pthread_t *ids = calloc((size_t)count, sizeof(*ids));
	struct work *works = calloc((size_t)count, sizeof(*works));

	for (int i = 0; i < count; i++) {
		works[i] = (struct work){ ms, i };
		if (pthread_create(&ids[i], NULL, work, &works[i]))
			exit(1);
		if (!at_once)
			pthread_join(ids[i], NULL);
	}
	for (int i = 0; at_once && i < count; i++)
		pthread_join(ids[i], NULL);
	free(ids);
	free(works);
}

static double handler_ms;

static void handler(int sig)
{
	(void)sig;
	burn_handler(handler_ms);
}

static void in_handler(double ms)
{
	struct sigaction act = { .sa_handler = handler };

	handler_ms = ms;
	sigaction(SIGUSR1, &act, NULL);
	raise(SIGUSR1);
}

static void in_child(double ms)
{
	pid_t pid = fork();

	if (!pid) {
		shares(ms);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static void in_task(const char *name, double ms)
{
	__itt_domain *domain = __itt_domain_create("burn");

	__itt_task_begin(domain, __itt_null, __itt_null, __itt_string_handle_create(name));
	burn_half(ms);
	__itt_task_end(domain);
}

static void control(const char *what)
{
	if (!strcmp(what, "resume"))
		__itt_resume();
	else if (!strcmp(what, "pause"))
		__itt_pause();
	else
		__itt_detach();
}

static void lines(int count)
{
	while (count--) {
		puts("ready");
		fflush(stdout);
		for (int c = getchar(); c != '\n' && c != EOF;)
			c = getchar();
	}
}

static void print(void)
{
	printf("{\"burn_half\":%.3f,\"burn_third\":%.3f,\"burn_rest\":%.3f,\"burn_deep\":%.3f,"
	       "\"burn_worker\":%.3f,\"burn_handler\":%.3f}\n",
	       spent_half, spent_third, spent_rest, spent_deep, spent_worker, spent_handler);
}

int main(int argc, char **argv)
{
	for (int i = 1; i + 1 < argc; i += 2) {
		const char *what = argv[i];
		double ms = atof(argv[i + 1]), second = i + 2 < argc ? atof(argv[i + 2]) : 0;

		if (!strcmp(what, "shares"))
			shares(ms);
		else if (!strcmp(what, "deep"))
			recurse(atoi(argv[i++ + 1]), second);
		else if (!strcmp(what, "threads"))
			threads(atoi(argv[i++ + 1]), second, 1);
		else if (!strcmp(what, "brief"))
			threads(atoi(argv[i++ + 1]), second / 1e3, 0);
		else if (!strcmp(what, "signal"))
			in_handler(ms);
		else if (!strcmp(what, "fork"))
			in_child(ms);
		else if (!strcmp(what, "task"))
			in_task(argv[i++ + 1], second);
		else if (!strcmp(what, "sleep"))
			usleep((useconds_t)(ms * 1e3));
		else if (!strcmp(what, "itt"))
			control(argv[i + 1]);
		else if (!strcmp(what, "variable"))
			setenv("PTI_ENABLE_COLLECTION", argv[i + 1], 1);
		else if (!strcmp(what, "lines"))
			lines(atoi(argv[i + 1]));
		else if (!strcmp(what, "exec"))
			execl("/proc/self/exe", argv[0], "shares", argv[i + 1], (char *)NULL);
		else
			return 2;
	}
	print();
	return 0;
}
