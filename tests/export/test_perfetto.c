/* test_perfetto.c - tests src/trace/export/perfetto.c by reading the packets back into lines of
 * text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/utf8.h"
#include "export/perfetto_lines.h"
#include "support/unit.h"

static int make(void **state)
{
	struct script *s = malloc(sizeof(*s));

	script_start(s, &ut_export_perfetto);
	*state = s;
	return 0;
}

static int drop(void **state)
{
	script_release(*state);
	free(*state);
	return 0;
}

/* What comes before the first event of the thread that every script has. */
#define AT(t)                                                                                      \
	"clocks 3=" t " 6=" t "\n"                                                                 \
	"sequence 1 clock 3\n"
#define APP    "track 1 pid 100 app\n"
#define THREAD "track 2 in 1 tid 101\n"
#define BAD    UT_UTF8_BAD

static void no_events_still_name_the_process(void **state)
{
	perfetto_expect(*state, AT("0") APP);
}

static void clocks_come_first_and_know_real_time(void **state)
{
	struct script *s = *state;

	s->trace.boottime_offset = 100;
	s->trace.realtime_offset = 5000;
	s->trace.first = 7;
	script_event(s, (struct ut_event){ .ts = 10, .kind = UT_KIND_INSTANT });
	perfetto_expect(s, "clocks 3=7 6=107 1=5007\nsequence 1 clock 3\n" APP THREAD
			   "instant 10 on 2\n");
}

static void spans_nest_and_end_in_order(void **state)
{
	struct script *s = *state;

	script_span(s, 0, "a", 10, 100);
	script_span(s, 0, "b", 20, 30);
	script_span(s, 0, "c", 50, 60);
	script_span(s, 0, "d", 110, 0);
	perfetto_expect(s, AT("10") APP THREAD "begin 10 on 2 a\n"
					       "begin 20 on 2 b\n"
					       "end 50 on 2\n"
					       "begin 50 on 2 c\n"
					       "end 110 on 2\n"
					       "end 110 on 2\n"
					       "begin 110 on 2 d\n"
					       "end 110 on 2\n");
}

static void zero_length_spans_open_and_close_where_they_are(void **state)
{
	struct script *s = *state;

	script_span(s, 0, "a", 10, 5);
	script_span(s, 0, "b", 10, 0);
	script_span(s, 0, "c", 10, 0);
	script_span(s, 0, "d", 10, 5);
	perfetto_expect(s, AT("10") APP THREAD "begin 10 on 2 a\n"
					       "begin 10 on 2 b\n"
					       "end 10 on 2\n"
					       "begin 10 on 2 c\n"
					       "end 10 on 2\n"
					       "begin 10 on 2 d\n"
					       "end 15 on 2\n"
					       "end 15 on 2\n");
}

static void a_span_that_does_not_nest_moves_to_a_row_below_its_thread(void **state)
{
	struct script *s = *state;

	s->trace.tracks[0].name = script_str(s, "main");
	script_span(s, 0, "a", 10, 10);
	script_span(s, 0, "b", 15, 10);
	script_span(s, 0, "c", 16, 1);
	script_span(s, 0, "d", 19, 50); /* the row of b is taken until 25 */
	script_span(s, 0, "e", 28, 50); /* not any more */
	perfetto_expect(s, AT("10") APP "track 2 in 1 tid 101 main\n"
					"begin 10 on 2 a\n"
					"track 3 in 2 main (overlap)\n"
					"begin 15 on 3 b\n"
					"end 25 on 3\n"
					"begin 16 on 2 c\n"
					"end 17 on 2\n"
					"track 4 in 2 main (overlap)\n"
					"begin 19 on 4 d\n"
					"end 69 on 4\n"
					"end 20 on 2\n"
					"begin 28 on 2 e\n"
					"end 78 on 2\n");
}

