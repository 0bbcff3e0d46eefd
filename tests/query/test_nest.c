/* test_nest.c - tests src/analysis/query/nest.h: who lies in whom, and whose time it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/build.h"
#include "query/nest.h"
#include "support/unit.h"

struct one {
	struct ut_build build;
	struct ut_store store;
	struct ut_nest nest;
	uint32_t track;
};

static int make(void **state)
{
	struct one *o = calloc(1, sizeof(*o));

	ut_build_init(&o->build);
	o->track =
		ut_trace_add_track(&o->build.store.trace,
				   ut_trace_add_process(&o->build.store.trace, 1), UT_TRACK_THREAD);
	*state = o;
	return 0;
}

static int drop(void **state)
{
	struct one *o = *state;

	ut_nest_release(&o->nest);
	ut_store_release(&o->store);
	free(o);
	return 0;
}

static void add(struct one *o, enum ut_kind kind, uint8_t flags, uint64_t ts, uint64_t val)
{
	const struct ut_type type = { .kind = (uint8_t)kind, .flags = flags };

	ut_build_add(&o->build, o->track, ts, val, ut_types_intern(&o->build.store.types, &type),
		     0);
}

static void span(struct one *o, uint64_t ts, uint64_t length)
{
	add(o, UT_KIND_SPAN, 0, ts, length);
}

/* parent (-1 = none), depth and self time of every row */
static void expect(struct one *o, const int64_t (*rows)[3], size_t count)
{
	ut_build_finish(&o->build, &o->store);
	assert_int_equal(o->store.rows[o->track].count, count);
	ut_nest_make(&o->nest, &o->store, &o->store.rows[o->track], true);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal((int64_t)o->nest.parent[i] - 1, rows[i][0]);
		assert_int_equal(o->nest.depth[i], rows[i][1]);
		assert_int_equal(o->nest.self[i], rows[i][2]);
	}
}

#define EXPECT(...)                                                                                \
	do {                                                                                       \
		const int64_t rows[][3] = { __VA_ARGS__ };                                         \
		expect(*state, rows, sizeof(rows) / sizeof(rows[0]));                              \
	} while (0)

static void children_take_their_time_from_the_parent(void **state)
{
	span(*state, 0, 100);
	span(*state, 10, 30);
	span(*state, 20, 5);
	span(*state, 50, 10);
	span(*state, 100, 7);
	EXPECT({ -1, 0, 60 }, { 0, 1, 25 }, { 1, 2, 5 }, { 0, 1, 10 }, { -1, 0, 7 });
}

static void equal_spans_lie_in_each_other(void **state)
{
	span(*state, 0, 100);
	span(*state, 0, 100);
	span(*state, 0, 100);
	EXPECT({ -1, 0, 0 }, { 0, 1, 0 }, { 1, 2, 100 });
}

static void overlapping_spans_share_no_time(void **state)
{
	span(*state, 0, 100);
	span(*state, 50, 100); /* to 150 */
	span(*state, 60, 10);
	EXPECT({ -1, 0, 50 }, { -1, 0, 90 }, { 1, 1, 10 });
}

/* As analyze/stats.h has it: every moment belongs to one span, and all of them are given out. */
static void self_times_add_up_to_the_time_that_was_busy(void **state)
{
	struct one *o = *state;
	uint64_t busy = 0, until = 0, sum = 0;
	uint32_t seed = 7;

	for (int i = 0; i < 2000; i++) {
		seed = seed * 1664525 + 1013904223;
		span(o, (seed >> 8) % 10000, (seed >> 20) % 40);
	}
	ut_build_finish(&o->build, &o->store);
	ut_nest_make(&o->nest, &o->store, &o->store.rows[o->track], true);
	for (uint32_t i = 0; i < 2000; i++) {
		const struct ut_block *b = &o->store.rows[o->track].blocks[0];
		uint64_t from = b->ts[i] > until ? b->ts[i] : until, end = b->ts[i] + b->val[i];

		busy += end > from ? end - from : 0;
		until = end > until ? end : until;
		sum += o->nest.self[i];
		assert_true(o->nest.self[i] <= b->val[i]);
	}
	assert_int_equal(sum, busy);
}

