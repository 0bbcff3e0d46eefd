/* test_table.c - tests src/analysis/report/table.h: what people and scripts read. */
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
#include "report/compat_ccl.h"
#include "report/table.h"
#include "support/unit.h"
#include "text/out.h"

struct fixture {
	struct ut_summary s;
	struct ut_trace t;
	struct ut_out *out;
	uint64_t now;
};

static int make(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	ut_summary_init(&f->s);
	ut_trace_init(&f->t);
	ut_trace_add_process(&f->t, 1);
	ut_trace_add_track(&f->t, 0, UT_TRACK_THREAD);
	f->out = ut_out_open_memory();
	*state = f;
	return 0;
}

static int drop(void **state)
{
	struct fixture *f = *state;

	ut_out_abandon(f->out);
	ut_summary_release(&f->s);
	ut_trace_release(&f->t);
	free(f);
	return 0;
}

static void span_len(struct fixture *f, const char *cat, const char *name, size_t len,
		     uint64_t length)
{
	struct ut_event e = { .ts = f->now, .val = length };

	e.name = ut_strtab_intern(&f->t.strings, name, len);
	e.cat = ut_strtab_intern_z(&f->t.strings, cat);
	f->now += length;
	ut_sink_event(&f->s.sink, &f->t, &e);
}

static void span(struct fixture *f, const char *cat, const char *name, uint64_t length)
{
	span_len(f, cat, name, strlen(name), length);
}

static const char *text(struct fixture *f)
{
	size_t len;

	ut_out_write(f->out, "", 1);
	return ut_out_data(f->out, &len);
}

static void nothing_is_said_in_one_line(void **state)
{
	struct fixture *f = *state;

	ut_summary_finish(&f->s);
	ut_table_text(f->out, &f->s, 0);
	assert_string_equal(text(f), "no tasks\n");
}

static void people_get_columns_and_four_digits(void **state)
{
	struct fixture *f = *state;

	span(f, "dnnl", "gemm", 1234567);
	span(f, "dnnl", "gemm", 1000);
	span(f, "", "copy", 999);
	ut_summary_finish(&f->s);
	ut_table_text(f->out, &f->s, 0);
	assert_string_equal(text(f), "Task  Domain  Calls      Total       Self    Average        "
				     "Min        Max   Share\n"
				     "gemm  dnnl        2   1.236 ms   1.236 ms   617.8 us   1.000 "
				     "us   1.235 ms   99.9%\n"
				     "copy              1     999 ns     999 ns     999 ns     999 "
				     "ns     999 ns    0.1%\n");
}

static void the_domain_column_is_left_out_when_nobody_has_one(void **state)
{
	struct fixture *f = *state;

	span(f, NULL, "a", 999949);
	span(f, NULL, "b", 999950);
	ut_summary_finish(&f->s);
	ut_table_text(f->out, &f->s, 1);
	assert_string_equal(
		text(f),
		"Task  Calls      Total       Self    Average        Min        Max   Share\n"
		"b         1   1.000 ms   1.000 ms   1.000 ms   1.000 ms   1.000 ms   50.0%\n"
		"... and 1 more, 50.0% of the time\n");
}

static void long_times_stay_readable(void **state)
{
	struct fixture *f = *state;

	span(f, NULL, "a", 12345678901234);
	span(f, NULL, "b", 99994999);
	ut_summary_finish(&f->s);
	ut_table_text(f->out, &f->s, 0);
	assert_non_null(strstr(text(f), "  12346 s"));
	assert_non_null(strstr(text(f), " 99.99 ms"));
}

static void wide_names_lose_their_middle_only_in_text(void **state)
{
	struct fixture *f = *state;
	static char name[1001];

	memset(name, 'a', 500);
	memset(name + 500, 'z', 500);
	span(f, NULL, name, 1);
	ut_summary_finish(&f->s);
	ut_table_text(f->out, &f->s, 0);
	ut_table_csv(f->out, &f->s);
	assert_non_null(strstr(text(f), "\naaaaaaaaaaaaaaaaaaaaaaaa\xe2\x80\xa6"
					"zzzzzzzzzzzzzzzzzzzzzzz      1  "));
	assert_non_null(strstr(text(f), name));
}

static void names_cannot_drive_the_terminal(void **state)
{
	struct fixture *f = *state;

	span_len(f, NULL, "\x1b[2J\n\x7f\0\xc2\x9b\xff\xc3\xa9", 12, 1);
	ut_summary_finish(&f->s);
	ut_table_text(f->out, &f->s, 0);
	assert_non_null(strstr(text(f), "\n?[2J????\xef\xbf\xbd\xc3\xa9  "));
}