static void overlapping_spans_take_no_more_rows_than_overlap(void **state)
{
	struct script *s = *state;
	size_t rows = 0;

	for (uint64_t i = 0; i < 1000; i++)
		script_span(s, 0, "x", 10 * i, 195);
	script_end(s);
	for (size_t i = 0; i + 9 <= s->len; i++)
		rows += !memcmp(s->text + i, "(overlap)", 9);
	assert_int_equal(rows, 19); /* and the thread itself */
}

static void rows_of_a_thread_without_a_name_are_called_by_its_id(void **state)
{
	struct script *s = *state;

	script_span(s, 0, "a", 10, 10);
	script_span(s, 0, "b", 15, 10);
	perfetto_expect(s, AT("10") APP THREAD "begin 10 on 2 a\n"
					       "track 3 in 2 101 (overlap)\n"
					       "begin 15 on 3 b\n"
					       "end 25 on 3\n"
					       "end 20 on 2\n");
}

static void the_end_of_time_is_no_overflow(void **state)
{
	struct script *s = *state;

	script_span(s, 0, "a", UINT64_MAX - 1, UINT64_MAX);
	perfetto_expect(s,
			AT("18446744073709551614") APP THREAD "begin 18446744073709551614 on 2 a\n"
							      "end 18446744073709551615 on 2\n");
}

static void instants_go_to_thread_process_or_everybody(void **state)
{
	struct script *s = *state;
	struct ut_event e = { .kind = UT_KIND_INSTANT, .ts = 1, .cat = script_str(s, "dom") };

	script_event(s, e);
	e.flags = UT_EV_SCOPE_PROCESS;
	script_event(s, e);
	e.flags = UT_EV_SCOPE_GLOBAL;
	script_event(s, e);
	perfetto_expect(s, AT("1") APP THREAD "instant 1 on 2 @dom\n"
					      "instant 1 on 1 @dom\n"
					      "instant 1 on 0 @dom\n");
}

static void counters_have_units_and_types(void **state)
{
	struct script *s = *state;
	uint32_t heap = script_track(s, UT_TRACK_COUNTER, "heap", 1);
	uint32_t temp = script_track(s, UT_TRACK_COUNTER, "temp", 2);
	struct ut_event e = { .kind = UT_KIND_COUNTER, .track = heap, .val = 5, .ts = 1 };
	double half = 0.5;

	s->trace.tracks[heap].unit = script_str(s, "bytes");
	s->trace.tracks[temp].unit = script_str(s, "C");
	script_event(s, e);
	e.val = (uint64_t)-5;
	e.flags = UT_EV_SIGNED;
	script_event(s, e);
	e.flags = 0;
	script_event(s, e);
	e.track = temp;
	e.flags = UT_EV_DOUBLE;
	memcpy(&e.val, &half, sizeof(half));
	script_event(s, e);
	perfetto_expect(s, AT("1") APP "track 2 in 1 heap unit 3\n"
				       "counter 1 on 2 = 5\n"
				       "counter 1 on 2 = -5\n"
				       "counter 1 on 2 = 1.84467e+19\n"
				       "track 3 in 1 temp unit 0 C\n"
				       "counter 1 on 3 = 0.5\n");
}

static void async(struct script *s, uint32_t track, enum ut_kind kind, uint64_t ts, uint64_t number)
{
	script_event(s, (struct ut_event){ .kind = (uint8_t)kind,
					   .ts = ts,
					   .val = number,
					   .track = track,
					   .name = script_str(s, "io") });
}

static void async_spans_share_a_row_only_one_after_the_other(void **state)
{
	struct script *s = *state;
	uint32_t track = script_track(s, UT_TRACK_ASYNC, "requests", 1);

	async(s, track, UT_KIND_ASYNC_BEGIN, 10, 1);
	async(s, track, UT_KIND_ASYNC_BEGIN, 11, 2);
	async(s, track, UT_KIND_ASYNC_END, 20, 1);
	async(s, track, UT_KIND_ASYNC_BEGIN, 20, 3);
	async(s, track, UT_KIND_ASYNC_END, 30, 2);
	async(s, track, UT_KIND_ASYNC_END, 31, 3);
	async(s, track, UT_KIND_ASYNC_BEGIN, 25, 4); /* late, and no row is idle at 25 */
	perfetto_expect(s, AT("10") APP "track 2 in 1 requests\n"
					"begin 10 on 2 io\n"
					"track 3 in 1 requests\n"
					"begin 11 on 3 io\n"
					"end 20 on 2\n"
					"begin 20 on 2 io\n"
					"end 30 on 3\n"
					"end 31 on 2\n"
					"track 4 in 1 requests\n"
					"begin 25 on 4 io\n");
}

