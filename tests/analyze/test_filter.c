/* test_filter.c - tests src/analysis/analyze/filter.h and filter_sink.h with stores made by hand.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/filter.h"
#include "analyze/filter_sink.h"
#include "analyze/make_store.h"
#include "base/str.h"
#include "support/unit.h"

/* Takes what passes: "name@ts+val " for each event. */
struct taker {
	struct ut_sink sink;
	struct ut_buf text;
};

struct fixture {
	struct maker m;
	struct ut_store store;
	struct ut_filter_opts o;
	struct taker taker;
	uint32_t track;
	size_t tracks, processes; /* of the trace that came out */
};

static void take(struct ut_sink *sink, const struct ut_trace *t, const struct ut_event *e)
{
	struct taker *k = (struct taker *)sink;

	assert_true(e->track < t->track_count);
	assert_true(t->tracks[e->track].process < t->process_count);
	ut_buf_fmt(&k->text, "%s%s@%llu+%llu", k->text.len ? " " : "",
		   ut_strtab_get(&t->strings, e->name).ptr, (unsigned long long)e->ts,
		   (unsigned long long)e->val);
}

static int make(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	make_start(&f->m);
	f->track = make_track(&f->m, UT_TRACK_THREAD, 1, "main");
	f->taker.sink.event = take;
	*state = f;
	return 0;
}

static int drop(void **state)
{
	struct fixture *f = *state;

	ut_filter_opts_release(&f->o);
	ut_buf_release(&f->taker.text);
	ut_store_release(&f->store);
	free(f);
	return 0;
}

static const char *filtered(struct fixture *f)
{
	struct ut_filter filter;
	struct ut_filter_view view;
	struct ut_filter_sink sink;

	if (!f->store.rows)
		make_finish(&f->m, &f->store);
	f->taker.text.len = 0;
	ut_buf_text(&f->taker.text, "");
	assert_int_equal(ut_filter_init(&filter, &f->o, NULL), 0);
	ut_filter_view_init(&view, &filter, &f->store);
	ut_filter_sink_init(&sink, &view, &f->taker.sink);
	ut_store_send(&f->store, 0, &sink.sink);
	f->tracks = sink.trace.track_count;
	f->processes = sink.trace.process_count;
	ut_filter_sink_release(&sink);
	ut_filter_view_release(&view);
	ut_filter_release(&filter);
	return f->taker.text.data;
}

static void nothing_asked_is_everything(void **state)
{
	struct fixture *f = *state;

	make_span(&f->m, f->track, "a", 10, 5);
	make_kind(&f->m, f->track, UT_KIND_INSTANT, "i", 12, 0);
	assert_string_equal(filtered(f), "a@10+5 i@12+0");
}

static void names_are_patterns_or_the_name_itself(void **state)
{
	struct fixture *f = *state;

	make_span(&f->m, f->track, "conv2d", 10, 5);
	make_span(&f->m, f->track, "conv3d", 20, 5);
	make_span(&f->m, f->track, "operator[]", 30, 5);
	make_span(&f->m, f->track, "relu", 40, 5);
	ut_opt_list_add(&f->o.names, "conv*");
	ut_opt_list_add(&f->o.names, "operator[]");
	assert_string_equal(filtered(f), "conv2d@10+5 conv3d@20+5 operator[]@30+5");
	ut_opt_list_add(&f->o.not_names, "*3d");
	assert_string_equal(filtered(f), "conv2d@10+5 operator[]@30+5");
	ut_opt_list_add(&f->o.regexes, "^re(lu|ad)$");
	assert_string_equal(filtered(f), "conv2d@10+5 operator[]@30+5 relu@40+5");
}

static void categories_may_be_lists(void **state)
{
	struct fixture *f = *state;

	make_row(&f->m, f->track, (struct ut_event){ .ts = 1, .val = 1 }, "a", "gpu,copy");
	make_row(&f->m, f->track, (struct ut_event){ .ts = 3, .val = 1 }, "b", "cpu");
	ut_opt_list_add(&f->o.cats, "copy");
	assert_string_equal(filtered(f), "a@1+1");
}

