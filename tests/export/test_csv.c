/* test_csv.c - tests src/trace/export/csv.c, line by line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/utf8.h"
#include "export/support.h"
#include "support/unit.h"

#define HEAD                                                                                       \
	"trace,pid,process,tid,track,kind,ts_ns,dur_ns,name,category,depth,value,id,flags,args\n"

static int make(void **state)
{
	struct script *s = malloc(sizeof(*s));

	script_start(s, &ut_export_csv);
	*state = s;
	return 0;
}

static int drop(void **state)
{
	script_release(*state);
	free(*state);
	return 0;
}

static void expect(struct script *s, const char *lines)
{
	const char *text = script_end(s);

	assert_int_equal(strlen(text), s->len);
	assert_memory_equal(text, HEAD, strlen(HEAD));
	assert_string_equal(text + strlen(HEAD), lines);
}

static void an_empty_trace_is_a_heading(void **state)
{
	expect(*state, "");
}

static void every_kind_has_its_columns(void **state)
{
	struct script *s = *state;
	uint32_t lane = script_track(s, UT_TRACK_LANE, "lane", 7);
	struct ut_event e = { .track = lane, .ts = 5, .val = 9, .name = script_str(s, "n") };

	s->trace.tracks[s->thread].name = script_str(s, "main");
	script_span(s, s->thread, "a", 10, 20);
	for (e.kind = UT_KIND_INSTANT; e.kind < UT_KIND_COUNT; e.kind++)
		script_event(s, e);
	expect(s, "0,100,app,101,main,span,10,20,a,,0,,,,\n"
		  "0,100,app,,lane,instant,5,,n,,,,,,\n"
		  "0,100,app,,lane,counter,5,,n,,,9,,,\n"
		  "0,100,app,,lane,async begin,5,,n,,,,9,,\n"
		  "0,100,app,,lane,async end,5,,n,,,,9,,\n"
		  "0,100,app,,lane,flow out,5,,n,,,,9,,\n"
		  "0,100,app,,lane,flow in,5,,n,,,,9,,\n"
		  "0,100,app,,lane,flow step,5,,n,,,,9,,\n"
		  "0,100,app,,lane,async instant,5,,n,,,,9,,\n"
		  "0,100,app,,lane,object new,5,,n,,,,9,,\n"
		  "0,100,app,,lane,object state,5,,n,,,,9,,\n"
		  "0,100,app,,lane,object gone,5,,n,,,,9,,\n"
		  "0,100,app,,lane,sample,5,,n,,,0,,,\n"); /* of a stack that is not there */
}

static void depth_counts_the_spans_that_are_open(void **state)
{
	struct script *s = *state;

	script_span(s, 0, "a", 0, 10);
	script_span(s, 0, "b", 2, 3);
	script_span(s, 0, "zero", 5, 0);
	script_span(s, 0, "over", 8, 10); /* overlaps a without nesting */
	script_span(s, 0, "c", 12, 1);
	script_span(s, 0, "d", 18, 1);
	expect(s, "0,100,app,101,,span,0,10,a,,0,,,,\n"
		  "0,100,app,101,,span,2,3,b,,1,,,,\n"
		  "0,100,app,101,,span,5,0,zero,,1,,,,\n"
		  "0,100,app,101,,span,8,10,over,,1,,,,\n"
		  "0,100,app,101,,span,12,1,c,,1,,,,\n"
		  "0,100,app,101,,span,18,1,d,,0,,,,\n");
}

static void values_are_numbers(void **state)
{
	struct script *s = *state;
	struct ut_event e = { .kind = UT_KIND_COUNTER, .val = (uint64_t)-1 };
	double half = 0.5;

	script_event(s, e);
	e.flags = UT_EV_SIGNED;
	script_event(s, e);
	e.flags = UT_EV_DOUBLE;
	memcpy(&e.val, &half, sizeof(half));
	script_event(s, e);
	expect(s, "0,100,app,101,,counter,0,,,,,18446744073709551615,,,\n"
		  "0,100,app,101,,counter,0,,,,,-1,,,\n"
		  "0,100,app,101,,counter,0,,,,,0.5,,,\n");
}

static void flags_are_words(void **state)
{
	struct script *s = *state;

	script_event(s, (struct ut_event){ .flags = 0xff });
	expect(s, "0,100,app,101,,span,0,0,,,0,,,"
		  "unfinished|implicit_end|process|global|not_work|aside,\n");
}