/* As an importer sends them that knows both ends: sorted by begin, each with its end. */
static void async_spans_take_no_more_rows_than_overlap(void **state)
{
	struct script *s = *state;
	uint32_t track = script_track(s, UT_TRACK_ASYNC, "r", 1);
	size_t rows = 0;

	for (uint64_t i = 0; i < 1000; i++) {
		async(s, track, UT_KIND_ASYNC_BEGIN, 10 * i, i);
		async(s, track, UT_KIND_ASYNC_END, 10 * i + (i % 7 ? 190 : 200), i);
	}
	script_end(s);
	for (size_t i = 0; i + 3 <= s->len; i++)
		rows += !memcmp(s->text + i, "\x12\x01r", 3); /* TrackDescriptor.name */
	assert_int_equal(rows, 20);
}

static void an_async_end_before_its_begin_ends_nothing(void **state)
{
	struct script *s = *state;
	uint32_t track = script_track(s, UT_TRACK_ASYNC, "r", 1);

	async(s, track, UT_KIND_ASYNC_END, 5, 1);
	async(s, track, UT_KIND_ASYNC_BEGIN, 10, 1);
	async(s, track, UT_KIND_ASYNC_BEGIN, 30, 2);
	async(s, track, UT_KIND_ASYNC_END, 29, 2); /* the clocks of two threads */
	perfetto_expect(s, AT("5") APP "track 2 in 1 r\n"
				       "begin 10 on 2 io\n"
				       "track 3 in 1 r\n"
				       "begin 30 on 3 io\n"
				       "end 30 on 3\n");
}

static void async_spans_of_one_number_share_a_row_and_nest(void **state)
{
	struct script *s = *state;
	uint32_t track = script_track(s, UT_TRACK_ASYNC, "r", 1);

	async(s, track, UT_KIND_ASYNC_BEGIN, 10, 1);
	async(s, track, UT_KIND_ASYNC_BEGIN, 12, 1);
	async(s, track, UT_KIND_ASYNC_BEGIN, 14, 2);
	async(s, track, UT_KIND_ASYNC_END, 20, 1);
	async(s, track, UT_KIND_ASYNC_END, 30, 1);
	perfetto_expect(s, AT("10") APP "track 2 in 1 r\n"
					"begin 10 on 2 io\n"
					"begin 12 on 2 io\n"
					"track 3 in 1 r\n"
					"begin 14 on 3 io\n"
					"end 20 on 2\n"
					"end 30 on 2\n");
}

static void moments_of_async_spans_lie_on_their_row(void **state)
{
	struct script *s = *state;
	uint32_t track = script_track(s, UT_TRACK_ASYNC, "r", 1);

	async(s, track, UT_KIND_ASYNC_BEGIN, 10, 1);
	async(s, track, UT_KIND_ASYNC_BEGIN, 11, 2);
	async(s, track, UT_KIND_ASYNC_INSTANT, 12, 1);
	async(s, track, UT_KIND_ASYNC_END, 20, 1);
	async(s, track, UT_KIND_ASYNC_INSTANT, 21, 1); /* over: where nothing is open */
	async(s, track, UT_KIND_ASYNC_END, 30, 2);
	perfetto_expect(s, AT("10") APP "track 2 in 1 r\n"
					"begin 10 on 2 io\n"
					"track 3 in 1 r\n"
					"begin 11 on 3 io\n"
					"instant 12 on 2 io\n"
					"end 20 on 2\n"
					"instant 21 on 2 io\n"
					"end 30 on 3\n");
}