static void what_is_left_without_events_is_gone(void **state)
{
	struct fixture *f = *state;
	uint32_t other;

	make_process(&f->m, 200, "other", 3);
	other = make_track(&f->m, UT_TRACK_THREAD, 9, "worker");
	make_span(&f->m, f->track, "a", 1, 1);
	make_span(&f->m, other, "b", 2, 1);
	assert_string_equal(filtered(f), "a@1+1 b@2+1");
	assert_int_equal(f->processes, 2);
	ut_opt_list_add(&f->o.pids, "150-250");
	assert_string_equal(filtered(f), "b@2+1");
	assert_int_equal(f->processes, 1);
	assert_int_equal(f->tracks, 1);
	ut_opt_list_release(&f->o.pids);
	ut_opt_list_add(&f->o.ranks, "0,3");
	assert_string_equal(filtered(f), "b@2+1");
	ut_opt_list_release(&f->o.ranks);
	ut_opt_list_add(&f->o.tracks, "main");
	assert_string_equal(filtered(f), "a@1+1");
	ut_opt_list_add(&f->o.tracks, "9");
	assert_string_equal(filtered(f), "a@1+1 b@2+1");
}

static void spans_that_reach_into_the_window_stay_whole_or_are_cut(void **state)
{
	struct fixture *f = *state;

	make_span(&f->m, f->track, "early", 0, 100);
	make_span(&f->m, f->track, "touches", 100, 50);
	make_span(&f->m, f->track, "in", 160, 10);
	make_span(&f->m, f->track, "out", 190, 50);
	make_span(&f->m, f->track, "late", 200, 5);
	f->o.from = "120ns";
	f->o.to = "200ns";
	assert_string_equal(filtered(f), "touches@100+50 in@160+10 out@190+50");
	f->o.clip = true;
	assert_string_equal(filtered(f), "touches@120+30 in@160+10 out@190+10");
	f->o.from = "@195ns";
	assert_string_equal(filtered(f), "out@195+5");
}

static void lengths_choose_spans_only(void **state)
{
	struct fixture *f = *state;

	make_span(&f->m, f->track, "short", 0, 5);
	make_span(&f->m, f->track, "right", 10, 10);
	make_span(&f->m, f->track, "long", 30, 50);
	make_kind(&f->m, f->track, UT_KIND_INSTANT, "i", 90, 0);
	f->o.min_dur = "10ns";
	f->o.max_dur = "20ns";
	assert_string_equal(filtered(f), "right@10+10 i@90+0");
	ut_opt_list_add(&f->o.kinds, "span,async");
	assert_string_equal(filtered(f), "right@10+10");
}

static void counters_keep_the_value_from_before(void **state)
{
	struct fixture *f = *state;
	uint32_t c = make_track(&f->m, UT_TRACK_COUNTER, 2, "load");

	for (uint64_t i = 0; i < 6; i++)
		make_kind(&f->m, c, UT_KIND_COUNTER, "load", i * 10, i);
	f->o.from = "25ns";
	f->o.to = "45ns";
	assert_string_equal(filtered(f), "load@20+2 load@30+3 load@40+4");
	f->o.clip = true;
	assert_string_equal(filtered(f), "load@25+2 load@30+3 load@40+4");
	f->o.from = "30ns";
	assert_string_equal(filtered(f), "load@30+3 load@40+4");
}

static void flows_stay_if_both_spans_do(void **state)
{
	struct fixture *f = *state;
	uint32_t gpu = make_track(&f->m, UT_TRACK_LANE, 2, "stream");

	make_span(&f->m, f->track, "launch", 10, 10);
	make_kind(&f->m, f->track, UT_KIND_FLOW_OUT, "f", 15, 1);
	make_span(&f->m, f->track, "other", 30, 10);
	make_kind(&f->m, f->track, UT_KIND_FLOW_OUT, "f", 35, 2);
	make_span(&f->m, gpu, "kernel", 50, 10);
	make_kind(&f->m, gpu, UT_KIND_FLOW_IN, "f", 50, 1);
	make_span(&f->m, gpu, "kernel", 70, 10);
	make_kind(&f->m, gpu, UT_KIND_FLOW_IN, "f", 70, 2);
	ut_opt_list_add(&f->o.not_names, "other");
	assert_string_equal(filtered(f), "launch@10+10 f@15+1 kernel@50+10 f@50+1 kernel@70+10");
	ut_opt_list_add(&f->o.names, "kernel");
	assert_string_equal(filtered(f), "kernel@50+10 kernel@70+10");
}

