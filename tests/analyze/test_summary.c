/* test_summary.c - tests src/analysis/analyze/summary.h with traces made by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/summary.h"
#include "model/event.h"
#include "model/trace.h"
#include "support/unit.h"

struct fixture {
	struct ut_summary s;
	struct ut_trace t;
};

static void new_trace(struct fixture *f)
{
	ut_trace_init(&f->t);
	ut_trace_add_process(&f->t, 1);
	for (int i = 0; i < 3; i++)
		ut_trace_add_track(&f->t, 0, UT_TRACK_THREAD);
}

static int make(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	ut_summary_init(&f->s);
	new_trace(f);
	*state = f;
	return 0;
}

static int drop(void **state)
{
	struct fixture *f = *state;

	ut_summary_release(&f->s);
	ut_trace_release(&f->t);
	free(f);
	return 0;
}

static void span(struct fixture *f, uint32_t track, const char *name, uint64_t ts, uint64_t length)
{
	struct ut_event e = { .ts = ts, .val = length, .track = track };

	e.name = ut_strtab_intern_z(&f->t.strings, name);
	ut_sink_event(&f->s.sink, &f->t, &e);
}

static void async(struct fixture *f, enum ut_kind kind, const char *name, uint64_t ts,
		  uint64_t number)
{
	struct ut_event e = { .ts = ts, .val = number, .kind = (uint8_t)kind };

	e.name = ut_strtab_intern_z(&f->t.strings, name);
	ut_sink_event(&f->s.sink, &f->t, &e);
}

static const struct ut_summary_row *row(const struct fixture *f, const char *name)
{
	for (size_t i = 0; i < f->s.count; i++) {
		if (!strcmp(ut_strtab_get(&f->s.strings, f->s.rows[i].name).ptr, name))
			return &f->s.rows[i];
	}
	fail_msg("no row %s", name);
	return NULL;
}

static void nothing_gives_no_rows(void **state)
{
	struct fixture *f = *state;

	ut_summary_finish(&f->s);
	assert_int_equal(f->s.count, 0);
	assert_int_equal(f->s.self_total, 0);
}

static void counts_totals_and_extremes(void **state)
{
	struct fixture *f = *state;

	span(f, 0, "a", 0, 10);
	span(f, 0, "a", 20, 30);
	span(f, 1, "a", 0, 2);
	ut_summary_finish(&f->s);
	assert_int_equal(f->s.count, 1);
	assert_int_equal(row(f, "a")->calls, 3);
	assert_int_equal(row(f, "a")->total, 42);
	assert_int_equal(row(f, "a")->self, 42);
	assert_int_equal(row(f, "a")->min, 2);
	assert_int_equal(row(f, "a")->max, 30);
}

static void self_time_leaves_out_direct_children_only(void **state)
{
	struct fixture *f = *state;

	span(f, 0, "outer", 0, 100);
	span(f, 0, "middle", 10, 50);
	span(f, 0, "inner", 20, 30);
	span(f, 0, "middle", 70, 20);
	span(f, 1, "elsewhere", 0, 100);
	ut_summary_finish(&f->s);
	assert_int_equal(row(f, "outer")->self, 30);
	assert_int_equal(row(f, "middle")->self, 40);
	assert_int_equal(row(f, "inner")->self, 30);
	assert_int_equal(row(f, "elsewhere")->self, 100);
	assert_int_equal(f->s.self_total, 200);
}

static void recursion_counts_its_time_once(void **state)
{
	struct fixture *f = *state;

	span(f, 0, "f", 0, 100);
	span(f, 0, "f", 10, 80);
	span(f, 1, "f", 15, 50); /* another thread: that is more time */
	span(f, 0, "f", 20, 60);
	span(f, 1, "f", 60, 10); /* overlaps */
	span(f, 0, "f", 100, 3);
	ut_summary_finish(&f->s);
	assert_int_equal(row(f, "f")->total, 103 + 55);
	assert_int_equal(row(f, "f")->self, 103 + 55);
	assert_int_equal(ut_summary_average(row(f, "f")), (240 + 50 + 10 + 3) / 6);
	assert_in_range(ut_summary_average(row(f, "f")), row(f, "f")->min, row(f, "f")->max);
}

static void recursion_is_no_matter_of_earlier_traces(void **state)
{
	struct fixture *f = *state;

	span(f, 0, "f", 0, 1000);
	ut_summary_end_trace(&f->s);
	span(f, 0, "f", 10, 80);
	ut_summary_finish(&f->s);
	assert_int_equal(row(f, "f")->total, 1080);
}