static void spans_on_an_overlapping_track_are_alone_on_their_rows(void **state)
{
	struct script *s = *state;
	uint32_t track = script_track(s, UT_TRACK_ASYNC, "r", 1);

	script_span(s, track, "a", 10, 10);
	async(s, track, UT_KIND_ASYNC_BEGIN, 12, 1);
	script_span(s, track, "b", 14, 2);
	async(s, track, UT_KIND_ASYNC_END, 30, 1);
	perfetto_expect(s, AT("10") APP "track 2 in 1 r\n"
					"begin 10 on 2 a\n"
					"end 20 on 2\n"
					"track 3 in 1 r\n"
					"begin 12 on 3 io\n"
					"track 4 in 1 r\n"
					"begin 14 on 4 b\n"
					"end 16 on 4\n"
					"end 30 on 3\n");
}

/* An importer that was lied to. */
static void an_async_end_on_another_track_ends_nothing(void **state)
{
	struct script *s = *state;
	uint32_t one = script_track(s, UT_TRACK_ASYNC, "one", 1);
	uint32_t two = script_track(s, UT_TRACK_ASYNC, "two", 2);

	async(s, one, UT_KIND_ASYNC_BEGIN, 10, 1);
	async(s, two, UT_KIND_ASYNC_BEGIN, 10, 2);
	async(s, two, UT_KIND_ASYNC_END, 20, 1);
	async(s, two, UT_KIND_ASYNC_END, 30, 2);
	perfetto_expect(s, AT("10") APP "track 2 in 1 one\n"
					"track 3 in 1 two\n"
					"begin 10 on 3 io\n"
					"end 30 on 3\n"
					"begin 10 on 2 io\n");
}

static void objects_are_instants_that_say_which(void **state)
{
	struct script *s = *state;
	struct ut_event e = { .kind = UT_KIND_OBJECT_NEW, .ts = 1, .val = 7 };

	e.name = script_str(s, "thing");
	script_event(s, e);
	e.kind = UT_KIND_OBJECT_STATE;
	script_event(s, e);
	e.kind = UT_KIND_OBJECT_GONE;
	script_event(s, e);
	perfetto_expect(s, AT("1") APP THREAD "instant 1 on 2 thing object_new=7\n"
					      "instant 1 on 2 thing object_state=7\n"
					      "instant 1 on 2 thing object_gone=7\n");
}

static void steps_of_a_flow_do_not_end_it(void **state)
{
	struct script *s = *state;

	script_span(s, 0, "a", 10, 5);
	script_event(s, (struct ut_event){ .kind = UT_KIND_FLOW_STEP, .ts = 10, .val = 1 });
	perfetto_expect(s, AT("10") APP THREAD "begin 10 on 2 a out 1\nend 15 on 2\n");
}

static void flows_are_written_into_the_span_before_them(void **state)
{
	struct script *s = *state;
	struct ut_event flow = { .kind = UT_KIND_FLOW_OUT, .ts = 12, .val = 1 };

	script_span(s, 0, "a", 10, 5);
	script_event(s, flow);
	script_span(s, 0, "b", 20, 5);
	flow.kind = UT_KIND_FLOW_IN;
	script_event(s, flow);
	script_event(s, (struct ut_event){ .kind = UT_KIND_INSTANT, .ts = 22 });
	flow.ts = 23;
	script_event(s, flow);
	perfetto_expect(s, AT("10") APP THREAD "begin 10 on 2 a out 1\n"
					       "end 15 on 2\n"
					       "begin 20 on 2 b in 1\n"
					       "instant 22 on 2\n"
					       "instant 23 on 2 flow in 1\n"
					       "end 25 on 2\n");
}

