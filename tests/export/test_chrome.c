/* test_chrome.c - tests src/trace/export/chrome.c, byte by byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "export/support.h"
#include "support/unit.h"
#include "text/out.h"
#include "version.h"

#define APP_META                                                                                   \
	"{\"ph\":\"M\",\"pid\":100,\"tid\":100,\"name\":\"process_name\",\"args\":{\"name\":"      \
	"\"app\"}}"

static int make(void **state)
{
	struct script *s = malloc(sizeof(*s));

	script_start(s, &ut_export_chrome);
	*state = s;
	return 0;
}

static int drop(void **state)
{
	script_release(*state);
	free(*state);
	return 0;
}

/* The file has this line, whole but for the comma at its end. */
static void expect_line(struct script *s, const char *want)
{
	size_t len = strlen(want);

	for (const char *at = strstr(s->text, want); at; at = strstr(at + 1, want)) {
		if (at[-1] == '\n' && (at[len] == '\n' || !strncmp(at + len, ",\n", 2)))
			return;
	}
	fail_msg("no line %s in\n%s", want, s->text);
}

static void expect_not(struct script *s, const char *text)
{
	if (strstr(s->text, text))
		fail_msg("%s should not be in\n%s", text, s->text);
}

static void no_events_are_a_valid_file(void **state)
{
	struct script *s = *state;

	assert_string_equal(
		script_end(s),
		"{\"traceEvents\":[\n" APP_META "\n],\"displayTimeUnit\":\"ns\",\"otherData\":{"
		"\"tool\":\"unitrace\",\"version\":\"" UT_VERSION
		"\",\"clock\":\"CLOCK_MONOTONIC\","
		"\"processes\":[\n{\"pid\":100,\"name\":\"app\",\"realtime_offset_ns\":0,"
		"\"boottime_offset_ns\":0}]}}\n");
}

static void not_even_a_trace_is_a_valid_file(void **state)
{
	struct ut_out *out = ut_out_open_memory();
	size_t len;

	(void)state;
	ut_export_chrome.close(ut_export_chrome.open(out));
	ut_out_write(out, "", 1);
	assert_string_equal(ut_out_data(out, &len),
			    "{\"traceEvents\":[\n],\"displayTimeUnit\":\"ns\",\"otherData\":{"
			    "\"tool\":\"unitrace\",\"version\":\"" UT_VERSION "\","
			    "\"clock\":\"CLOCK_MONOTONIC\",\"processes\":[]}}\n");
	ut_out_abandon(out);
}

static void spans_are_complete_events_to_the_nanosecond(void **state)
{
	struct script *s = *state;
	uint32_t cat = script_str(s, "my.domain");

	script_event(s, (struct ut_event){ .ts = 1794729441490594751,
					   .val = 1,
					   .name = script_str(s, "gemm"),
					   .cat = cat });
	script_span(s, 0, "nil", 0, 0);
	script_event(s, (struct ut_event){ .ts = UINT64_MAX, .val = UINT64_MAX });
	script_end(s);
	expect_line(s, "{\"ph\":\"X\",\"pid\":100,\"tid\":101,\"ts\":1794729441490594.751,"
		       "\"dur\":0.001,\"name\":\"gemm\",\"cat\":\"my.domain\"}");
	expect_line(s, "{\"ph\":\"X\",\"pid\":100,\"tid\":101,\"ts\":0.000,\"dur\":0.000,"
		       "\"name\":\"nil\"}");
	expect_line(s, "{\"ph\":\"X\",\"pid\":100,\"tid\":101,\"ts\":18446744073709551.615,"
		       "\"dur\":18446744073709551.615,\"name\":\"\"}");
}

static void commas_in_categories_do_not_make_two(void **state)
{
	struct script *s = *state;

	script_event(s, (struct ut_event){ .cat = script_str(s, "a,b\",c") });
	script_end(s);
	expect_line(s, "{\"ph\":\"X\",\"pid\":100,\"tid\":101,\"ts\":0.000,\"dur\":0.000,"
		       "\"name\":\"\",\"cat\":\"a;b\\\";c\"}");
}

static void instants_say_whom_they_concern(void **state)
{
	struct script *s = *state;
	struct ut_event e = { .kind = UT_KIND_INSTANT, .ts = 1500, .name = script_str(s, "m") };

	script_event(s, e);
	e.flags = UT_EV_SCOPE_PROCESS;
	script_event(s, e);
	e.flags = UT_EV_SCOPE_GLOBAL;
	script_event(s, e);
	script_end(s);
#define HEAD "{\"ph\":\"i\",\"pid\":100,\"tid\":101,\"ts\":1.500,\"name\":\"m\",\"s\":"
	expect_line(s, HEAD "\"t\"}");
	expect_line(s, HEAD "\"p\"}");
	expect_line(s, HEAD "\"g\"}");
#undef HEAD
}

