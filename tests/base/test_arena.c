/* test_arena.c - tests src/base/arena.h */
#include "base/arena.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/unit.h"

static int make(void **state)
{
	static struct ut_arena arena;

	*state = &arena;
	return 0;
}

static int release(void **state)
{
	ut_arena_release(*state);
	return 0;
}

static void memory_is_zeroed_and_aligned(void **state)
{
	static const unsigned char zeros[5000];

	for (size_t size = 1; size < sizeof(zeros); size += 37) {
		unsigned char *p = ut_arena_alloc(*state, 1, size);

		assert_int_equal((uintptr_t)p % 16, 0);
		assert_memory_equal(p, zeros, size);
		memset(p, 0xff, size);
	}
}

static void pieces_do_not_overlap(void **state)
{
	enum {
		N = 2000
	};
	unsigned char *p[N];

	for (size_t i = 0; i < N; i++) {
		p[i] = ut_arena_alloc(*state, i % 97 + 1, 1 + i % 13);
		memset(p[i], (int)(i & 0xff), (i % 97 + 1) * (1 + i % 13));
	}
	for (size_t i = 0; i < N; i++) {
		for (size_t k = 0; k < (i % 97 + 1) * (1 + i % 13); k++)
			assert_int_equal(p[i][k], i & 0xff);
	}
}

static void large_requests_get_a_block_of_their_own(void **state)
{
	struct ut_arena *a = *state;
	char *small = ut_arena_alloc(a, 1, 8);
	size_t used = a->used;
	char *large = ut_arena_alloc(a, 64, 1 << 20);

	large[(64 << 20) - 1] = 1;
	assert_int_equal(a->used, used);
	assert_ptr_equal((char *)ut_arena_alloc(a, 1, 8), small + 16);
}

static void copies_end_in_nul(void **state)
{
	assert_string_equal(ut_arena_copy(*state, "hello world", 5), "hello");
	assert_string_equal(ut_arena_copy(*state, NULL, 0), "");
}

static void released_arena_is_usable_again(void **state)
{
	struct ut_arena *a = *state;

	ut_arena_alloc(a, 1, 100);
	ut_arena_release(a);
	assert_null(a->head);
	assert_non_null(ut_arena_alloc(a, 1, 100));
}

static void what_is_alone_can_be_given_back(void **state)
{
	struct ut_arena *a = *state;
	char *kept = ut_arena_copy(a, "kept", 4);
	char *tables[3];

	for (size_t i = 0; i < 3; i++) {
		tables[i] = UT_NEW_ALONE(a, char, 1000 << i);
		memset(tables[i], 'x', (size_t)1000 << i);
	}
	ut_arena_give_back(a, NULL);
	ut_arena_give_back(a, tables[1]);
	ut_arena_give_back(a, tables[0]);
	assert_int_equal(tables[2][3999], 'x');
	assert_string_equal(kept, "kept");
	assert_string_equal(ut_arena_copy(a, "more", 4), "more");
	ut_arena_give_back(a, tables[2]);
}

static void overflowing_product_aborts(void **state)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		struct rlimit none = { 0, 0 };

		setrlimit(RLIMIT_CORE, &none);
		signal(SIGABRT, SIG_DFL);
		close(STDERR_FILENO);
		ut_arena_alloc(*state, SIZE_MAX / 2, 3);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

UT_TESTS(arena)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(memory_is_zeroed_and_aligned, make, release),
		cmocka_unit_test_setup_teardown(pieces_do_not_overlap, make, release),
		cmocka_unit_test_setup_teardown(large_requests_get_a_block_of_their_own, make,
						release),
		cmocka_unit_test_setup_teardown(copies_end_in_nul, make, release),
		cmocka_unit_test_setup_teardown(released_arena_is_usable_again, make, release),
		cmocka_unit_test_setup_teardown(what_is_alone_can_be_given_back, make, release),
		cmocka_unit_test_setup_teardown(overflowing_product_aborts, make, release),
	};

	return cmocka_run_group_tests_name("base/arena", tests, NULL, NULL);
}
