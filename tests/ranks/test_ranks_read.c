/* test_ranks_read.c - tests what ut_ranks_add() of src/analysis/ranks/ranks.h makes of the rows of
 * threads
 */
#include "ranks/ranks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyze/make_store.h"
#include "model/classify.h"
#include "support/unit.h"

struct job {
	struct maker maker;
	uint32_t thread;
	struct ut_store store;
	struct ut_ranks ranks;
};

static void start(struct job *j)
{
	make_start(&j->maker);
	make_process(&j->maker, 200, "ring", 0);
	j->thread = make_track(&j->maker, UT_TRACK_THREAD, 200, "main");
}

static void add_span(struct job *j, const char *name, uint64_t begin, uint64_t end, const char *cat)
{
	make_row(&j->maker, j->thread, (struct ut_event){ .ts = begin, .val = end - begin }, name,
		 cat);
}

static void add_call(struct job *j, const char *name, uint64_t begin, uint64_t end)
{
	add_span(j, name, begin, end, "MPI");
}

static void add_message(struct job *j, enum ut_kind kind, uint64_t at, uint64_t number)
{
	make_row(&j->maker, j->thread,
		 (struct ut_event){
			 .ts = at, .val = number, .kind = (uint8_t)kind, .flags = UT_EV_GLOBAL_ID },
		 "MPI message", "flow");
}

static const struct ut_rank *read_job(struct job *j)
{
	struct ut_err err = { 0 };

	ut_build_finish(&j->maker.build, &j->store);
	ut_classify_places(&j->store.trace);
	ut_ranks_init(&j->ranks);
	assert_int_equal(ut_ranks_add(&j->ranks, &j->store, &err), 0);
	assert_int_equal(j->ranks.count, 1);
	return &j->ranks.items[0];
}

static void stop(struct job *j)
{
	ut_ranks_release(&j->ranks);
	ut_store_release(&j->store);
}

static void a_call_that_overlaps_by_rounding_follows(void **state)
{
	const struct ut_rank *one;
	struct job j;

	(void)state;
	start(&j);
	add_call(&j, "MPI_Send", 100, 201);
	add_call(&j, "MPI_Recv", 200, 300); /* a nanosecond too early */
	add_call(&j, "MPI_Send", 298, 400); /* two */
	one = read_job(&j);
	assert_int_equal(one->call_count, 3);
	for (size_t i = 0; i < 3; i++)
		assert_false(one->shapes[one->calls[i].shape].side);
	assert_int_equal(one->calls[0].end, 201);
	assert_int_equal(one->calls[1].begin, 201); /* no time is counted twice */
	assert_int_equal(one->calls[2].begin, 300);
	assert_int_equal(one->calls[2].end, 400);
	stop(&j);
}

static void a_call_inside_another_is_a_side_call(void **state)
{
	const struct ut_rank *one;
	struct job j;

	(void)state;
	start(&j);
	add_call(&j, "MPI_Allreduce", 100, 300);
	add_call(&j, "MPI_Send", 150, 200);
	add_call(&j, "MPI_Recv", 298, 300); /* up to the end of what it lies in */
	add_call(&j, "MPI_Send", 300, 310);
	one = read_job(&j);
	assert_int_equal(one->call_count, 4);
	assert_false(one->shapes[one->calls[0].shape].side);
	assert_true(one->shapes[one->calls[1].shape].side);
	assert_true(one->shapes[one->calls[2].shape].side);
	assert_false(one->shapes[one->calls[3].shape].side);
	stop(&j);
}

static void a_message_arrives_in_the_call_that_ends_then(void **state)
{
	const struct ut_rank *one;
	struct job j;

	(void)state;
	start(&j);
	add_call(&j, "MPI_Recv", 100, 201);
	add_call(&j, "MPI_Sendrecv", 200, 300);
	add_message(&j, UT_KIND_FLOW_OUT, 200, 7);
	add_message(&j, UT_KIND_FLOW_IN, 201, 8);
	add_message(&j, UT_KIND_FLOW_IN, 300, 9);
	one = read_job(&j);
	assert_int_equal(one->end_count, 3);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(one->ends[i].call, one->ends[i].id == 8 ? 0 : 1);
	stop(&j);
}

static void a_call_behind_a_task_by_rounding_is_not_in_it(void **state)
{
	const struct ut_rank *one;
	struct job j;

	(void)state;
	start(&j);
	add_span(&j, "step", 100, 201, "");
	add_call(&j, "MPI_Send", 200, 300);
	one = read_job(&j);
	assert_int_equal(one->call_count, 1);
	assert_int_equal(one->shapes[one->calls[0].shape].task, 0);
	stop(&j);
}

UT_TESTS(ranks_read)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_that_overlaps_by_rounding_follows),
		cmocka_unit_test(a_call_inside_another_is_a_side_call),
		cmocka_unit_test(a_message_arrives_in_the_call_that_ends_then),
		cmocka_unit_test(a_call_behind_a_task_by_rounding_is_not_in_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