static void counters_have_one_series_named_after_the_unit(void **state)
{
	struct script *s = *state;
	uint32_t plain = script_track(s, UT_TRACK_COUNTER, "dom: n", 1);
	uint32_t heap = script_track(s, UT_TRACK_COUNTER, "dom: heap", 2);
	double half = -0.5;
	struct ut_event e = { .kind = UT_KIND_COUNTER, .track = plain, .val = UINT64_MAX };

	s->trace.tracks[heap].unit = script_str(s, "bytes");
	script_event(s, e);
	e.flags = UT_EV_SIGNED;
	script_event(s, e);
	e.track = heap;
	e.flags = UT_EV_DOUBLE;
	memcpy(&e.val, &half, sizeof(half));
	script_event(s, e);
	script_end(s);
#define HEAD "{\"ph\":\"C\",\"pid\":100,\"tid\":100,\"ts\":0.000,\"name\":"
	expect_line(s, HEAD "\"dom: n\",\"args\":{\"value\":18446744073709551615}}");
	expect_line(s, HEAD "\"dom: n\",\"args\":{\"value\":-1}}");
	expect_line(s, HEAD "\"dom: heap\",\"args\":{\"bytes\":-0.5}}");
#undef HEAD
	expect_not(s, "thread_name");
}

static void counters_of_one_name_share_a_key_of_other_data(void **state)
{
	struct script *s = *state;

	for (uint32_t i = 0; i < 3; i++) {
		uint32_t track = script_track(s, UT_TRACK_COUNTER, i < 2 ? "n" : "m", i);

		s->trace.tracks[track].unit = script_str(s, i ? "bytes" : "count");
	}
	script_end(s);
	assert_non_null(strstr(s->text, "\"counters\":{\"n\":[{\"unit\":\"count\"},{\"unit\":"
					"\"bytes\"}],\"m\":{\"unit\":\"bytes\"}}"));
}

static void async_and_flow_numbers_do_not_meet_those_of_the_next_trace(void **state)
{
	struct script *s = *state;

	for (int i = 0; i < 2; i++) {
		uint32_t track = script_track(s, UT_TRACK_ASYNC, "async", 1);
		struct ut_event e = { .track = track, .name = script_str(s, "io") };

		e.kind = UT_KIND_ASYNC_BEGIN;
		e.val = 7;
		script_event(s, e);
		e.kind = UT_KIND_ASYNC_END;
		script_event(s, e);
		e = (struct ut_event){ .kind = UT_KIND_FLOW_OUT, .val = 3 };
		script_event(s, e);
		e.kind = UT_KIND_FLOW_IN;
		e.name = script_str(s, "is parent of");
		script_event(s, e);
		if (!i)
			script_next_trace(s);
	}
	script_end(s);
	expect_line(s, "{\"ph\":\"b\",\"pid\":100,\"tid\":100,\"ts\":0.000,\"name\":\"io\","
		       "\"cat\":\"async\",\"id2\":{\"local\":\"0x7\"}}");
	expect_line(s, "{\"ph\":\"e\",\"pid\":100,\"tid\":100,\"ts\":0.000,\"name\":\"io\","
		       "\"cat\":\"async\",\"id2\":{\"local\":\"0x7\"}}");
	expect_line(s, "{\"ph\":\"s\",\"pid\":100,\"tid\":101,\"ts\":0.000,\"name\":\"flow\","
		       "\"cat\":\"flow\",\"id\":\"0x3\"}");
	expect_line(s, "{\"ph\":\"f\",\"pid\":100,\"tid\":101,\"ts\":0.000,\"name\":\"flow\","
		       "\"cat\":\"flow\",\"id\":\"0x3\",\"bp\":\"e\","
		       "\"args\":{\"name\":\"is parent of\"}}");
	expect_line(s, "{\"ph\":\"e\",\"pid\":1073741825,\"tid\":1073741825,\"ts\":0.000,"
		       "\"name\":\"io\",\"cat\":\"async\",\"id2\":{\"local\":\"0xf\"}}");
	expect_line(s, "{\"ph\":\"s\",\"pid\":1073741825,\"tid\":101,\"ts\":0.000,"
		       "\"name\":\"flow\",\"cat\":\"flow\",\"id\":\"0xb\"}");
}