static void arguments_become_annotations(void **state)
{
	struct script *s = *state;
	struct ut_trace *t = &s->trace;
	uint32_t at = (uint32_t)t->arg_count, array = script_str(s, "array");

	ut_trace_add_arg(t, script_str(s, "i"), UT_ARG_I64)->value.i64 = -3;
	ut_trace_add_arg(t, script_str(s, "s"), UT_ARG_STR)->value.str = script_str(s, "text");
	ut_trace_add_arg(t, array, UT_ARG_U64)->flags = UT_ARG_ARRAY | UT_ARG_MORE;
	ut_trace_add_arg(t, array, UT_ARG_U64)->flags = UT_ARG_ARRAY;
	ut_trace_add_arg(t, 0, UT_ARG_BOOL)->value.u64 = 7;
	ut_trace_close_args(t);
	script_event(s, (struct ut_event){ .args = at, .flags = UT_EV_UNFINISHED });
	perfetto_expect(s, AT("0") APP THREAD
			"begin 0 on 2 i=-3 s=text array,=0,=0 arg?=1 unfinished=1\n"
			"end 0 on 2\n");
}

static void json(struct script *s, const char *text)
{
	struct ut_trace *t = &s->trace;
	uint32_t at = (uint32_t)t->arg_count;

	ut_trace_add_arg(t, script_str(s, "j"), UT_ARG_JSON)->value.str = script_str(s, text);
	ut_trace_close_args(t);
	script_event(s, (struct ut_event){ .kind = UT_KIND_INSTANT, .args = at });
}

/* read_annotation() shows nested ones with a comma in front, null as its text. */
static void json_becomes_nested_annotations(void **state)
{
	struct script *s = *state;

	json(s, "{\"a\":[1,-2,true],\"b\":{\"c\":\"\\u0041\\n\\ud83d\\ude00\"}}");
	json(s, "[18446744073709551615,null]");
	json(s, "18446744073709551616");
	json(s, "[]");
	json(s, "{broken");
	perfetto_expect(s, AT("0") APP THREAD
			"instant 0 on 2 j,a,=1,=-2,=1,b,c=A\n\xf0\x9f\x98\x80\n"
			"instant 0 on 2 j,=-1,\n"
			"instant 0 on 2 j=18446744073709551616~18446744073709551616\n"
			"instant 0 on 2 j={2}\n"
			"instant 0 on 2 j={broken~{broken\n");
}

static void json_that_is_nested_too_deep_stays_text(void **state)
{
	struct script *s = *state;
	char text[201];

	memset(text, '[', 100);
	memset(text + 100, ']', 100);
	text[200] = '\0';
	json(s, text);
	script_end(s);
	assert_non_null(memmem(s->text, s->len, text, 200));
}

static void ids_that_are_no_numbers_are_written_in_names(void **state)
{
	struct script *s = *state;
	struct ut_trace *t = &s->trace;
	uint32_t negative = ut_trace_add_process(t, 0), large = ut_trace_add_process(t, 0);

	t->processes[0].pid_text = script_str(s, "\"gpu 0\"");
	t->processes[negative].pid_text = script_str(s, "-4");
	t->processes[large].pid = (uint64_t)1 << 40;
	t->tracks[0].id_text = script_str(s, "\"stream 7\"");
	script_event(s, (struct ut_event){ .kind = UT_KIND_INSTANT, .ts = 1 });
	perfetto_expect(s, AT("1") "track 1 pid 1073741824 app (gpu 0)\n"
				   "track 2 in 1 tid 1073741824 stream 7\n"
				   "instant 1 on 2\n"
				   "track 3 pid -4 \n"
				   "track 4 pid 1073741826 1099511627776\n");
}

static void strings_are_repaired(void **state)
{
	struct script *s = *state;

	script_span(s, 0, "a\xff\xc0\x80", 1, 1);
	s->trace.processes[0].name = script_str(s, "\xed\xa0\x80");
	perfetto_expect(s, AT("1") APP THREAD "track 1 pid 100 " BAD BAD BAD "\n"
					      "begin 1 on 2 a" BAD BAD BAD "\n"
					      "end 2 on 2\n");
}

