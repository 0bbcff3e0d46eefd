/*
 * memory_known.c - allocates what its arguments say, each in a function of its own, for the tests
 * of
 * --memory. Prints what it saw itself, so that a run with a recorder can be compared with one
 * without.
 *
 *	blocks N SIZE LEAK    N blocks, all but LEAK of them are freed
 *	functions             one block by each function of the C library, 1000 bytes or more
 *	threads N             N threads get 100 blocks each; the first thread frees them
 *	fork                  a child frees what its parent has, and has 50 blocks of its own
 *	task NAME N           N blocks of 100 bytes in an ITT task
 *	fails                 allocations that are too large, and a block that cannot grow
 *	churn N LIVE          N blocks of 16 to 1,000 bytes, LIVE of them at a time
 *	deep N                a block at the end of N calls
 *	signal                in a handler, on a stack of its own
 *	pause                 20 blocks before, in and after a pause
 *	end HOW               ends so: exit, quick, abort, segv, kill, double, exec
 */
/* link: -fno-builtin -fno-optimize-sibling-calls -rdynamic */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ittnotify.h"

#if defined(__clang__)
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noipa)) /* and no copies under other names */
#endif

static const char *const *words;

static size_t number(void)
{
	return *words ? strtoul(*words++, NULL, 10) : 0;
}

NOINLINE static void *make_block(size_t size)
{
	return malloc(size);
}

/* ---- the modes ----------------------------------------------------------------------------- */

static void blocks(void)
{
	size_t count = number(), size = number(), leak = number();
	void **all = calloc(count, sizeof(*all));

	for (size_t i = 0; i < count; i++)
		all[i] = make_block(size);
	for (size_t i = leak; i < count; i++)
		free(all[i]);
	free(all);
}

#define BY(name, expression)                                                                       \
	NOINLINE static void *by_##name(void)                                                      \
	{                                                                                          \
		void *block = expression;                                                          \
                                                                                                   \
		__asm__ volatile("" : "+r"(block));                                                \
		return block;                                                                      \
	}

static void *aligned_by_posix(void)
{
	void *block = NULL;

	return posix_memalign(&block, 64, 1000) ? NULL : block;
}

BY(plain, malloc(1000))
BY(zeroed, calloc(10, 100))
BY(grown, realloc(malloc(10), 1000))
BY(grown_from_nothing, realloc(NULL, 1000))
BY(array, reallocarray(NULL, 10, 100))
BY(on_a_boundary, memalign(256, 1000))
BY(on_a_line, aligned_alloc(64, 1024))
BY(posix, aligned_by_posix())
BY(on_a_page, valloc(1000))
BY(whole_pages, pvalloc(1000))
BY(text, strdup("0123456789"))
BY(large, malloc(10000000))
BY(nothing, malloc(0))

static void functions(void)
{
	void *all[] = { by_plain(),     by_zeroed(),        by_grown(),     by_grown_from_nothing(),
			by_array(),     by_on_a_boundary(), by_on_a_line(), by_posix(),
			by_on_a_page(), by_whole_pages(),   by_text(),      by_large(),
			by_nothing() };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		printf("%zu: %s, %d\n", i, all[i] ? "there" : "missing",
		       malloc_usable_size(all[i]) >= (i < 10 ? 1000u : 0));
		if (i % 2)
			free(all[i]);
	}
}

static void *thread(void *arg)
{
	void **all = arg;

	for (int i = 0; i < 100; i++)
		all[i] = make_block(200);
	return NULL;
}

static void threads(void)
{
	size_t count = number();
	void **all = calloc(count * 100, sizeof(*all));
	pthread_t *ids = calloc(count, sizeof(*ids));

	for (size_t i = 0; i < count; i++)
		pthread_create(&ids[i], NULL, thread, all + 100 * i);
	for (size_t i = 0; i < count; i++)
		pthread_join(ids[i], NULL);
	for (size_t i = 0; i < count * 100; i++)
		free(all[i]);
	free(all);
	free(ids);
}