static void arguments_keep_type_and_order(void **state)
{
	struct script *s = *state;
	struct ut_trace *t = &s->trace;
	uint32_t at = (uint32_t)t->arg_count;

	ut_trace_add_arg(t, script_str(s, "u"), UT_ARG_U64)->value.u64 = UINT64_MAX;
	ut_trace_add_arg(t, script_str(s, "i"), UT_ARG_I64)->value.i64 = INT64_MIN;
	ut_trace_add_arg(t, script_str(s, "f"), UT_ARG_F64)->value.f64 = 1.5;
	ut_trace_add_arg(t, script_str(s, "s"), UT_ARG_STR)->value.str = script_str(s, "a\"b");
	ut_trace_add_arg(t, script_str(s, "p"), UT_ARG_PTR)->value.u64 = 0xdeadbeef;
	ut_trace_add_arg(t, script_str(s, "b"), UT_ARG_BOOL)->value.u64 = 1;
	ut_trace_close_args(t);
	script_event(s, (struct ut_event){ .args = at, .flags = UT_EV_UNFINISHED });
	script_event(s, (struct ut_event){ .flags = UT_EV_IMPLICIT_END | UT_EV_UNFINISHED });
	script_end(s);
#define HEAD                                                                                       \
	"{\"ph\":\"X\",\"pid\":100,\"tid\":101,\"ts\":0.000,\"dur\":0.000,\"name\":\"\",\"args\":"
	expect_line(s, HEAD "{\"u\":18446744073709551615,\"i\":-9223372036854775808,\"f\":1.5,"
			    "\"s\":\"a\\\"b\",\"p\":\"0xdeadbeef\",\"b\":true,"
			    "\"unfinished\":true}}");
	expect_line(s, HEAD "{\"unfinished\":true,\"implicit_end\":true}}");
}

static void add_element(struct script *s, const char *key, uint64_t value, unsigned int flags)
{
	struct ut_arg *a = ut_trace_add_arg(&s->trace, script_str(s, key), UT_ARG_U64);

	a->value.u64 = value;
	a->flags = (uint8_t)flags;
}

static void arrays_end_where_they_should(void **state)
{
	struct script *s = *state;
	uint32_t at = (uint32_t)s->trace.arg_count;

	add_element(s, "one", 1, UT_ARG_ARRAY);
	add_element(s, "two", 1, UT_ARG_ARRAY | UT_ARG_MORE);
	add_element(s, "two", 2, UT_ARG_ARRAY);
	add_element(s, "plain", 3, 0);
	add_element(s, "broken", 4, UT_ARG_ARRAY | UT_ARG_MORE);
	ut_trace_close_args(&s->trace);
	script_event(s, (struct ut_event){ .args = at });
	script_end(s);
	expect_line(s, HEAD "{\"one\":[1],\"two\":[1,2],\"plain\":3,\"broken\":[4]}}");
#undef HEAD
}

static void hostile_names_stay_inside_their_quotes(void **state)
{
	struct script *s = *state;
	struct ut_strtab *names = &s->trace.strings;

	script_event(s, (struct ut_event){ .name = script_str(s, "\"},{\n\x1b[2J\\") });
	script_event(s,
		     (struct ut_event){ .name = ut_strtab_intern(names, "\xff\0\xed\xa0\x80", 5) });
	script_end(s);
#define HEAD "{\"ph\":\"X\",\"pid\":100,\"tid\":101,\"ts\":0.000,\"dur\":0.000,\"name\":"
	expect_line(s, HEAD "\"\\\"},{\\n\\u001b[2J\\\\\"}");
	expect_line(s, HEAD "\"\xef\xbf\xbd\\u0000\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"}");
#undef HEAD
}

static void names_of_any_length_are_whole_the_second_time_too(void **state)
{
	static const size_t lengths[] = {
		1, 30, 31, 32, 33, 255, 256, 257, 4095, 4096, 4097, 65536
	};
	struct script *s = *state;
	char *name = malloc(65536), *want = malloc(65536 + 256);

	memset(name, 'n', 65536);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		uint32_t id = ut_strtab_intern(&s->trace.strings, name, lengths[i]);

		for (uint64_t ts = 0; ts < 2; ts++)
			script_event(s, (struct ut_event){ .ts = ts, .name = id, .cat = id });
	}
	script_end(s);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		for (int ts = 0; ts < 2; ts++) {
			snprintf(
				want, 65536 + 256,
				"{\"ph\":\"X\",\"pid\":100,\"tid\":101,\"ts\":0.00%d,\"dur\":0.000,"
				"\"name\":\"%.*s\",\"cat\":\"",
				ts, (int)lengths[i], name);
			assert_non_null(strstr(s->text, want));
		}
	}
	free(name);
	free(want);
}

