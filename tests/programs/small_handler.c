/*
 * small_handler.c - records in a signal handler on the smallest alternate stack that the kernel's
 * own frame leaves a few hundred bytes of, with nothing below it:
 *
 *	small_handler first   the first call of the program is made there
 *	small_handler thread  the first of its thread
 *	small_handler child   the first of a forked child
 *	small_handler burn    the handler uses CPU time, and signals that come meanwhile find it
 * there
 *
 * Each of its tasks has a name of its own, and between them there are enough for several chunks.
 */
#include <ittnotify.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE    4096u
#define LEFT    700u /* bytes */
#define SIGNALS 100
#define BETWEEN 500 /* tasks */

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

static const char *how = "first";
static int handled;

static void record_task(const char *name)
{
	__itt_domain *domain = __itt_domain_create("small");

	__itt_task_begin(domain, __itt_null, __itt_null, __itt_string_handle_create(name));
	__itt_task_end(domain);
}

/* Without calls, which the loader may have to find first: that needs more stack. */
static void burn(void)
{
	for (volatile int i = 0; i < 10000000; i++)
		continue;
}

static void on_signal(int signal)
{
	char name[] = "handled 00";

	(void)signal;
	name[8] = (char)('0' + handled / 10);
	name[9] = (char)('0' + handled % 10);
	handled++;
	if (!strcmp(how, "burn") && handled < 20)
		burn();
	record_task(name);
}

/* Its lowest byte is the first of a page, with a page that cannot be read below. */
static void *run(void *unused)
{
	size_t frame = getauxval(AT_MINSIGSTKSZ), size = frame + LEFT > PAGE ? frame + LEFT : PAGE;
	size_t bytes = (size + PAGE - 1) / PAGE * PAGE;
	char *place = mmap(NULL, bytes + PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK };
	stack_t stack = { .ss_size = size };

	if (place == MAP_FAILED || mprotect(place + PAGE, bytes, PROT_READ | PROT_WRITE))
		return NULL;
	stack.ss_sp = place + PAGE;
	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	for (int i = 0; i < SIGNALS; i++) {
		raise(SIGUSR1);
		for (int k = 0; k < BETWEEN; k++)
			record_task("between");
	}
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	int status = 0;

	how = argc > 1 ? argv[1] : how;
	if (strcmp(how, "first") != 0)
		record_task("before");
	if (!strcmp(how, "thread")) {
		pthread_create(&thread, NULL, run, NULL);
		pthread_join(thread, NULL);
	} else if (!strcmp(how, "child")) {
		if (!fork()) {
			run(NULL);
			_exit(handled == SIGNALS ? 0 : 1);
		}
		wait(&status);
		handled = status ? 0 : SIGNALS;
	} else {
		run(NULL);
	}
	printf("%d\n", handled);
	return handled != SIGNALS;
}