static void names_that_come_late_are_written_again(void **state)
{
	struct script *s = *state;
	struct ut_process *p = &s->trace.processes[0];

	script_event(s, (struct ut_event){ .kind = UT_KIND_INSTANT });
	s->trace.tracks[0].name = script_str(s, "worker");
	p->name = script_str(s, "solver");
	p->rank = 2;
	p->host = script_str(s, "node1");
	p->cmdline = script_str(s, "./solver -x");
	perfetto_expect(s, AT("0") APP THREAD
			"instant 0 on 2\n"
			"track 1 pid 100 RANK 2 solver cmd ./solver -x host node1\n"
			"track 2 in 1 tid 101 worker\n");
}

static void losses_and_global_arguments_are_a_note_at_the_end(void **state)
{
	struct script *s = *state;
	struct ut_trace *t = &s->trace;

	t->last = 99;
	t->losses.dropped = 4;
	t->global_args = (uint32_t)t->arg_count;
	ut_trace_add_arg(t, script_str(s, "k"), UT_ARG_U64)->value.u64 = 1;
	ut_trace_close_args(t);
	perfetto_expect(s, AT("0") APP "instant 99 on 1 unitrace dropped=4 k=1\n");
}

static void each_trace_has_its_sequence_and_its_pid(void **state)
{
	struct script *s = *state;

	script_span(s, 0, "a", 10, 1);
	script_event(s, (struct ut_event){ .kind = UT_KIND_FLOW_OUT, .val = 5 });
	script_next_trace(s);
	script_str(s, "another string takes the first number");
	script_span(s, 0, "b", 5, 1);
	script_event(s, (struct ut_event){ .kind = UT_KIND_FLOW_OUT, .val = 5 });
	perfetto_expect(s, AT("10") APP THREAD "begin 10 on 2 a out 5\n"
					       "end 11 on 2\n"
					       "sequence 2 clock 3\n"
					       "track 3 pid 1073741825 app\n"
					       "track 4 in 3 tid 101\n"
					       "begin 5 on 4 b out 11\n"
					       "end 6 on 4\n");
}

UT_TESTS(perfetto)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, make, drop)
	const struct CMUnitTest tests[] = {
		CASE(no_events_still_name_the_process),
		CASE(clocks_come_first_and_know_real_time),
		CASE(spans_nest_and_end_in_order),
		CASE(zero_length_spans_open_and_close_where_they_are),
		CASE(a_span_that_does_not_nest_moves_to_a_row_below_its_thread),
		CASE(overlapping_spans_take_no_more_rows_than_overlap),
		CASE(rows_of_a_thread_without_a_name_are_called_by_its_id),
		CASE(the_end_of_time_is_no_overflow),
		CASE(instants_go_to_thread_process_or_everybody),
		CASE(counters_have_units_and_types),
		CASE(async_spans_share_a_row_only_one_after_the_other),
		CASE(async_spans_take_no_more_rows_than_overlap),
		CASE(an_async_end_before_its_begin_ends_nothing),
		CASE(async_spans_of_one_number_share_a_row_and_nest),
		CASE(moments_of_async_spans_lie_on_their_row),
		CASE(spans_on_an_overlapping_track_are_alone_on_their_rows),
		CASE(an_async_end_on_another_track_ends_nothing),
		CASE(objects_are_instants_that_say_which),
		CASE(steps_of_a_flow_do_not_end_it),
		CASE(flows_are_written_into_the_span_before_them),
		CASE(arguments_become_annotations),
		CASE(json_becomes_nested_annotations),
		CASE(json_that_is_nested_too_deep_stays_text),
		CASE(ids_that_are_no_numbers_are_written_in_names),
		CASE(strings_are_repaired),
		CASE(names_that_come_late_are_written_again),
		CASE(losses_and_global_arguments_are_a_note_at_the_end),
		CASE(each_trace_has_its_sequence_and_its_pid),
	};
#undef CASE

	return cmocka_run_group_tests_name("export/perfetto", tests, NULL, NULL);
}
