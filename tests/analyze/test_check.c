/* test_check.c - tests src/analysis/analyze/check.h: one store per thing that can be wrong. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/check.h"
#include "analyze/make_store.h"
#include "support/unit.h"

#define HOUR UINT64_C(3600000000000)

struct fixture {
	struct maker m;
	struct ut_store store;
	struct ut_check c;
	uint32_t track;
};

static int make(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	make_start(&f->m);
	f->track = make_track(&f->m, UT_TRACK_THREAD, 1, "main");
	*state = f;
	return 0;
}

static int drop(void **state)
{
	struct fixture *f = *state;

	ut_store_release(&f->store);
	free(f);
	return 0;
}

/* Checks, and expects count findings of one kind and none of the others. */
static void expect(struct fixture *f, enum ut_check_id id, uint64_t count)
{
	make_finish(&f->m, &f->store);
	ut_check_store(&f->c, &f->store);
	for (int i = 0; i < UT_CHECK_COUNT; i++) {
		uint64_t want = i == (int)id ? count : 0;

		if (f->c.findings[i].count != want)
			fail_msg("%s: %llu", ut_check_kinds[i].word,
				 (unsigned long long)f->c.findings[i].count);
	}
}

static void a_good_trace_has_no_findings(void **state)
{
	struct fixture *f = *state;
	uint32_t async = make_track(&f->m, UT_TRACK_ASYNC, 2, "async");

	make_span(&f->m, f->track, "outer", 0, 100);
	make_span(&f->m, f->track, "inner", 0, 50);
	make_span(&f->m, f->track, "inner", 50, 50);
	make_span(&f->m, f->track, "next", 100, 0);
	make_kind(&f->m, f->track, UT_KIND_FLOW_OUT, "f", 60, 1);
	make_kind(&f->m, f->track, UT_KIND_FLOW_IN, "f", 90, 1);
	make_kind(&f->m, async, UT_KIND_ASYNC_BEGIN, "a", 0, 7);
	make_kind(&f->m, async, UT_KIND_ASYNC_END, "a", 9, 7);
	make_double(&f->m, f->track, "c", 5, 1.5);
	expect(f, UT_CHECK_COUNT, 0);
}

static void nothing_at_all_is_odd(void **state)
{
	expect(*state, UT_CHECK_ID_EMPTY, 1);
}

static void overlap_is_found_and_the_first_is_reported(void **state)
{
	struct fixture *f = *state;
	const struct ut_finding *found = &f->c.findings[UT_CHECK_ID_OVERLAP];

	make_span(&f->m, f->track, "a", 0, 5000);
	make_span(&f->m, f->track, "b", 3000, 9000);
	make_span(&f->m, f->track, "c", 10500, 9000);
	make_span(&f->m, f->track, "d", 30000, 10);
	expect(f, UT_CHECK_ID_OVERLAP, 2);
	assert_int_equal(found->ts, 3000);
	assert_int_equal(found->track, f->track);
	assert_string_equal(ut_strtab_get(&f->store.trace.strings, found->name).ptr, "b");
}

static void work_of_a_device_may_run_at_the_same_time(void **state)
{
	struct fixture *f = *state;

	make_span(&f->m, f->track, "a", 0, 50000);
	make_span(&f->m, f->track, "b", 30000, 90000);
	f->m.build.store.trace.processes[0].kind = UT_PROCESS_DEVICE;
	expect(f, UT_CHECK_ID_OVERLAP_DEVICE, 1);
	assert_int_equal(ut_check_kinds[UT_CHECK_ID_OVERLAP_DEVICE].weight, UT_CHECK_ODD);
}

static void rounding_is_distinguished(void **state)
{
	struct fixture *f = *state;

	make_span(&f->m, f->track, "a", 0, 5000);
	make_span(&f->m, f->track, "b", 3000, 2900);
	expect(f, UT_CHECK_ID_OVERLAP_SLIGHT, 1);
}

static void siblings_that_overlap_by_rounding_are_not_lost(void **state)
{
	struct fixture *f = *state;

	make_span(&f->m, f->track, "a", 0, 10000);
	make_span(&f->m, f->track, "b", 9500, 10000);
	expect(f, UT_CHECK_ID_OVERLAP_SLIGHT, 1);
}

static void negative_lengths_are_found(void **state)
{
	struct fixture *f = *state;

	make_span(&f->m, f->track, "a", 100, (uint64_t)-50);
	expect(f, UT_CHECK_ID_NEGATIVE, 1);
}

