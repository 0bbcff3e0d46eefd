/*
 * test_extra_trust.c - tests src/analysis/acelyzer/extra.h: what is found wrong with a trace, and
 * how much of the device time is left to trust.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "acelyzer/analysis_report.h"
#include "acelyzer/read_input.h"
#include "make_flex.h"
#include "make_run.h"
#include "report/one_page.h"
#include "support/unit.h"
#include "text/out.h"

/* Kernels of 10 us every 20 us from 1000 us on. */
static void add_kernels(struct ut_buf *b, int rank, int n)
{
	for (int i = 0; i < n; i++) {
		struct flex_span s = { .name = "k Cmpt Exec", .rank = rank };

		s.from = 1000 + 20 * i;
		s.to = s.from + 10;
		flex_add(b, &s);
	}
}

static void run(struct ut_ace_analysis *a, struct ut_ace_extra *x, struct ut_buf *b,
		const struct ut_ace_opts *opts)
{
	ut_buf_text(b, "]");
	flex_run_text(a, x, opts, b->data);
	ut_buf_release(b);
}

static void done(struct ut_ace_analysis *a, struct ut_ace_extra *x)
{
	ut_ace_extra_release(x);
	ut_ace_release(a);
}

static void a_clean_trace_is_trusted(void **state)
{
	struct ut_ace_opts opts = make_opts();
	struct ut_buf b = { 0 };
	struct ut_ace_extra x;
	struct ut_ace_analysis a;

	(void)state;
	add_kernels(&b, 0, 20);
	run(&a, &x, &b, &opts);
	assert_near(x.trust.device, 200, 1e-6);
	assert_near(x.trust.percent, 100, 1e-9);
	assert_int_equal(x.trust.count[UT_ACE_LOSS] + x.trust.count[UT_ACE_CAUTION], 0);
	assert_near(x.ranks[0].fit.mhz, 1000, 1e-6);
	assert_true(x.ranks[0].fit.most < 1e-3);
	assert_int_equal(x.trust.events, 20);
	assert_int_equal(x.trust.spans, 20);
	assert_int_equal(x.trust.kernels, 20);
	done(&a, &x);
}

/* 1000 MHz is right, 900 is said: every length is off by a ninth. */
static void a_wrong_frequency_costs_all_trust(void **state)
{
	struct ut_ace_opts opts = make_opts();
	struct ut_buf b = { 0 };
	struct ut_ace_extra x;
	struct ut_ace_analysis a;

	(void)state;
	opts.soc = 900;
	for (int i = 0; i < 20; i++) {
		struct flex_span s = { .name = "k Cmpt Exec", .from = 1000 + 100 * i };

		s.to = s.from + 50;
		flex_add(&b, &s);
	}
	run(&a, &x, &b, &opts);
	assert_int_equal(a.issues[UT_ACE_ISSUE_FREQUENCY], 1);
	assert_int_equal(a.issues[UT_ACE_ISSUE_LENGTH_DOUBT], 20);
	assert_near(x.ranks[0].fit.mhz, 1000, 1e-6);
	assert_near(x.trust.percent, 0, 1e-9);
	done(&a, &x);
}

/* One of ten kernels ran 30 us by its cycles and 10 us by the host: 30 of 120 us are in doubt. */
static void lengths_that_disagree_are_in_doubt(void **state)
{
	struct ut_ace_opts opts = make_opts();
	struct ut_buf b = { 0 };
	struct ut_ace_extra x;
	struct ut_ace_analysis a;

	(void)state;
	add_kernels(&b, 0, 9);
	ut_buf_text(&b, ",{\"name\":\"odd Cmpt Exec\",\"ph\":\"X\",\"pid\":0,\"tid\":2,\"ts\":2020,"
			"\"dur\":10,\"args\":{\"TS1\":\"2000000\",\"TS2\":\"2000000\","
			"\"TS3\":\"2000000\",\"TS4\":\"2030000\",\"TS5\":\"2030000\"}}");
	run(&a, &x, &b, &opts);
	assert_int_equal(a.issues[UT_ACE_ISSUE_LENGTH_DOUBT], 1);
	assert_near(x.trust.device, 120, 1e-6);
	assert_near(x.trust.doubted, 30, 1e-6);
	assert_near(x.trust.percent, 75, 1e-6);
	done(&a, &x);
}

