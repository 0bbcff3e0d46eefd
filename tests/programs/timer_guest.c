/*
 * timer_guest.c - what a program could notice of the timers that sample it: prints what it finds,
 * which has to be what it finds alone. Each word of the command line is something to look at:
 *
 *	signal     SIGURG is as it was, can be caught, sent, ignored and reset with all the others
 *	small      burns on a coroutine of one page, with nothing that can be read around it
 *	threads    burns in 200 threads with the smallest stacks, all signals blocked
 *	fork       burns in children of children
 *	calls      no read or poll is ended by a signal that was not sent
 *	spawn      executes /bin/true by vfork
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define PAGE 4096

static volatile uint64_t sink;
static volatile sig_atomic_t urgent;

static double cpu(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void burn(double ms)
{
	double end = cpu() + ms;

	while (cpu() < end) {
		for (int i = 0; i < 10000; i++)
			sink = sink * 6364136223846793005u + 1;
	}
}

static void on_urgent(int sig)
{
	urgent += sig == SIGURG;
}

static void on_urgent_info(int sig, siginfo_t *info, void *context)
{
	urgent += sig == SIGURG && info->si_code == SI_TKILL && context ? 100 : 0;
}

static void look_at_signal(void)
{
	struct sigaction act = { .sa_handler = on_urgent }, old;

	act.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR2, &act, NULL);
	sigaction(SIGUSR2, NULL, &old);
	printf("what was set is what is told: %d\n", !sigismember(&old.sa_mask, SIGURG));
	sigaddset(&act.sa_mask, SIGURG);
	sigaction(SIGUSR2, &act, NULL);
	sigaction(SIGUSR2, NULL, &old);
	printf("that, too: %d\n", sigismember(&old.sa_mask, SIGURG));
	act = (struct sigaction){ .sa_handler = on_urgent };
	sigaction(SIGURG, NULL, &old);
	printf("before: default %d flags %x\n", old.sa_handler == SIG_DFL, (unsigned)old.sa_flags);
	sigaction(SIGURG, &act, &old);
	printf("was default %d\n", old.sa_handler == SIG_DFL);
	burn(50);
	printf("nobody has sent one: %d\n", (int)urgent);
	raise(SIGURG);
	kill(getpid(), SIGURG);
	printf("two were sent: %d\n", (int)urgent);
	act = (struct sigaction){ .sa_sigaction = on_urgent_info,
				  .sa_flags = SA_SIGINFO | (int)SA_RESETHAND };
	sigaction(SIGURG, &act, &old);
	printf("was ours %d\n", old.sa_handler == on_urgent);
	raise(SIGURG);
	raise(SIGURG);
	printf("one was caught: %d\n", (int)urgent);
	printf("signal() tells: %d\n", signal(SIGURG, SIG_IGN) == SIG_DFL);
	raise(SIGURG);
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	burn(50);
	printf("after all: %d\n", (int)urgent);
}

static ucontext_t main_context, coroutine;

static void on_coroutine(void)
{
	burn(100);
	swapcontext(&coroutine, &main_context);
}

static void on_a_page(void)
{
	char *map = mmap(NULL, 3 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED || mprotect(map + PAGE, PAGE, PROT_READ | PROT_WRITE))
		exit(1);
	getcontext(&coroutine);
	coroutine.uc_stack.ss_sp = map + PAGE;
	coroutine.uc_stack.ss_size = PAGE;
	makecontext(&coroutine, on_coroutine, 0);
	swapcontext(&main_context, &coroutine);
	printf("back from the coroutine\n");
}

static void *in_thread(void *arg)
{
	sigset_t mask;

	burn(5);
	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	return sigismember(&mask, SIGUSR1) ? arg : NULL; /* still blocked */
}

static void in_threads(void)
{
	pthread_attr_t attr;
	pthread_t ids[20];
	sigset_t all, before;
	void *result;
	int right = 0, any;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, (size_t)sysconf(_SC_THREAD_STACK_MIN));
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	for (int round = 0; round < 10; round++) {
		for (int i = 0; i < 20; i++)
			pthread_create(&ids[i], &attr, in_thread, &any);
		for (int i = 0; i < 20; i++) {
			pthread_join(ids[i], &result);
			right += result == &any;
		}
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	printf("threads: %d\n", right);
}

static void in_children(void)
{
	int status = 0;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		burn(30);
		pid = fork();
		if (!pid) {
			burn(30);
			_exit(3);
		}
		waitpid(pid, &status, 0);
		_exit(WEXITSTATUS(status) + 1);
	}
	waitpid(pid, &status, 0);
	printf("children: %d\n", WEXITSTATUS(status));
}

/* The clock of CPU time does not run while we wait, and hardly in the calls: a signal in the middle
 * of one is possible, but then the call begins again. */
static void in_calls(void)
{
	int ends[2], ended = 0;
	char text[PAGE];

	if (pipe(ends))
		exit(1);
	for (int i = 0; i < 100; i++) {
		struct pollfd p = { .fd = ends[0], .events = POLLIN };

		burn(1);
		memset(text, i, sizeof(text));
		ended += write(ends[1], text, sizeof(text)) != sizeof(text);
		ended += poll(&p, 1, 10) != 1;
		ended += read(ends[0], text, sizeof(text)) != sizeof(text);
		ended += usleep(100) != 0;
	}
	printf("calls that were ended: %d\n", ended);
}

static void spawn(void)
{
	static char name[] = "true";
	char *const words[] = { name, NULL };
	int status = -1;
	pid_t pid;

	for (int i = 0; i < 20; i++) {
		burn(2);
		if (!posix_spawn(&pid, "/bin/true", NULL, NULL, words, words + 1))
			waitpid(pid, &status, 0);
	}
	printf("spawned: %d\n", status);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *word;
		void (*look)(void);
	} looks[] = { { "signal", look_at_signal }, { "small", on_a_page },
		      { "threads", in_threads },    { "fork", in_children },
		      { "calls", in_calls },        { "spawn", spawn } };

	for (int i = 1; i < argc; i++) {
		for (size_t k = 0; k < sizeof(looks) / sizeof(looks[0]); k++) {
			if (!strcmp(argv[i], looks[k].word))
				looks[k].look();
		}
	}
	return 7;
}