static void many_zeros_are_odd_and_few_are_not(void **state)
{
	struct fixture *f = *state;

	for (uint64_t i = 0; i < 150; i++)
		make_span(&f->m, f->track, "z", i * 10, 0);
	make_span(&f->m, f->track, "a", 2000, 10);
	expect(f, UT_CHECK_ID_ZERO, 150);
}

static void doubles_are_found(void **state)
{
	struct fixture *f = *state;

	make_span(&f->m, f->track, "a", 0, 10);
	make_span(&f->m, f->track, "b", 0, 10);
	make_span(&f->m, f->track, "a", 0, 10);
	make_span(&f->m, f->track, "a", 20, 10);
	expect(f, UT_CHECK_ID_DUPLICATE, 1);
}

static void open_spans_are_found(void **state)
{
	struct fixture *f = *state;

	make_row(&f->m, f->track, (struct ut_event){ .ts = 5, .val = 5, .flags = UT_EV_UNFINISHED },
		 "a", NULL);
	f->m.build.store.trace.losses.unfinished = 1;
	expect(f, UT_CHECK_ID_UNFINISHED, 1);
}

static void losses_are_reported(void **state)
{
	struct fixture *f = *state;

	make_span(&f->m, f->track, "a", 0, 10);
	f->m.build.store.trace.losses.torn = 3;
	expect(f, UT_CHECK_ID_TORN, 3);
	assert_int_equal(f->c.findings[UT_CHECK_ID_TORN].track, UT_CHECK_NOWHERE);
}

static void async_spans_without_partner_are_found(void **state)
{
	struct fixture *f = *state;

	make_kind(&f->m, f->track, UT_KIND_ASYNC_BEGIN, "a", 0, 1);
	make_kind(&f->m, f->track, UT_KIND_ASYNC_BEGIN, "a", 5, 1); /* again: the first is lost */
	make_kind(&f->m, f->track, UT_KIND_ASYNC_BEGIN, "a", 6, 2);
	make_kind(&f->m, f->track, UT_KIND_ASYNC_END, "a", 9, 1);
	expect(f, UT_CHECK_ID_ASYNC_NO_END, 2);
}

static void stray_async_ends_are_found(void **state)
{
	struct fixture *f = *state;

	make_kind(&f->m, f->track, UT_KIND_ASYNC_END, "a", 9, 1);
	expect(f, UT_CHECK_ID_ASYNC_NO_BEGIN, 1);
}

static void flows_that_lead_nowhere_are_found(void **state)
{
	struct fixture *f = *state;

	make_span(&f->m, f->track, "around", 0, 20);
	make_kind(&f->m, f->track, UT_KIND_FLOW_OUT, "f", 9, 1);
	make_kind(&f->m, f->track, UT_KIND_FLOW_OUT, "f", 9, 2);
	make_kind(&f->m, f->track, UT_KIND_FLOW_IN, "f", 12, 2);
	expect(f, UT_CHECK_ID_FLOW_NO_END, 1);
}

static void flows_that_go_back_in_time_are_found(void **state)
{
	struct fixture *f = *state;

	make_span(&f->m, f->track, "around", 0, 20);
	make_kind(&f->m, f->track, UT_KIND_FLOW_OUT, "f", 9, 1);
	make_kind(&f->m, f->track, UT_KIND_FLOW_IN, "f", 5, 1);
	expect(f, UT_CHECK_ID_FLOW_BACKWARDS, 1);
}

static void a_second_start_of_a_flow_is_found(void **state)
{
	struct fixture *f = *state;

	make_span(&f->m, f->track, "around", 0, 20);
	make_kind(&f->m, f->track, UT_KIND_FLOW_OUT, "f", 3, 1);
	make_kind(&f->m, f->track, UT_KIND_FLOW_OUT, "f", 4, 1);
	make_kind(&f->m, f->track, UT_KIND_FLOW_IN, "f", 5, 1);
	make_kind(&f->m, f->track, UT_KIND_FLOW_OUT, "f", 6, 1); /* after its end: a new one */
	make_kind(&f->m, f->track, UT_KIND_FLOW_IN, "f", 7, 1);
	expect(f, UT_CHECK_ID_FLOW_SECOND_START, 1);
}

static void a_step_alone_is_found(void **state)
{
	struct fixture *f = *state;

	make_span(&f->m, f->track, "around", 0, 20);
	make_kind(&f->m, f->track, UT_KIND_FLOW_STEP, "f", 3, 1);
	expect(f, UT_CHECK_ID_FLOW_LONE_STEP, 1);
}