static void csv_is_quoted_and_whole(void **state)
{
	struct fixture *f = *state;

	span_len(f, "d,1", "say \"hi\"\n\0\xff", 11, 7);
	span(f, NULL, "x", 3);
	ut_summary_finish(&f->s);
	ut_table_csv(f->out, &f->s);
	assert_string_equal(
		text(f),
		"task,domain,calls,total_ns,self_ns,average_ns,min_ns,max_ns,share\n"
		"\"say \"\"hi\"\"\n\xef\xbf\xbd\xef\xbf\xbd\",\"d,1\",1,7,7,7,7,7,70.0000\n"
		"\"x\",\"\",1,3,3,3,3,3,30.0000\n");
}

static void json_is_valid_for_any_name(void **state)
{
	struct fixture *f = *state;

	span(f, "d", "a\"\xff", 7);
	ut_summary_finish(&f->s);
	ut_table_json(f->out, &f->s);
	assert_string_equal(text(f), "{\"self_total_ns\":7,\"tasks\":[\n"
				     "{\"task\":\"a\\\"\xef\xbf\xbd\",\"domain\":\"d\",\"calls\":1,"
				     "\"total_ns\":7,\"self_ns\":7,\"average_ns\":7,\"min_ns\":7,"
				     "\"max_ns\":7,\"share\":100.0000}\n]}\n");
}

static void json_of_nothing_is_an_empty_list(void **state)
{
	struct fixture *f = *state;

	ut_summary_finish(&f->s);
	ut_table_json(f->out, &f->s);
	assert_string_equal(text(f), "{\"self_total_ns\":0,\"tasks\":[\n]}\n");
}

/* As seen from the original. */
static void ccl_has_the_columns_that_scripts_know(void **state)
{
	struct fixture *f = *state;

	span(f, "oneCCL", "allreduce", 1096435);
	span(f, "oneCCL", "allreduce", 3363546);
	span(f, "oneCCL", "allreduce", 2602878);
	span(f, "oneCCL", "ALLREDUCE_SMALL", 7000727);
	ut_summary_finish(&f->s);
	ut_compat_ccl(f->out, &f->s, 20955, 2);
	assert_string_equal(
		text(f),
		"************************************************************\n"
		"*  Process ID : 20955 | Rank ID : 2\n"
		"************************************************************\n"
		"               Function,        Calls,            Time (ns),     Time (%),"
		"         Average (ns),             Min (ns),             Max (ns)\n"
		"      oneCCL::allreduce,            3,              7062859,    50.220897,"
		"              2354286,              1096435,              3363546\n"
		"oneCCL::ALLREDUCE_SMALL,            1,              7000727,    49.779103,"
		"              7000727,              7000727,              7000727\n\n");
}

static void ccl_names_cannot_drive_the_terminal(void **state)
{
	struct fixture *f = *state;

	span(f, "oneCCL", "a\x1b[2J", 5);
	ut_summary_finish(&f->s);
	ut_compat_ccl(f->out, &f->s, 1, -1);
	assert_non_null(strstr(text(f), "*  Process ID : 1\n"));
	assert_non_null(strstr(text(f), "\noneCCL::a?[2J,  "));
}

static void ccl_says_nothing_without_such_a_task(void **state)
{
	struct fixture *f = *state;

	ut_summary_finish(&f->s);
	ut_compat_ccl(f->out, &f->s, 1, -1);
	assert_string_equal(text(f), "");
}

UT_TESTS(table)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, make, drop)
	const struct CMUnitTest tests[] = {
		CASE(nothing_is_said_in_one_line),
		CASE(people_get_columns_and_four_digits),
		CASE(the_domain_column_is_left_out_when_nobody_has_one),
		CASE(long_times_stay_readable),
		CASE(wide_names_lose_their_middle_only_in_text),
		CASE(names_cannot_drive_the_terminal),
		CASE(csv_is_quoted_and_whole),
		CASE(json_is_valid_for_any_name),
		CASE(json_of_nothing_is_an_empty_list),
		CASE(ccl_has_the_columns_that_scripts_know),
		CASE(ccl_names_cannot_drive_the_terminal),
		CASE(ccl_says_nothing_without_such_a_task),
	};
#undef CASE

	return cmocka_run_group_tests_name("report/table", tests, NULL, NULL);
}