static void lanes_get_tids_that_no_thread_has(void **state)
{
	struct script *s = *state;
	uint32_t lane = script_track(s, UT_TRACK_LANE, "Frames dom", 101);

	script_span(s, lane, "frame", 0, 1);
	s->trace.tracks[lane].sort_index = -5;
	s->trace.tracks[s->thread].name = script_str(s, "main");
	script_end(s);
	expect_line(s, "{\"ph\":\"X\",\"pid\":100,\"tid\":1073741825,\"ts\":0.000,\"dur\":0.001,"
		       "\"name\":\"frame\"}");
	expect_line(s, "{\"ph\":\"M\",\"pid\":100,\"tid\":1073741825,\"name\":\"thread_name\","
		       "\"args\":{\"name\":\"Frames dom\"}}");
	expect_line(s, "{\"ph\":\"M\",\"pid\":100,\"tid\":1073741825,"
		       "\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":-5}}");
	expect_line(s, "{\"ph\":\"M\",\"pid\":100,\"tid\":101,\"name\":\"thread_name\","
		       "\"args\":{\"name\":\"main\"}}");
}

static void processes_are_described(void **state)
{
	struct script *s = *state;
	struct ut_process *p = &s->trace.processes[0];

	p->rank = 3;
	p->sort_index = 4;
	p->host = script_str(s, "node1");
	p->cmdline = script_str(s, "./app \"x\"");
	script_end(s);
#define HEAD "{\"ph\":\"M\",\"pid\":100,\"tid\":100,\"name\":"
	expect_line(s, HEAD "\"process_name\",\"args\":{\"name\":\"RANK 3 app\"}}");
	expect_line(s, HEAD "\"process_labels\",\"args\":{\"labels\":\"node1, ./app \\\"x\\\"\"}}");
	expect_line(s, HEAD "\"process_sort_index\",\"args\":{\"sort_index\":4}}");
#undef HEAD
}

static void other_data_gives_clocks_losses_and_global_arguments(void **state)
{
	struct script *s = *state;
	struct ut_trace *t = &s->trace;

	t->realtime_offset = -5;
	t->boottime_offset = 1700000000000000000;
	t->clock_error = 42;
	t->losses.torn = 2;
	t->losses.ignored = 1;
	t->global_args = (uint32_t)t->arg_count;
	add_element(s, "k", 9, 0);
	ut_trace_close_args(t);
	script_next_trace(s);
	script_end(s);
	assert_non_null(strstr(
		s->text,
		"\"processes\":[\n{\"pid\":100,\"name\":\"app\",\"realtime_offset_ns\":-5,"
		"\"boottime_offset_ns\":1700000000000000000,\"clock_error_ns\":42,"
		"\"losses\":{\"torn\":2,\"ignored\":1},\"args\":{\"k\":9}},\n"
		"{\"pid\":1073741825,\"os_pid\":100,\"name\":\"app\",\"realtime_offset_ns\":0,"
		"\"boottime_offset_ns\":0}]}}\n"));
}

UT_TESTS(chrome)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, make, drop)
	const struct CMUnitTest tests[] = {
		CASE(no_events_are_a_valid_file),
		cmocka_unit_test(not_even_a_trace_is_a_valid_file),
		CASE(spans_are_complete_events_to_the_nanosecond),
		CASE(commas_in_categories_do_not_make_two),
		CASE(instants_say_whom_they_concern),
		CASE(counters_have_one_series_named_after_the_unit),
		CASE(counters_of_one_name_share_a_key_of_other_data),
		CASE(async_and_flow_numbers_do_not_meet_those_of_the_next_trace),
		CASE(arguments_keep_type_and_order),
		CASE(arrays_end_where_they_should),
		CASE(hostile_names_stay_inside_their_quotes),
		CASE(names_of_any_length_are_whole_the_second_time_too),
		CASE(lanes_get_tids_that_no_thread_has),
		CASE(processes_are_described),
		CASE(other_data_gives_clocks_losses_and_global_arguments),
	};
#undef CASE

	return cmocka_run_group_tests_name("export/chrome", tests, NULL, NULL);
}
