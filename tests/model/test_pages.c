/*
 * test_pages.c - tests src/trace/model/pages.h: memory up to the limit, the file beyond it, and
 * nothing of what is written gets lost in either.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "model/build.h"
#include "model/pages.h"
#include "model/store.h"
#include "support/unit.h"

#define BLOCKS 150u
#define WORDS  (UT_PAGES_BYTES / sizeof(uint64_t))

static void fill(uint64_t *block, uint64_t number)
{
	for (size_t i = 0; i < WORDS; i += 64)
		block[i] = number * WORDS + i;
	block[WORDS - 1] = ~number;
}

static void check(const uint64_t *block, uint64_t number)
{
	for (size_t i = 0; i < WORDS; i += 64)
		assert_int_equal(block[i], number * WORDS + i);
	assert_int_equal(block[WORDS - 1], ~number);
}

static void what_goes_beyond_the_limit_lies_in_a_file(void **state)
{
	uint64_t *blocks[BLOCKS];

	(void)state;
	ut_pages_limit(20 * UT_PAGES_BYTES);
	for (uint64_t i = 0; i < BLOCKS; i++)
		fill(blocks[i] = ut_pages_alloc(UT_PAGES_BYTES), i);
	assert_int_equal(ut_pages_used().memory, 20 * UT_PAGES_BYTES);
	assert_int_equal(ut_pages_used().file, (BLOCKS - 20) * UT_PAGES_BYTES);
	for (uint64_t i = 0; i < BLOCKS; i++)
		check(blocks[i], i);
	/* Freed ones are used again, and the others do not notice. */
	for (uint64_t i = 0; i < BLOCKS; i += 2)
		ut_pages_free(blocks[i]);
	for (uint64_t i = 0; i < BLOCKS; i += 2)
		fill(blocks[i] = ut_pages_alloc(UT_PAGES_BYTES), 1000 + i);
	assert_int_equal(ut_pages_used().memory, 20 * UT_PAGES_BYTES);
	for (uint64_t i = 0; i < BLOCKS; i++)
		check(blocks[i], i % 2 ? i : 1000 + i);
	for (uint64_t i = 0; i < BLOCKS; i++)
		ut_pages_free(blocks[i]);
	assert_int_equal(ut_pages_used().memory, 0);
	assert_int_equal(ut_pages_used().file, 0);
}

static void other_sizes_are_plain_memory(void **state)
{
	char *p = ut_pages_alloc(100), *q = malloc(10);

	(void)state;
	memset(p, 1, 100);
	assert_int_equal(ut_pages_used().memory, 0);
	ut_pages_free(p);
	ut_pages_free(q);
	ut_pages_free(NULL);
}

static void *churn(void *arg)
{
	uint64_t number = *(uint64_t *)arg, *blocks[10];

	for (int round = 0; round < 20; round++) {
		for (uint64_t i = 0; i < 10; i++)
			fill(blocks[i] = ut_pages_alloc(UT_PAGES_BYTES), number + i);
		for (uint64_t i = 0; i < 10; i++) {
			if (blocks[i][WORDS - 1] != ~(number + i))
				return arg;
			ut_pages_free(blocks[i]);
		}
	}
	return NULL;
}

static void threads_do_not_get_the_same_block(void **state)
{
	uint64_t numbers[4] = { 0, 100, 200, 300 };
	pthread_t threads[4];
	void *wrong;

	(void)state;
	ut_pages_limit(15 * UT_PAGES_BYTES);
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, churn, &numbers[i]), 0);
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], &wrong);
		assert_null(wrong);
	}
	assert_int_equal(ut_pages_used().file, 0);
}

/* Twenty blocks of rows on one track, most of them in the file, out of order. */
static void a_store_may_be_larger_than_memory(void **state)
{
	const uint64_t rows = 20 * UT_BLOCK_ROWS;
	struct ut_build b;
	struct ut_store s;

	(void)state;
	ut_pages_limit(4 * UT_PAGES_BYTES);
	ut_build_init(&b);
	ut_trace_add_process(&b.store.trace, 1);
	ut_trace_add_track(&b.store.trace, 0, UT_TRACK_THREAD);
	for (uint64_t i = 0; i < rows; i++)
		ut_build_add(&b, 0, i ^ 1, i ^ 1, 0, 0);
	assert_true(ut_pages_used().file > 0);
	ut_build_finish(&b, &s);
	for (uint64_t i = 0; i < rows; i++) {
		const struct ut_block *block = &s.rows[0].blocks[i / UT_BLOCK_ROWS];

		assert_int_equal(block->ts[i % UT_BLOCK_ROWS], i);
		assert_int_equal(block->val[i % UT_BLOCK_ROWS], i);
	}
	ut_store_release(&s);
	assert_int_equal(ut_pages_used().memory + ut_pages_used().file, 0);
}

/* In a child, since it ends there; first of all tests, since the pool keeps its file. */
static void no_room_for_the_file_is_reported_and_ends_the_program(void **state)
{
	char text[256] = "";
	int status, ends[2];
	pid_t child;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (!child) {
		signal(SIGABRT, SIG_DFL);
		dup2(ends[1], STDERR_FILENO);
		setenv("TMPDIR", "/nowhere/at/all", 1);
		ut_pages_limit(UT_PAGES_BYTES);
		ut_pages_alloc(UT_PAGES_BYTES);
		ut_pages_alloc(UT_PAGES_BYTES);
		_exit(0);
	}
	close(ends[1]);
	assert_true(read(ends[0], text, sizeof(text) - 1) > 0);
	close(ends[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	assert_non_null(strstr(text, "no temporary file can be made in /nowhere/at/all: No such"));
}

UT_TESTS(pages)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_room_for_the_file_is_reported_and_ends_the_program),
		cmocka_unit_test(what_goes_beyond_the_limit_lies_in_a_file),
		cmocka_unit_test(other_sizes_are_plain_memory),
		cmocka_unit_test(threads_do_not_get_the_same_block),
		cmocka_unit_test(a_store_may_be_larger_than_memory),
	};

	return cmocka_run_group_tests_name("model/pages", tests, NULL, NULL);
}
