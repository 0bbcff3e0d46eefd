/* test_own_stack.c - tests src/record/backend/own_stack.h against backtrace(), on stacks of all
 * kinds */
#include "backend/own_stack.h"

#include <execinfo.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/unit.h"

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__)

#define MOST 128

/*
 * This program is the library that the walk is part of: its frames are left out until the first one
 * of another library. So what is looked at is called by the C library: by qsort(), by a signal.
 */
static uint64_t ours[MOST];
static void *theirs[MOST];
static size_t our_count, their_count, most = MOST;
static bool cut;

static void look(void)
{
	our_count = ut_own_stack(ours, most, &cut);
	their_count = (size_t)backtrace(theirs, MOST);
}

/* Ours are those of backtrace() from some frame on; returns where they begin. */
static size_t begins_at(void)
{
	for (size_t i = 0; i < their_count; i++) {
		uint64_t address = (uint64_t)(uintptr_t)theirs[i];

		if (ours[0] == address || ours[0] == address - 1)
			return i;
	}
	return their_count;
}

static void assert_same(void)
{
	size_t first = begins_at();

	assert_true(our_count > 3);
	assert_int_equal(first + our_count, their_count);
	for (size_t i = 0; i < our_count; i++) {
		uint64_t address = (uint64_t)(uintptr_t)theirs[first + i];

		/* where a signal came is exact, all others are in their calls */
		assert_true(ours[i] == address - 1 || ours[i] == address);
	}
	assert_false(cut);
}

static int compare(const void *a, const void *b)
{
	(void)a;
	(void)b;
	look();
	return 0;
}

static void by_qsort(void)
{
	int two[2] = { 1, 2 };

	qsort(two, 2, sizeof(int), compare);
}

static int __attribute__((noinline)) nested(int depth)
{
	volatile char *room = __builtin_alloca((size_t)(64 + 16 * (depth % 2))); /* needs rbp */

	room[0] = (char)depth;
	if (depth)
		room[1] = (char)nested(depth - 1);
	else
		by_qsort();
	return room[0];
}

static void the_stack_is_that_of_backtrace(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++) { /* rows are kept */
		nested(9);
		assert_same();
	}
	ut_own_stack_forget();
	nested(5);
	assert_same();
}

/* Compilers align such a stack by a register of their own. */
static void __attribute__((noinline)) aligned(void)
{
	_Alignas(64) volatile char room[128];

	room[0] = 1;
	by_qsort();
	room[1] = room[0];
}

static void an_aligned_stack_is_no_obstacle(void **state)
{
	(void)state;
	aligned();
	assert_same();
}

static void handler(int sig)
{
	(void)sig;
	by_qsort();
}

static void signals_are_walked_through(void **state)
{
	struct sigaction act = { .sa_handler = handler, .sa_flags = SA_ONSTACK }, old;
	stack_t alternate = { .ss_size = 65536, .ss_sp = malloc(65536) },
		none = { .ss_flags = SS_DISABLE };

	(void)state;
	for (int round = 0; round < 2; round++) {
		sigaction(SIGUSR1, &act, &old);
		raise(SIGUSR1);
		assert_same();
		sigaltstack(&alternate, NULL); /* the second time on a stack of its own */
	}
	sigaltstack(&none, NULL);
	sigaction(SIGUSR1, &old, NULL);
	free(alternate.ss_sp);
}

static void *in_thread(void *arg)
{
	(void)arg;
	nested(3);
	return NULL;
}

static void threads_have_stacks_of_their_own(void **state)
{
	pthread_attr_t attr;
	pthread_t thread;

	(void)state;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(pthread_create(&thread, i ? &attr : NULL, in_thread, NULL), 0);
		pthread_join(thread, NULL);
		assert_same();
	}
	pthread_attr_destroy(&attr);
}

static ucontext_t home, away;

static void coroutine(void)
{
	nested(2);
}

/* A stack that begins at the edge of what is mapped: nothing behind it may be read. */
static void a_stack_ends_where_its_memory_does(void **state)
{
	size_t size = 65536;
	char *map = mmap(NULL, size + 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_ptr_not_equal(map, MAP_FAILED);
	assert_int_equal(mprotect(map + 4096, size, PROT_READ | PROT_WRITE), 0);
	getcontext(&away);
	away.uc_stack.ss_sp = map + 4096;
	away.uc_stack.ss_size = size;
	away.uc_link = &home;
	makecontext(&away, coroutine, 0);
	swapcontext(&home, &away);
	assert_true(our_count > 3);
	assert_int_equal(ours[0] + 1, (uint64_t)(uintptr_t)theirs[begins_at()]);
	munmap(map, size + 8192);
	nested(4); /* and back on the old one */
	assert_same();
}

static void what_does_not_fit_is_cut(void **state)
{
	(void)state;
	most = 4;
	nested(5);
	assert_int_equal(our_count, 4);
	assert_true(cut);
	assert_true(begins_at() + our_count < their_count);
	most = MOST;
}

static void code_is_found_in_its_file(void **state)
{
	struct ut_own_code code = { 0 };

	(void)state;
	by_qsort();
	assert_true(ut_own_stack_code(ours[0], &code)); /* in the C library */
	assert_non_null(strstr(code.path, "/libc.so"));
	assert_true(code.offset > 4096);
	assert_true(ut_own_stack_code((uint64_t)(uintptr_t)look, &code));
	assert_string_equal(code.path, "");
	assert_false(ut_own_stack_code((uint64_t)(uintptr_t)&code, &code));
}

static void a_function_can_be_marked(void **state)
{
	size_t marked = 0;

	(void)state;
	ut_own_stack_mark((const void *)(uintptr_t)nested);
	nested(4);
	for (size_t i = 0; i < our_count; i++) {
		marked += ours[i] >> 63;
		ours[i] &= ~UT_OWN_STACK_MARKED;
	}
	assert_int_equal(marked, 5);
	assert_same();
	ut_own_stack_mark(NULL);
}

UT_TESTS(own_stack)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_stack_is_that_of_backtrace),
		cmocka_unit_test(an_aligned_stack_is_no_obstacle),
		cmocka_unit_test(signals_are_walked_through),
		cmocka_unit_test(threads_have_stacks_of_their_own),
		cmocka_unit_test(a_stack_ends_where_its_memory_does),
		cmocka_unit_test(what_does_not_fit_is_cut),
		cmocka_unit_test(code_is_found_in_its_file),
		cmocka_unit_test(a_function_can_be_marked),
	};
	void *warm[2];

	backtrace(warm, 2); /* loads a library at its first use */
	ut_own_stack_init();
	return cmocka_run_group_tests_name("backend/own_stack", tests, NULL, NULL);
}

#else

UT_TESTS(own_stack)
{
	puts("SKIP: for x86-64, and sanitizers have a backtrace() of their own");
	return 77;
}

#endif