/* Host and cycles agree about the length of a kernel, but it lies 50 ms from where it should. */
static void spans_far_from_the_line_are_outliers(void **state)
{
	struct ut_ace_opts opts = make_opts();
	struct ut_buf b = { 0 };
	struct ut_ace_extra x;
	struct ut_ace_analysis a;

	(void)state;
	add_kernels(&b, 0, 99);
	ut_buf_text(&b, ",{\"name\":\"far Cmpt Exec\",\"ph\":\"X\",\"pid\":0,\"tid\":2,"
			"\"ts\":53000,\"dur\":10,\"args\":{\"TS1\":\"3000000\",\"TS2\":\"3000000\","
			"\"TS3\":\"3000000\",\"TS4\":\"3010000\",\"TS5\":\"3010000\"}}");
	run(&a, &x, &b, &opts);
	assert_int_equal(a.issues[UT_ACE_ISSUE_CLOCK_OUTLIER], 1);
	assert_int_equal(x.ranks[0].fit.outliers, 1);
	assert_near(x.ranks[0].fit.mhz, 1000, 1e-3);
	assert_near(x.trust.percent, 99, 1e-6);
	done(&a, &x);
}

/* -O drop throws a kernel away: 10 of 60 us are lost. */
static void dropped_spans_are_lost(void **state)
{
	struct ut_ace_opts opts = make_opts();
	struct flex_span late = { .name = "z Cmpt Exec", .from = 1085, .to = 1095 };
	struct ut_buf b = { 0 };
	struct ut_ace_extra x;
	struct ut_ace_analysis a;

	(void)state;
	opts.overlap = UT_ACE_OVERLAP_DROP;
	add_kernels(&b, 0, 5); /* the last one from 1080 to 1090 */
	flex_add(&b, &late);
	run(&a, &x, &b, &opts);
	assert_int_equal(a.issues[UT_ACE_ISSUE_OVERLAP_LOST], 1);
	assert_int_equal(a.issues[UT_ACE_ISSUE_OVERLAP], 0);
	assert_near(x.trust.device, 60, 1e-6);
	assert_near(x.trust.lost, 10, 1e-6);
	assert_int_equal(x.trust.count[UT_ACE_LOSS], 1);
	done(&a, &x);
}

static void ranks_that_are_only_spoken_of_are_missing(void **state)
{
	static const struct flex_span spans[] = {
		{ "SenRdmaSend_1 [sync=g] DmaO", 0, 100, 110, "AllReduce_all_reduce_1", "1", 0 },
		{ "SenRdmaReceive_2 [sync=g] DmaI", 1, 100, 110, "AllReduce_all_reduce_1", "5", 0 },
		{ "k Cmpt Exec", 3, 90, 100, NULL, NULL, 0 },
		{ "SenRdmaSend_1 [sync=h] DmaO", 1, 120, 130, "AllReduce_all_reduce_2", "1", 0 },
	};
	struct ut_ace_extra x;
	struct ut_ace_analysis a;

	(void)state;
	flex_run(&a, &x, spans, 4);
	/* 2 is a hole in 0, 1, 3; a step names 5; nobody names 4 */
	assert_int_equal(x.missing_count, 2);
	assert_int_equal(x.missing[0], 2);
	assert_int_equal(x.missing[1], 5);
	/* two ranks take part in collectives, but only one in the second of them */
	assert_int_equal(x.coll_count, 2);
	assert_int_equal(a.issues[UT_ACE_ISSUE_COLL_LACKS], 1);
	done(&a, &x);
}

