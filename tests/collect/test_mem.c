/* test_mem.c - tests src/record/collect/mem.h */
#include "collect/mem.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/unit.h"

static bool all_zero(const unsigned char *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (p[i])
			return false;
	return true;
}

static void memory_is_zeroed_aligned_and_nobody_elses(void **state)
{
	unsigned char *before = NULL;
	size_t before_len = 0;

	(void)state;
	errno = 77;
	for (size_t len = 0; len < 3000; len += 7) {
		unsigned char *p = ut_mem_alloc(len);

		assert_non_null(p);
		assert_int_equal((uintptr_t)p % 16, 0);
		assert_true(all_zero(p, len));
		memset(p, 0xee, len);
		for (size_t i = 0; i < before_len; i++)
			assert_int_equal(before[i], 0xee);
		before = p;
		before_len = len;
	}
	assert_int_equal(errno, 77);
}

static void large_pieces_come_whole(void **state)
{
	unsigned char *p = ut_mem_alloc(5 << 20);

	(void)state;
	assert_non_null(p);
	assert_true(all_zero(p, 5 << 20));
	memset(p, 1, 5 << 20);
	errno = 77;
	assert_null(ut_mem_alloc((size_t)1 << 60));
	assert_int_equal(errno, 77);
}

#define THREADS 4
#define PIECES  20000

static void *take_pieces(void *arg)
{
	uint64_t me = (uintptr_t)arg, **pieces = calloc(PIECES, sizeof(*pieces));
	intptr_t bad = 0;

	for (size_t i = 0; i < PIECES; i++) {
		pieces[i] = ut_mem_alloc(8 + i % 200);
		bad += !pieces[i] || *pieces[i] != 0;
		*pieces[i] = me << 32 | i;
	}
	for (size_t i = 0; i < PIECES; i++)
		bad += *pieces[i] != (me << 32 | i);
	free(pieces);
	return (void *)bad;
}

static void threads_never_get_the_same_piece(void **state)
{
	pthread_t threads[THREADS];
	void *bad;

	(void)state;
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, take_pieces, (void *)(i + 1));
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &bad);
		assert_null(bad);
	}
}

UT_TESTS(mem)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_is_zeroed_aligned_and_nobody_elses),
		cmocka_unit_test(large_pieces_come_whole),
		cmocka_unit_test(threads_never_get_the_same_piece),
	};

	return cmocka_run_group_tests_name("collect/mem", tests, NULL, NULL);
}
