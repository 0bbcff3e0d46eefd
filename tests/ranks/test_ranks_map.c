/* test_ranks_map.c - tests src/analysis/ranks/ranks_map.h */
#include "ranks/ranks_map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/grow.h"
#include "support/unit.h"

#define RUN 1000u

/* Works until a time of its own, then meets the others, who leave when the last has come. */
static void add_rank(struct ut_ranks *r, int32_t number, uint64_t comes, uint64_t leaves)
{
	struct ut_rank *one = ut_ranks_new(r, number);
	struct ut_rank_shaper shaper = { 0 };
	const struct ut_rank_found call = {
		.begin = comes,
		.end = leaves,
		.seq = 1,
		.shape = { .name = ut_strtab_intern_z(&r->strings, "MPI_Barrier"),
			   .group = ut_strtab_intern_z(&r->strings, "MPI_COMM_WORLD"),
			   .use = UT_RANK_ALL,
			   .meets = UT_RANK_ALL,
			   .firm = true,
			   .to = -1,
			   .root = -1 },
	};

	one->start = 0;
	one->stop = RUN;
	ut_rank_put_call(one, &shaper, &call);
	ut_rank_shaper_release(&shaper);
}

static void make_job(struct ut_ranks *r, int32_t ranks)
{
	struct ut_err err = { 0 };

	ut_ranks_init(r);
	for (int32_t i = 0; i < ranks; i++) /* the last one comes at 700, the others before */
		add_rank(r, i, i + 1 == ranks ? 700 : 400, 710);
	assert_int_equal(ut_ranks_finalize(r, 1, &err), 0);
}

static uint64_t sum(const uint64_t *of, size_t count)
{
	uint64_t all = 0;

	for (size_t i = 0; i < count; i++)
		all += of[i];
	return all;
}

static void pieces_of_the_run_add_up_to_the_times_of_ranks(void **state)
{
	static const size_t cuts[] = { 1, 3, 7, 60, 1000, 4000 };
	struct ut_rank_sums sums;
	struct ut_ranks r;

	(void)state;
	make_job(&r, 3);
	ut_ranks_sum(&r, &sums);
	for (size_t i = 0; i < sizeof(cuts) / sizeof(*cuts); i++) {
		struct ut_rank_course c;

		ut_ranks_course(&r, cuts[i], 8, &c);
		assert_int_equal(c.each, 1);
		assert_int_equal(c.places, 3);
		for (size_t k = 0; k < 3; k++) {
			assert_int_equal(sum(&c.time[UT_RANK_USEFUL][k * cuts[i]], cuts[i]),
					 sums.ranks[k].useful);
			assert_int_equal(sum(&c.time[UT_RANK_WAITING][k * cuts[i]], cuts[i]),
					 sums.ranks[k].wait[0]);
			assert_int_equal(sum(&c.time[UT_RANK_TRANSFER][k * cuts[i]], cuts[i]),
					 sums.ranks[k].transfer);
		}
		ut_rank_course_release(&c);
	}
	ut_rank_sums_release(&sums);
	ut_ranks_release(&r);
}

static void the_rank_with_most_work_of_a_piece_is_named(void **state)
{
	struct ut_rank_course c;
	struct ut_ranks r;

	(void)state;
	make_job(&r, 3);
	ut_ranks_course(&r, 10, 8, &c);
	assert_int_equal(c.most[5], 100); /* from 500 to 600 only the last one works */
	assert_int_equal(c.least[5], 0);
	assert_int_equal(c.most_rank[5], 2);
	assert_true(c.mean[5] > 33.3 && c.mean[5] < 33.4);
	assert_int_equal(c.time[UT_RANK_WAITING][5], 100);
	ut_rank_course_release(&c);
	ut_ranks_release(&r);
}

static void waits_of_all_calls_are_in_the_map(void **state)
{
	struct ut_rank_sums sums;
	struct ut_rank_map m;
	struct ut_ranks r;

	(void)state;
	make_job(&r, 3);
	ut_ranks_sum(&r, &sums);
	ut_ranks_map(&r, &sums, 8, &m);
	assert_int_equal(m.count, 2); /* 0 and 1 wait for 2 */
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(m.fields[i].from, 2);
		assert_int_equal(m.fields[i].to, i);
		assert_int_equal(m.fields[i].waiting, 300);
		assert_int_equal(m.fields[i].messages, 0);
		assert_int_equal(m.fields[i].waiter, i);
		assert_int_equal(m.fields[i].begin, 400);
	}
	ut_rank_map_release(&m);
	ut_rank_sums_release(&sums);
	ut_ranks_release(&r);
}

static void neighbours_share_a_place_where_there_are_many(void **state)
{
	struct ut_rank_course c;
	struct ut_rank_sums sums;
	struct ut_rank_map m;
	struct ut_ranks r;

	(void)state;
	make_job(&r, 101);
	ut_ranks_sum(&r, &sums);
	ut_ranks_map(&r, &sums, 32, &m);
	assert_int_equal(m.each, 4);
	assert_int_equal(m.places, 26);
	ut_ranks_course(&r, 5, 32, &c);
	assert_int_equal(c.places, 26);
	assert_int_equal(sum(c.time[UT_RANK_WAITING], 26 * 5), 100 * 300);
	ut_rank_course_release(&c);
	ut_rank_map_release(&m);
	ut_rank_sums_release(&sums);
	ut_ranks_release(&r);
}

UT_TESTS(ranks_map)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces_of_the_run_add_up_to_the_times_of_ranks),
		cmocka_unit_test(the_rank_with_most_work_of_a_piece_is_named),
		cmocka_unit_test(waits_of_all_calls_are_in_the_map),
		cmocka_unit_test(neighbours_share_a_place_where_there_are_many),
	};

	return cmocka_run_group_tests_name("ranks/ranks_map", tests, NULL, NULL);
}