static void arrows_that_touch_no_span_are_found(void **state)
{
	struct fixture *f = *state;

	make_span(&f->m, f->track, "around", 0, 20);
	make_kind(&f->m, f->track, UT_KIND_FLOW_OUT, "f", 3, 1);
	make_kind(&f->m, f->track, UT_KIND_FLOW_IN, "f", 50, 1);
	expect(f, UT_CHECK_ID_FLOW_NO_SLICE, 1);
}

static void counters_that_are_no_numbers_are_found(void **state)
{
	struct fixture *f = *state;

	make_double(&f->m, f->track, "c", 5, NAN); /* it has no value: fine */
	make_double(&f->m, f->track, "c", 6, -INFINITY);
	make_double(&f->m, f->track, "c", 7, 1);
	make_double(&f->m, f->track, "c", 8, INFINITY);
	expect(f, UT_CHECK_ID_COUNTER_BAD, 2);
}

static void a_counter_that_never_has_a_value_is_found(void **state)
{
	struct fixture *f = *state;

	make_double(&f->m, f->track, "c", 5, NAN);
	make_double(&f->m, f->track, "c", 6, NAN);
	make_double(&f->m, f->track, "c", 7, NAN);
	expect(f, UT_CHECK_ID_COUNTER_BAD, 3);
	assert_int_equal(f->c.findings[UT_CHECK_ID_COUNTER_BAD].ts, 5);
}

static void a_clock_that_jumps_is_found(void **state)
{
	struct fixture *f = *state;

	make_span(&f->m, f->track, "a", 0, 1000);
	make_span(&f->m, f->track, "a", 500 * HOUR, 1000);
	make_span(&f->m, f->track, "a", 501 * HOUR, 1000);
	expect(f, UT_CHECK_ID_CLOCK_JUMP, 1);
	assert_int_equal(f->c.findings[UT_CHECK_ID_CLOCK_JUMP].ts, 500 * HOUR);
}

static void a_track_far_away_is_found(void **state)
{
	struct fixture *f = *state;

	for (uint32_t i = 0; i < 3; i++) {
		uint32_t track = make_track(&f->m, UT_TRACK_THREAD, 10 + i, "worker");

		make_span(&f->m, track, "a", i == 1 ? 5 : 400 * HOUR + i, 1000);
	}
	expect(f, UT_CHECK_ID_FAR_AWAY, 1);
	assert_int_equal(f->c.findings[UT_CHECK_ID_FAR_AWAY].ts, 5);
}

static void ids_that_two_share_are_found(void **state)
{
	struct fixture *f = *state;

	make_span(&f->m, f->track, "a", 0, 10);
	make_process(&f->m, 100, "another", -1);
	expect(f, UT_CHECK_ID_SAME_PID, 1);
}

static void threads_that_are_there_twice_are_found(void **state)
{
	struct fixture *f = *state;

	make_span(&f->m, f->track, "a", 0, 10);
	make_track(&f->m, UT_TRACK_THREAD, 1, "main again");
	expect(f, UT_CHECK_ID_SAME_THREAD, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make, drop)

UT_TESTS(check)
{
	const struct CMUnitTest tests[] = {
		TEST(a_good_trace_has_no_findings),
		TEST(nothing_at_all_is_odd),
		TEST(overlap_is_found_and_the_first_is_reported),
		TEST(work_of_a_device_may_run_at_the_same_time),
		TEST(rounding_is_distinguished),
		TEST(siblings_that_overlap_by_rounding_are_not_lost),
		TEST(negative_lengths_are_found),
		TEST(many_zeros_are_odd_and_few_are_not),
		TEST(doubles_are_found),
		TEST(open_spans_are_found),
		TEST(losses_are_reported),
		TEST(async_spans_without_partner_are_found),
		TEST(stray_async_ends_are_found),
		TEST(flows_that_lead_nowhere_are_found),
		TEST(flows_that_go_back_in_time_are_found),
		TEST(a_second_start_of_a_flow_is_found),
		TEST(a_step_alone_is_found),
		TEST(arrows_that_touch_no_span_are_found),
		TEST(counters_that_are_no_numbers_are_found),
		TEST(a_counter_that_never_has_a_value_is_found),
		TEST(a_clock_that_jumps_is_found),
		TEST(a_track_far_away_is_found),
		TEST(ids_that_two_share_are_found),
		TEST(threads_that_are_there_twice_are_found),
	};

	return cmocka_run_group_tests_name("analyze/check", tests, NULL, NULL);
}
