/* test_thread_pool.c - tests src/base/thread_pool.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/thread_pool.h"
#include "support/unit.h"

struct job {
	_Atomic size_t next, calls;
	_Atomic unsigned char done[1000];
};

static void take_all(void *ctx)
{
	struct job *job = ctx;
	size_t i;

	atomic_fetch_add(&job->calls, 1);
	while ((i = atomic_fetch_add(&job->next, 1)) < sizeof(job->done))
		atomic_fetch_add(&job->done[i], 1);
}

static void every_thread_works_once_and_every_job_is_done_once(void **state)
{
	static const size_t pools[] = { 0, 1, 2, 7 };

	(void)state;
	for (size_t k = 0; k < sizeof(pools) / sizeof(pools[0]); k++) {
		struct job job = { 0 };

		ut_thread_pool_run(pools[k], take_all, &job);
		assert_int_equal(job.calls, pools[k] ? pools[k] : 1);
		for (size_t i = 0; i < sizeof(job.done); i++)
			assert_int_equal(job.done[i], 1);
	}
}

static void do_one(void *ctx, size_t i)
{
	struct job *job = ctx;

	atomic_fetch_add(&job->done[i], 1);
}

static void each_job_is_done_once_by_any_pool(void **state)
{
	static const size_t pools[] = { 0, 1, 2, 7 }, counts[] = { 0, 1, 3, 1000 };

	(void)state;
	for (size_t k = 0; k < 16; k++) {
		struct job job = { 0 };

		ut_thread_pool_each(pools[k / 4], counts[k % 4], do_one, &job);
		for (size_t i = 0; i < sizeof(job.done); i++)
			assert_int_equal(job.done[i], i < counts[k % 4]);
	}
}

static void a_pool_is_as_large_as_requested_but_not_larger_than_the_work(void **state)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	(void)state;
	assert_int_equal(ut_thread_pool_size(3, 10), 3);
	assert_int_equal(ut_thread_pool_size(3, 2), 2);
	assert_int_equal(ut_thread_pool_size(3, 0), 1);
	assert_int_equal(ut_thread_pool_size(SIZE_MAX, SIZE_MAX), UT_THREAD_POOL_MAX);
	if (cores > 0 && (size_t)cores < UT_THREAD_POOL_MAX)
		assert_int_equal(ut_thread_pool_size(0, SIZE_MAX), cores);
}

static void note_priority(void *ctx)
{
	*(_Atomic int *)ctx = getpriority(PRIO_PROCESS, 0);
}

static void note_priorities(void *ctx)
{
	_Atomic int *all = ctx, helper = 0;

	note_priority(&all[0]);
	ut_thread_pool_run_background(note_priority,
				      &helper); /* a thread of its own, further aside */
	all[1] = helper;
}

static void what_steps_aside_leaves_everybody_else_where_they_were(void **state)
{
	int before = getpriority(PRIO_PROCESS, 0);
	_Atomic int seen[2] = { -100, -100 };

	(void)state;
	ut_thread_pool_run_background(note_priorities, seen);
	assert_true(before == 19 || seen[0] > before);
	assert_true(seen[1] >= seen[0]);
	assert_int_equal(getpriority(PRIO_PROCESS, 0), before);
}

UT_TESTS(thread_pool)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_thread_works_once_and_every_job_is_done_once),
		cmocka_unit_test(each_job_is_done_once_by_any_pool),
		cmocka_unit_test(what_steps_aside_leaves_everybody_else_where_they_were),
		cmocka_unit_test(a_pool_is_as_large_as_requested_but_not_larger_than_the_work),
	};

	return cmocka_run_group_tests_name("base/thread_pool", tests, NULL, NULL);
}