static void what_has_a_meaning_in_csv_is_quoted(void **state)
{
	struct script *s = *state;

	s->trace.processes[0].name = script_str(s, "a,b");
	script_span(s, 0, "say \"hi\"", 1, 0);
	script_span(s, 0, "two\nlines\r", 2, 0);
	script_span(s, 0, " plain ", 3, 0);
	expect(s, "0,100,\"a,b\",101,,span,1,0,\"say \"\"hi\"\"\",,0,,,,\n"
		  "0,100,\"a,b\",101,,span,2,0,\"two\nlines\r\",,0,,,,\n"
		  "0,100,\"a,b\",101,,span,3,0, plain ,,0,,,,\n");
}

static void strings_are_repaired(void **state)
{
	struct script *s = *state;
	uint32_t zero = ut_strtab_intern(&s->trace.strings, "a\0b", 3);

	script_span(s, 0, "\xff", 1, 0);
	script_event(s, (struct ut_event){ .ts = 2, .name = zero });
	expect(s, "0,100,app,101,,span,1,0," UT_UTF8_BAD ",,0,,,,\n"
		  "0,100,app,101,,span,2,0,\"a" UT_UTF8_BAD "b\",,0,,,,\n");
}

static void arguments_are_one_json_object(void **state)
{
	struct script *s = *state;
	struct ut_trace *t = &s->trace;
	uint32_t at = (uint32_t)t->arg_count, array = script_str(s, "l");

	ut_trace_add_arg(t, script_str(s, "s"), UT_ARG_STR)->value.str = script_str(s, "x\"y");
	ut_trace_add_arg(t, array, UT_ARG_U64)->flags = UT_ARG_ARRAY | UT_ARG_MORE;
	ut_trace_add_arg(t, array, UT_ARG_U64)->flags = UT_ARG_ARRAY;
	ut_trace_add_arg(t, script_str(s, "p"), UT_ARG_PTR)->value.u64 = 255;
	ut_trace_add_arg(t, script_str(s, "j"), UT_ARG_JSON)->value.str =
		script_str(s, "{\"a\":1}");
	ut_trace_close_args(t);
	script_event(s, (struct ut_event){ .kind = UT_KIND_INSTANT, .args = at });
	expect(s, "0,100,app,101,,instant,0,,,,,,,,"
		  "\"{\"\"s\"\":\"\"x\\\"\"y\"\",\"\"l\"\":[0,0],\"\"p\"\":\"\"0xff\"\","
		  "\"\"j\"\":{\"\"a\"\":1}}\"\n");
}

static void ids_that_are_no_numbers_are_json_text(void **state)
{
	struct script *s = *state;

	s->trace.processes[0].pid_text = script_str(s, "\"gpu 0\"");
	s->trace.tracks[0].id_text = script_str(s, "-1");
	script_span(s, 0, "a", 1, 0);
	expect(s, "0,\"\"\"gpu 0\"\"\",app,-1,,span,1,0,a,,0,,,,\n");
}

static void traces_of_one_file_are_numbered(void **state)
{
	struct script *s = *state;

	script_span(s, 0, "a", 1, 100);
	script_next_trace(s);
	script_span(s, 0, "b", 2, 100);
	expect(s, "0,100,app,101,,span,1,100,a,,0,,,,\n"
		  "1,100,app,101,,span,2,100,b,,0,,,,\n");
}

static void names_that_come_late_are_used_from_then_on(void **state)
{
	struct script *s = *state;

	script_span(s, 0, "a", 1, 0);
	s->trace.tracks[0].name = script_str(s, "worker");
	script_span(s, 0, "b", 2, 0);
	expect(s, "0,100,app,101,,span,1,0,a,,0,,,,\n"
		  "0,100,app,101,worker,span,2,0,b,,0,,,,\n");
}

UT_TESTS(csv)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, make, drop)
	const struct CMUnitTest tests[] = {
		CASE(an_empty_trace_is_a_heading),
		CASE(every_kind_has_its_columns),
		CASE(depth_counts_the_spans_that_are_open),
		CASE(values_are_numbers),
		CASE(flags_are_words),
		CASE(what_has_a_meaning_in_csv_is_quoted),
		CASE(strings_are_repaired),
		CASE(arguments_are_one_json_object),
		CASE(ids_that_are_no_numbers_are_json_text),
		CASE(traces_of_one_file_are_numbered),
		CASE(names_that_come_late_are_used_from_then_on),
	};
#undef CASE

	return cmocka_run_group_tests_name("export/csv", tests, NULL, NULL);
}