static void a_flow_to_the_next_span_goes_with_that(void **state)
{
	struct fixture *f = *state;
	struct ut_event in = { .kind = UT_KIND_FLOW_IN, .flags = UT_EV_BIND_NEXT };
	uint32_t gpu = make_track(&f->m, UT_TRACK_LANE, 2, "stream");

	make_span(&f->m, f->track, "launch", 10, 50);
	make_kind(&f->m, f->track, UT_KIND_FLOW_OUT, "f", 15, 1);
	make_kind(&f->m, f->track, UT_KIND_FLOW_OUT, "f", 25, 2);
	in.ts = 28;
	in.val = 1;
	make_row(&f->m, gpu, in, "f", NULL);
	make_span(&f->m, gpu, "kernel", 30, 10);
	in.ts = 45;
	in.val = 2;
	make_row(&f->m, gpu, in, "f", NULL);
	make_span(&f->m, gpu, "copy", 50, 10);
	ut_opt_list_add(&f->o.not_names, "copy");
	assert_string_equal(filtered(f), "launch@10+50 f@15+1 f@28+1 kernel@30+10");
}

static void async_spans_stay_or_go_as_a_whole(void **state)
{
	struct fixture *f = *state;
	uint32_t a = make_track(&f->m, UT_TRACK_ASYNC, 2, "requests");

	make_kind(&f->m, a, UT_KIND_ASYNC_BEGIN, "r", 0, 1);
	make_kind(&f->m, a, UT_KIND_ASYNC_BEGIN, "r", 10, 2);
	make_kind(&f->m, a, UT_KIND_ASYNC_END, "r", 20, 1);
	make_kind(&f->m, a, UT_KIND_ASYNC_END, "r", 60, 2);
	make_kind(&f->m, a, UT_KIND_ASYNC_BEGIN, "r", 70, 3);
	f->o.from = "30ns";
	f->o.to = "50ns";
	assert_string_equal(filtered(f), "r@10+2 r@60+2");
	f->o.to = "100ns";
	assert_string_equal(filtered(f), "r@10+2 r@60+2 r@70+3");
	f->o.min_dur = "60ns";
	assert_string_equal(filtered(f), "r@70+3");
}

static void what_cannot_be_understood_is_refused(void **state)
{
	static const char *const bad[] = { "x", "1-", "-1", "3-2", "", "1,,2" };
	struct ut_filter filter;
	struct ut_err err = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct ut_filter_opts o = { 0 };

		ut_opt_list_add(&o.pids, bad[i]);
		assert_int_equal(ut_filter_init(&filter, &o, NULL), -EINVAL);
		ut_filter_opts_release(&o);
	}
	assert_int_equal(ut_filter_init(&filter, &(struct ut_filter_opts){ .from = "soon" }, &err),
			 -EINVAL);
	assert_non_null(strstr(err.text, "--from"));
	assert_int_equal(
		ut_filter_init(&filter, &(struct ut_filter_opts){ .from = "2s", .to = "1s" }, NULL),
		-EINVAL);
	for (int i = 0; i < 2; i++) {
		struct ut_filter_opts o = { 0 };

		ut_opt_list_add(i ? &o.regexes : &o.kinds, "(");
		assert_int_equal(ut_filter_init(&filter, &o, NULL), -EINVAL);
		ut_filter_opts_release(&o);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make, drop)

UT_TESTS(filter)
{
	const struct CMUnitTest tests[] = {
		TEST(nothing_asked_is_everything),
		TEST(names_are_patterns_or_the_name_itself),
		TEST(categories_may_be_lists),
		TEST(what_is_left_without_events_is_gone),
		TEST(spans_that_reach_into_the_window_stay_whole_or_are_cut),
		TEST(lengths_choose_spans_only),
		TEST(counters_keep_the_value_from_before),
		TEST(flows_stay_if_both_spans_do),
		TEST(a_flow_to_the_next_span_goes_with_that),
		TEST(async_spans_stay_or_go_as_a_whole),
		cmocka_unit_test(what_cannot_be_understood_is_refused),
	};

	return cmocka_run_group_tests_name("analyze/filter", tests, NULL, NULL);
}