static void what_reading_met_is_counted(void **state)
{
	static const char text[] = "[{\"name\":\"a\",\"ph\":\"E\",\"pid\":0,\"tid\":1,\"ts\":1},"
				   "{\"name\":\"b\",\"ph\":\"B\",\"pid\":0,\"tid\":1,\"ts\":2},7]";
	uint64_t issues[UT_ACE_ISSUES] = { 0 };
	struct ut_ace_part part;
	struct ut_err err = { 0 };

	(void)state;
	assert_int_equal(ut_ace_read_text(&part, "x.json", text, strlen(text), UT_ACE_1_0, &err),
			 0);
	ut_ace_issues_read(issues, &part);
	assert_int_equal(issues[UT_ACE_ISSUE_STRAY_END], 1);
	assert_int_equal(issues[UT_ACE_ISSUE_NOT_EVENT], 1);
	ut_ace_part_release(&part);
}

/* Stages that add and drop are told with numbers that fit together. */
static void stages_are_counted(void **state)
{
	static const struct flex_span spans[] = {
		{ "a Cmpt Prep", 0, 110, 115, NULL, NULL, 0 },
		{ "a Cmpt Exec", 0, 115, 165, NULL, NULL, 0 },
	};
	uint64_t now = 2;
	struct ut_ace_extra x;
	struct ut_ace_analysis a;

	(void)state;
	flex_run(&a, &x, spans, 2);
	assert_string_equal(x.stages[0].stage, "queueing_counter");
	assert_int_equal(x.stages[0].added, 2); /* one begins, one ends */
	assert_int_equal(x.stages[0].dropped, 1);
	for (size_t i = 0; i < x.stage_count; i++) {
		assert_int_equal(x.stages[i].before, now);
		now += x.stages[i].added - x.stages[i].dropped;
	}
	assert_int_equal(now, a.table.seq_count);
	done(&a, &x);
}

/* Times that no clock has, and names that would end a script: reports stay whole. */
static void reports_survive_odd_input(void **state)
{
	static const char text[] =
		"[{\"name\":\"</script><b>\\\" Cmpt Exec\",\"ph\":\"X\",\"pid\":0,\"tid\":1,"
		"\"ts\":1e300,\"dur\":1e299,\"args\":{\"TS1\":\"1\",\"TS2\":\"2\",\"TS3\":\"3\","
		"\"TS4\":\"4\",\"TS5\":\"5\",\"Power\":\"9\"}},"
		"{\"name\":\"b Cmpt Exec\",\"ph\":\"X\",\"pid\":-9223372036854775807,\"tid\":1,"
		"\"ts\":-1e18,\"dur\":5,\"args\":{\"TS1\":\"1\",\"TS2\":\"2\",\"TS3\":\"3\","
		"\"TS4\":\"4294967295\",\"TS5\":\"5\",\"CollGroup\":\"g\",\"Peers\":\"[0,"
		"99999999999]\"}}]";
	struct ut_ace_opts opts = make_opts();
	struct ut_out *o = ut_out_open_memory();
	struct ut_ace_report r = { .title = "<t>&", .source = "{}" };
	struct ut_ace_extra x;
	struct ut_ace_analysis a;
	const char *page;
	size_t len;

	(void)state;
	opts.no_mp_sync = true;
	opts.ignore_crit = true;
	flex_run_text(&a, &x, &opts, text);
	r.a = &a;
	r.x = &x;
	ut_ace_report_text(o, &r);
	ut_ace_report_html(o, &r);
	page = ut_out_data(o, &len);
	/* without a page in this build there is nothing to look at, but nothing may break either */
	if (!ut_one_page_missing()) {
		assert_null(memmem(page, len, "</script><b>", 12));
		assert_non_null(memmem(page, len, "data-name=\"findings\"", 20));
	}
	ut_out_abandon(o);
	done(&a, &x);
}

UT_TESTS(extra_trust)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_clean_trace_is_trusted),
		cmocka_unit_test(a_wrong_frequency_costs_all_trust),
		cmocka_unit_test(lengths_that_disagree_are_in_doubt),
		cmocka_unit_test(spans_far_from_the_line_are_outliers),
		cmocka_unit_test(dropped_spans_are_lost),
		cmocka_unit_test(ranks_that_are_only_spoken_of_are_missing),
		cmocka_unit_test(what_reading_met_is_counted),
		cmocka_unit_test(stages_are_counted),
		cmocka_unit_test(reports_survive_odd_input),
	};

	return cmocka_run_group_tests_name("acelyzer/extra_trust", tests, NULL, NULL);
}