NOINLINE static void *child_block(void)
{
	return malloc(300);
}

static void forks(void)
{
	void *all[100];
	pid_t pid;

	for (int i = 0; i < 100; i++)
		all[i] = make_block(1000);
	pid = fork();
	if (pid == 0) {
		for (int i = 0; i < 100; i++)
			free(all[i]);
		for (int i = 0; i < 50; i++)
			all[i] = child_block();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static void task(void)
{
	const char *name = *words++;
	__itt_domain *domain = __itt_domain_create("memory");
	size_t count = number();

	__itt_task_begin(domain, __itt_null, __itt_null, __itt_string_handle_create(name));
	for (size_t i = 0; i < count; i++)
		make_block(100);
	__itt_task_end(domain);
}

static void fails(void)
{
	volatile size_t huge = SIZE_MAX / 2;
	void *block = make_block(1000), *to;

	errno = 0;
	printf("%p %d\n", malloc(huge), errno);
	errno = 0;
	printf("%p %d\n", calloc(huge, 4), errno);
	errno = 0;
	printf("%p %d\n", reallocarray(NULL, huge, 4), errno);
	errno = 0;
	to = realloc(block, huge);
	printf("%p %d\n", to, errno);
	errno = 77;
	free(NULL);
	printf("%d\n", errno);
}

static void churn(void)
{
	size_t count = number(), live = number(), sum = 0, alive = 0;
	uint64_t random = 88172645463325252u;
	void **all = calloc(live, sizeof(*all));
	size_t *sizes = calloc(live, sizeof(*sizes));

	for (size_t i = 0; i < count; i++) {
		size_t at = i % live;

		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		free(all[at]);
		sizes[at] = 16 + (random >> 30) % 985;
		all[at] = make_block(sizes[at]);
		sum += sizes[at];
	}
	for (size_t i = 0; i < live; i++)
		alive += sizes[i];
	printf("%zu %zu\n", sum, alive);
}

NOINLINE static int descend(size_t depth)
{
	volatile int here = 1;

	if (depth)
		here += descend(depth - 1);
	else
		make_block(5000);
	return here;
}

static void handler(int sig)
{
	(void)sig;
	make_block(700);
}

static void signals(void)
{
	static char stack[32768];
	stack_t alternate = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction act = { .sa_handler = handler, .sa_flags = SA_ONSTACK };

	sigaltstack(&alternate, NULL);
	sigaction(SIGUSR1, &act, NULL);
	raise(SIGUSR1);
}

static void paused(void)
{
	for (int i = 0; i < 60; i++) {
		if (i == 20)
			__itt_pause();
		if (i == 40)
			__itt_resume();
		make_block(100);
	}
}

static void end(void)
{
	const char *how = *words++;
	char *volatile block;

	for (int i = 0; i < 1000; i++)
		block = make_block(100);
	fflush(stdout);
	if (!strcmp(how, "quick"))
		_exit(3);
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "segv"))
		raise(SIGSEGV);
	if (!strcmp(how, "kill"))
		kill(getpid(), SIGKILL);
	if (!strcmp(how, "exec"))
		execl("/bin/true", "true", (char *)NULL);
	if (!strcmp(how, "double")) {
		free(block);
		free(block);
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *word;
		void (*run)(void);
	} modes[] = { { "blocks", blocks }, { "functions", functions }, { "threads", threads },
		      { "fork", forks },    { "task", task },           { "fails", fails },
		      { "churn", churn },   { "signal", signals },      { "pause", paused },
		      { "end", end } };

	words = (const char *const *)argv + (argc > 0);
	while (*words) {
		const char *word = *words++;

		for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
			if (!strcmp(modes[i].word, word))
				modes[i].run();
		}
		if (!strcmp(word, "deep"))
			printf("%d\n", descend(number()));
	}
	return 0;
}