static void what_is_nobodys_work_has_no_self_time(void **state)
{
	struct fixture *f = *state;
	struct ut_event e = { .ts = 0, .val = 500, .flags = UT_EV_ASIDE };

	e.name = ut_strtab_intern_z(&f->t.strings, "frame");
	ut_sink_event(&f->s.sink, &f->t, &e);
	e.ts = 100;
	ut_sink_event(&f->s.sink, &f->t, &e);
	f->t.tracks[1].type = UT_TRACK_LANE;
	span(f, 0, "task", 50, 100);
	span(f, 1, "on a queue", 0, 300);
	async(f, UT_KIND_ASYNC_BEGIN, "request", 0, 1);
	async(f, UT_KIND_ASYNC_END, "request", 90, 1);
	ut_summary_finish(&f->s);
	assert_int_equal(row(f, "frame")->total, 600);
	assert_int_equal(row(f, "frame")->self, 0);
	assert_false(row(f, "frame")->work);
	assert_false(row(f, "request")->work);
	assert_true(row(f, "task")->work && row(f, "on a queue")->work);
	assert_int_equal(f->s.self_total, 400);
	assert_true(ut_summary_share(&f->s, row(f, "on a queue")->self) == 75.0);
}

static void function(struct fixture *f, const char *name, const char *file, uint64_t ts,
		     uint64_t length)
{
	struct ut_event e = { .ts = ts, .val = length };

	e.args = (uint32_t)f->t.arg_count;
	ut_trace_add_arg(&f->t, ut_strtab_intern_z(&f->t.strings, "file"), UT_ARG_STR)->value.str =
		ut_strtab_intern_z(&f->t.strings, file);
	ut_trace_add_arg(&f->t, 0, UT_ARG_END);
	e.name = ut_strtab_intern_z(&f->t.strings, name);
	ut_sink_event(&f->s.sink, &f->t, &e);
}

static void functions_of_pythons_libraries_come_last(void **state)
{
	struct fixture *f = *state;
	const char *const order[] = { "main", "run", "task", "zeros", "get", "dumps" };

	function(f, "dumps", "/usr/lib/python3.11/json/__init__.py", 0, 500);
	function(f, "get", "<frozen os>", 500, 600);
	function(f, "zeros", "/home/me/venv/lib64/python3.12/site-packages/torch/x.py", 1100, 700);
	span(f, 0, "task", 2000, 10);
	function(f, "run", "/usr/lib/python3.11/pool.py", 3000, 1);
	function(f, "main", "/home/me/python3/lib/main.py", 4000, 90);
	function(f, "run", "/home/me/run.py", 5000, 10); /* of both */
	ut_summary_finish(&f->s);
	for (size_t i = 0; i < 6; i++)
		assert_string_equal(ut_strtab_get(&f->s.strings, f->s.rows[i].name).ptr, order[i]);
}

static void devices_are_put_behind_the_rows(void **state)
{
	struct fixture *f = *state;
	uint32_t device = ut_trace_add_process(&f->t, 1);
	uint32_t queue = ut_trace_add_track(&f->t, device, UT_TRACK_LANE);

	f->t.processes[device].kind = UT_PROCESS_DEVICE;
	span(f, queue, "kernel", 0, 60);
	span(f, queue, "both", 60, 10);
	span(f, 0, "both", 0, 10);
	span(f, 0, "task", 10, 20);
	ut_summary_finish(&f->s);
	assert_int_equal(f->s.count, 3);
	ut_summary_hide_devices(&f->s);
	assert_int_equal(f->s.count, 2);
	assert_int_equal(f->s.hidden, 1);
	assert_string_equal(ut_strtab_get(&f->s.strings, f->s.rows[2].name).ptr, "kernel");
	assert_int_equal(f->s.self_total, 100);
}

static void zero_length_spans_count_and_take_nothing(void **state)
{
	struct fixture *f = *state;

	span(f, 0, "outer", 5, 10);
	span(f, 0, "nil", 5, 0);
	span(f, 0, "nil", 5, 0);
	span(f, 0, "nil", 15, 0);
	ut_summary_finish(&f->s);
	assert_int_equal(row(f, "nil")->calls, 3);
	assert_int_equal(row(f, "nil")->min, 0);
	assert_int_equal(row(f, "outer")->self, 10);
}

static void extreme_times_do_not_wrap(void **state)
{
	struct fixture *f = *state;

	span(f, 0, "late", UINT64_MAX - 5, 100);
	span(f, 0, "later", UINT64_MAX - 1, 1);
	ut_summary_finish(&f->s);
	assert_int_equal(row(f, "late")->self, 4); /* as in stats: time ends there */
	assert_int_equal(row(f, "later")->self, 1);
}

static void overlapping_spans_share_no_moment(void **state)
{
	struct fixture *f = *state;

	span(f, 0, "a", 0, 10);
	span(f, 0, "b", 5, 100);
	ut_summary_finish(&f->s);
	assert_int_equal(row(f, "a")->self, 5);
	assert_int_equal(row(f, "b")->self, 100);
}

