/* test_trace.c - tests src/trace/model/trace.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "model/event.h"
#include "model/trace.h"
#include "support/unit.h"

static int make(void **state)
{
	struct ut_trace *t = malloc(sizeof(*t));

	ut_trace_init(t);
	*state = t;
	return 0;
}

static int drop(void **state)
{
	ut_trace_release(*state);
	free(*state);
	return 0;
}

static void a_zeroed_event_is_a_valid_event(void **state)
{
	struct ut_trace *t = *state;
	struct ut_event e = { 0 };

	assert_int_equal(e.kind, UT_KIND_SPAN);
	assert_int_equal(t->args[e.args].type, UT_ARG_END);
	assert_string_equal(ut_strtab_get(&t->strings, e.name).ptr, "");
}

static void processes_and_tracks_are_numbered_and_start_empty(void **state)
{
	struct ut_trace *t = *state;

	for (uint32_t i = 0; i < 1000; i++) {
		assert_int_equal(ut_trace_add_process(t, 100 + i), i);
		assert_int_equal(ut_trace_add_track(t, i, UT_TRACK_LANE), i);
	}
	for (uint32_t i = 0; i < 1000; i++) {
		assert_int_equal(t->processes[i].pid, 100 + i);
		assert_int_equal(t->processes[i].rank, -1);
		assert_int_equal(t->processes[i].name, 0);
		assert_int_equal(t->tracks[i].process, i);
		assert_int_equal(t->tracks[i].type, UT_TRACK_LANE);
		assert_int_equal(t->tracks[i].id, 0);
	}
}

static void lists_of_arguments_lie_one_behind_the_other(void **state)
{
	struct ut_trace *t = *state;
	uint32_t first = (uint32_t)t->arg_count, second;

	ut_trace_add_arg(t, 7, UT_ARG_U64)->value.u64 = 42;
	ut_trace_add_arg(t, 8, UT_ARG_F64)->value.f64 = 0.5;
	ut_trace_close_args(t);
	second = (uint32_t)t->arg_count;
	ut_trace_close_args(t);

	assert_int_equal(first, 1);
	assert_int_equal(t->args[first].key, 7);
	assert_int_equal(t->args[first].value.u64, 42);
	assert_int_equal(t->args[first + 1].type, UT_ARG_F64);
	assert_int_equal(t->args[first + 2].type, UT_ARG_END);
	assert_int_equal(t->args[second].type, UT_ARG_END);
}

static void dropped_arguments_make_room_but_never_the_empty_list(void **state)
{
	struct ut_trace *t = *state;
	size_t mark = t->arg_count, cap;

	for (int i = 0; i < 100; i++)
		ut_trace_add_arg(t, 1, UT_ARG_U64);
	ut_trace_close_args(t);
	cap = t->arg_cap;
	ut_trace_drop_args(t, mark);
	assert_int_equal(t->arg_count, mark);
	for (int round = 0; round < 1000; round++) {
		for (int i = 0; i < 100; i++)
			ut_trace_add_arg(t, 1, UT_ARG_U64);
		ut_trace_drop_args(t, mark);
	}
	assert_int_equal(t->arg_cap, cap);
	ut_trace_drop_args(t, 0);
	assert_int_equal(t->arg_count, 1);
	ut_trace_drop_args(t, 1000);
	assert_int_equal(t->arg_count, 1);
}

static void an_argument_starts_clean_where_an_old_one_was(void **state)
{
	struct ut_trace *t = *state;
	size_t mark = t->arg_count;
	struct ut_arg *a = ut_trace_add_arg(t, 1, UT_ARG_STR);

	a->flags = UT_ARG_ARRAY;
	a->value.u64 = UINT64_MAX;
	ut_trace_drop_args(t, mark);
	a = ut_trace_add_arg(t, 2, UT_ARG_BOOL);
	assert_int_equal(a->flags, 0);
	assert_int_equal(a->value.u64, 0);
}

static const char *counter(struct ut_trace *t, const char *base, const char *unit, const char *id)
{
	uint32_t track = ut_trace_add_track(t, 0, UT_TRACK_COUNTER);

	t->tracks[track].unit = ut_strtab_intern_z(&t->strings, unit);
	t->tracks[track].id_text = ut_strtab_intern_z(&t->strings, id);
	ut_trace_name_counter(t, track, ut_strtab_intern_z(&t->strings, base));
	return ut_strtab_get(&t->strings, t->tracks[track].name).ptr;
}

static void counters_are_distinguished_by_their_names(void **state)
{
	struct ut_trace *t = *state;

	assert_string_equal(counter(t, "mem", "", ""), "mem");
	assert_int_equal(t->tracks[0].base, 0);
	assert_string_equal(counter(t, "mem", "heap", ""), "mem heap");
	assert_string_equal(ut_strtab_get(&t->strings, t->tracks[1].base).ptr, "mem");
	assert_string_equal(counter(t, "mem", "heap", "\"0x5\""), "mem id: 0x5 heap");
	assert_string_equal(counter(t, "mem", "", "7"), "mem id: 7");
	assert_string_equal(counter(t, "", "heap", ""), "");
}

UT_TESTS(trace)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_zeroed_event_is_a_valid_event, make, drop),
		cmocka_unit_test_setup_teardown(processes_and_tracks_are_numbered_and_start_empty,
						make, drop),
		cmocka_unit_test_setup_teardown(lists_of_arguments_lie_one_behind_the_other, make,
						drop),
		cmocka_unit_test_setup_teardown(
			dropped_arguments_make_room_but_never_the_empty_list, make, drop),
		cmocka_unit_test_setup_teardown(an_argument_starts_clean_where_an_old_one_was, make,
						drop),
		cmocka_unit_test_setup_teardown(counters_are_distinguished_by_their_names, make,
						drop),
	};

	return cmocka_run_group_tests_name("model/trace", tests, NULL, NULL);
}
