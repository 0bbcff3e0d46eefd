/*
 * fork_first.c - forks while other threads make their first calls, and records in the children:
 *
 *	fork_first fork     by fork()
 *	fork_first raw      by the system call, so that no handler of fork() runs
 *	fork_first handler  by fork() in a handler of signals
 *	fork_first names    while the other threads only make names
 *	fork_first early    by fork() in a constructor, while a thread of it records
 *
 * Prints how many children hung and how many found signals blocked that nobody has blocked.
 */
#include <errno.h>
#include <ittnotify.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHILDREN 30
#define THREADS  2
#define TASKS    20000
#define PATIENCE 60 /* seconds until a child is said to hang */
#define BLOCKED  7  /* exit statuses */
#define FINE     6

static __itt_domain *domain;
static __itt_string_handle *loop, *in_child;
static const char *how = "";
static int stop, forks, hung, blocked, others;

static void record_task(__itt_string_handle *name)
{
	__itt_task_begin(domain, __itt_null, __itt_null, name);
	__itt_task_end(domain);
}

static void *work(void *unused)
{
	char name[16];

	for (int i = 0; i < TASKS && !__atomic_load_n(&stop, __ATOMIC_RELAXED); i++) {
		if (!strcmp(how, "names")) {
			snprintf(name, sizeof(name), "name %d", i);
			__itt_string_handle_create(name);
		} else {
			record_task(loop);
		}
	}
	return unused;
}

static void child(void)
{
	sigset_t now;
	int status = FINE;

	sigprocmask(SIG_BLOCK, NULL, &now);
	sigdelset(&now, SIGALRM); /* in its handler */
	for (int i = 1; i < 32; i++)
		if (sigismember(&now, i) == 1)
			status = BLOCKED;
	signal(SIGALRM, SIG_DFL);
	alarm(PATIENCE);
	record_task(in_child);
	_exit(status);
}

static void fork_one(void)
{
	pid_t pid = !strcmp(how, "raw") ? (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : fork();
	int status;

	if (!pid)
		child();
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	hung += WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
	blocked += WIFEXITED(status) && WEXITSTATUS(status) == BLOCKED;
	others += !WIFEXITED(status) && !(WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM);
}

static void on_signal(int signal)
{
	(void)signal;
	if (__atomic_fetch_add(&forks, 1, __ATOMIC_RELAXED) < CHILDREN)
		fork_one();
}

/* The handler runs on this thread, which makes its first calls, too. */
static void fork_in_handler(void)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	struct itimerval often = { { 0, 200 }, { 0, 200 } }, never = { { 0, 0 }, { 0, 0 } };

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	while (__atomic_load_n(&forks, __ATOMIC_RELAXED) < CHILDREN)
		record_task(loop);
	setitimer(ITIMER_REAL, &never, NULL);
}

static void run(void)
{
	pthread_t threads[THREADS];

	domain = __itt_domain_create("fork");
	loop = __itt_string_handle_create("loop");
	in_child = __itt_string_handle_create("in child");
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	if (!strcmp(how, "handler"))
		fork_in_handler();
	for (; forks < CHILDREN && !hung; forks++)
		fork_one();
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

__attribute__((constructor)) static void early(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "early")) {
		how = argv[1];
		run();
	}
}

int main(int argc, char **argv)
{
	if (!forks) {
		how = argc > 1 ? argv[1] : "fork";
		run();
	}
	printf("hung %d, blocked %d, killed %d\n", hung, blocked, others);
	fflush(stdout);
	return hung || blocked || others;
}