static void async_spans_pair_by_number(void **state)
{
	struct fixture *f = *state;

	async(f, UT_KIND_ASYNC_BEGIN, "a", 10, 1);
	async(f, UT_KIND_ASYNC_BEGIN, "a", 12, 2);
	async(f, UT_KIND_ASYNC_END, "a", 15, 1);
	async(f, UT_KIND_ASYNC_END, "a", 32, 2);
	async(f, UT_KIND_ASYNC_BEGIN, "b", 40, 3);
	async(f, UT_KIND_ASYNC_END, "b", 50, 3);
	async(f, UT_KIND_ASYNC_BEGIN, "never ended", 40, 4);
	ut_summary_finish(&f->s);
	assert_int_equal(f->s.count, 2);
	assert_int_equal(row(f, "a")->calls, 2);
	assert_int_equal(row(f, "a")->total, 25);
	assert_int_equal(row(f, "b")->total, 10);
}

static void async_spans_of_one_number_nest(void **state)
{
	struct fixture *f = *state;

	async(f, UT_KIND_ASYNC_BEGIN, "outer", 10, 1);
	async(f, UT_KIND_ASYNC_BEGIN, "inner", 12, 1);
	async(f, UT_KIND_ASYNC_END, "inner", 15, 1);
	async(f, UT_KIND_ASYNC_END, "outer", 32, 1);
	ut_summary_finish(&f->s);
	assert_int_equal(row(f, "outer")->total, 22);
	assert_int_equal(row(f, "inner")->total, 3);
}

static void the_average_is_never_below_the_shortest(void **state)
{
	struct fixture *f = *state;
	struct ut_event open = { .ts = 100, .flags = UT_EV_UNFINISHED };

	span(f, 0, "task", 0, 50);
	open.name = ut_strtab_intern_z(&f->t.strings, "task");
	ut_sink_event(&f->s.sink, &f->t, &open);
	ut_summary_finish(&f->s);
	assert_int_equal(row(f, "task")->calls, 2);
	assert_true(ut_summary_average(row(f, "task")) >= row(f, "task")->min);
}

static void traces_share_rows_by_text_but_not_tracks(void **state)
{
	struct fixture *f = *state;

	span(f, 0, "x", 0, 1000);
	ut_summary_end_trace(&f->s);
	ut_trace_release(&f->t);
	new_trace(f);
	ut_strtab_intern_z(&f->t.strings, "moves the ids");
	span(f, 0, "x", 10, 10);
	ut_summary_end_trace(&f->s);
	ut_summary_finish(&f->s);
	assert_int_equal(f->s.count, 1);
	assert_int_equal(row(f, "x")->calls, 2);
	assert_int_equal(row(f, "x")->self, 1010);
}

static void categories_keep_equal_names_apart(void **state)
{
	struct fixture *f = *state;
	struct ut_event e = { .val = 1, .name = ut_strtab_intern_z(&f->t.strings, "run") };

	ut_sink_event(&f->s.sink, &f->t, &e);
	e.cat = ut_strtab_intern_z(&f->t.strings, "dnnl");
	ut_sink_event(&f->s.sink, &f->t, &e);
	ut_summary_finish(&f->s);
	assert_int_equal(f->s.count, 2);
}

static void rows_are_sorted_by_total_then_calls_then_name(void **state)
{
	struct fixture *f = *state;
	const char *const order[] = { "big", "many", "b", "c" };

	span(f, 0, "c", 0, 10);
	span(f, 0, "b", 20, 10);
	span(f, 0, "many", 40, 5);
	span(f, 0, "many", 50, 5);
	span(f, 0, "big", 60, 11);
	ut_summary_finish(&f->s);
	for (size_t i = 0; i < 4; i++)
		assert_string_equal(ut_strtab_get(&f->s.strings, f->s.rows[i].name).ptr, order[i]);
}

UT_TESTS(summary)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, make, drop)
	const struct CMUnitTest tests[] = {
		CASE(nothing_gives_no_rows),
		CASE(counts_totals_and_extremes),
		CASE(self_time_leaves_out_direct_children_only),
		CASE(recursion_counts_its_time_once),
		CASE(recursion_is_no_matter_of_earlier_traces),
		CASE(what_is_nobodys_work_has_no_self_time),
		CASE(devices_are_put_behind_the_rows),
		CASE(functions_of_pythons_libraries_come_last),
		CASE(zero_length_spans_count_and_take_nothing),
		CASE(extreme_times_do_not_wrap),
		CASE(overlapping_spans_share_no_moment),
		CASE(async_spans_pair_by_number),
		CASE(async_spans_of_one_number_nest),
		CASE(the_average_is_never_below_the_shortest),
		CASE(traces_share_rows_by_text_but_not_tracks),
		CASE(categories_keep_equal_names_apart),
		CASE(rows_are_sorted_by_total_then_calls_then_name),
	};
#undef CASE

	return cmocka_run_group_tests_name("analyze/summary", tests, NULL, NULL);
}