static void async_spans_nest_in_those_of_their_number(void **state)
{
	add(*state, UT_KIND_ASYNC_BEGIN, 0, 0, 7);
	add(*state, UT_KIND_ASYNC_BEGIN, 0, 5, 8);
	add(*state, UT_KIND_ASYNC_BEGIN, 0, 10, 7);
	add(*state, UT_KIND_ASYNC_INSTANT, 0, 15, 7);
	add(*state, UT_KIND_ASYNC_END, 0, 20, 7);
	add(*state, UT_KIND_ASYNC_INSTANT, 0, 25, 7);
	add(*state, UT_KIND_ASYNC_END, 0, 30, 7);
	add(*state, UT_KIND_ASYNC_INSTANT, 0, 35, 7);
	EXPECT({ -1, 0, 0 }, { -1, 0, 0 }, { 0, 1, 0 }, { 2, 2, 0 }, { -1, 0, 0 }, { 0, 1, 0 },
	       { -1, 0, 0 }, { -1, 0, 0 });
}

static void what_concerns_the_process_lies_in_no_span(void **state)
{
	span(*state, 0, 100);
	add(*state, UT_KIND_INSTANT, 0, 10, 0);
	add(*state, UT_KIND_INSTANT, UT_EV_SCOPE_PROCESS, 20, 0);
	add(*state, UT_KIND_INSTANT, UT_EV_SCOPE_GLOBAL, 30, 0);
	EXPECT({ -1, 0, 100 }, { 0, 1, 0 }, { -1, 0, 0 }, { -1, 0, 0 });
}

static void moments_lie_in_the_span_that_began_last(void **state)
{
	span(*state, 0, 100);
	span(*state, 10, 10);
	add(*state, UT_KIND_FLOW_OUT, 0, 20, 1); /* at its very end */
	add(*state, UT_KIND_FLOW_OUT, 0, 21, 1);
	add(*state, UT_KIND_INSTANT, 0, 101, 0);
	EXPECT({ -1, 0, 90 }, { 0, 1, 10 }, { 1, 2, 0 }, { 0, 1, 0 }, { -1, 0, 0 });
}

static void instants_begin_outside_of_what_ends_there(void **state)
{
	span(*state, 0, 100);
	span(*state, 10, 10);
	add(*state, UT_KIND_INSTANT, 0, 10, 0);
	add(*state, UT_KIND_INSTANT, 0, 20, 0);
	add(*state, UT_KIND_FLOW_OUT, 0, 20, 1); /* the span is still there for others */
	add(*state, UT_KIND_INSTANT, 0, 100, 0);
	EXPECT({ -1, 0, 90 }, { 0, 1, 10 }, { 1, 2, 0 }, { 0, 1, 0 }, { 1, 2, 0 }, { -1, 0, 0 });
}

static void what_is_about_the_recording_takes_no_time(void **state)
{
	span(*state, 0, 100);
	add(*state, UT_KIND_SPAN, UT_EV_NOT_WORK, 10, 50);
	span(*state, 20, 5);
	EXPECT({ -1, 0, 95 }, { 0, 1, 50 }, { 0, 1, 5 });
}

static void the_end_of_time_is_no_trouble(void **state)
{
	span(*state, UINT64_MAX - 10, 100);
	span(*state, UINT64_MAX - 5, UINT64_MAX);
	add(*state, UT_KIND_INSTANT, 0, UINT64_MAX, 0);
	ut_build_finish(&((struct one *)*state)->build, &((struct one *)*state)->store);
	ut_nest_make(&((struct one *)*state)->nest, &((struct one *)*state)->store,
		     ((struct one *)*state)->store.rows, true);
}

UT_TESTS(nest)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, make, drop)
		TEST(children_take_their_time_from_the_parent),
		TEST(equal_spans_lie_in_each_other),
		TEST(overlapping_spans_share_no_time),
		TEST(self_times_add_up_to_the_time_that_was_busy),
		TEST(moments_lie_in_the_span_that_began_last),
		TEST(async_spans_nest_in_those_of_their_number),
		TEST(what_concerns_the_process_lies_in_no_span),
		TEST(instants_begin_outside_of_what_ends_there),
		TEST(what_is_about_the_recording_takes_no_time),
		TEST(the_end_of_time_is_no_trouble),
	};

	return cmocka_run_group_tests_name("query/nest", tests, NULL, NULL);
}
