/* test_tally.c - tests src/analysis/category/tally.h: tables of reports, processes, categories. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "category/schema.h"
#include "category/tally.h"
#include "category/tally_table.h"
#include "support/unit.h"
#include "text/out.h"

#define TITLES "Calls,  Time (ns),  Time (%),  Average (ns),  Min (ns),  Max (ns)\n"

static const char report[] =
	"=== API Timing Summary ===\n\n  Total Execution Time (ns):  999\n\n== L0 Backend ==\n\n"
	"  Function,  " TITLES "  zeInit,  7,  70,  100.0,  10,  10,  10\n\n\n"
	"=== Device Timing Summary ===\n\n"
	"   Total Execution Time (ns):   1000\n"
	"   Total Device Time for L0 backend (ns):   600\n\n"
	"== L0 Backend ==\n\n"
	"   Kernel,  " TITLES
	"   \"gemm<float, \"\"x\"\">(int, int)\",  4,  500,  83.3,  125,  1,  200\n"
	"   copy,  1,  100,  16.7,  100,  100,  100\n"
	"   not a row\n\n"
	"=== Kernel Properties ===\n\n   Kernel,  Compiled, SIMD\n  \"gemm\",  JIT,  32\n\n"
	"************\n*  Process ID : 5 | Rank ID : 0\n************\n"
	"   Function,  " TITLES "   oneCCL::allreduce,  3,  30,  100.0,  10,  10,  10\n\n"
	"************\n*  Process ID : 5 | Rank ID : 0\n************\n"
	"   Function,  " TITLES "   oneCCL::allreduce,  3,  30,  100.0,  10,  10,  10\n";

static const struct ut_tally_name *find(const struct ut_tally *t, const char *name)
{
	for (size_t i = 0; i < t->count; i++) {
		if (ut_str_is(t->names[i].name, name))
			return &t->names[i];
	}
	fail_msg("%s is not there", name);
	return NULL;
}

static void reports_are_read_without_what_hosts_did(void **state)
{
	struct ut_tally t = { 0 };
	const struct ut_tally_name *n;

	(void)state;
	assert_true(ut_tally_report(&t, ut_str_of(report)));
	assert_int_equal(t.count, 5);
	n = find(&t, "gemm<float, \"x\">(int, int)");
	assert_int_equal(n->count, 1);
	assert_int_equal(n->values[0].time, 500);
	assert_int_equal(n->values[0].calls, 4);
	assert_int_equal(find(&t, "Wallclock")->values[0].time, 1000);
	assert_int_equal(find(&t, "L0_backend")->values[0].time, 600);
	assert_int_equal(t.odd_lines, 1);
	ut_tally_release(&t);
}

static void collectives_that_were_printed_twice_count_once(void **state)
{
	struct ut_tally t = { 0 };

	(void)state;
	assert_true(ut_tally_report(&t, ut_str_of(report)));
	assert_int_equal(find(&t, "oneCCL::allreduce")->count, 1);
	assert_int_equal(find(&t, "oneCCL::allreduce")->part, UT_TALLY_COMM);
	ut_tally_release(&t);
}

static void a_text_without_tables_says_so(void **state)
{
	struct ut_tally t = { 0 };

	(void)state;
	assert_false(
		ut_tally_report(&t, ut_str_of("hello\n\nCalls, but no Time (ns), Max (ns)\n")));
	assert_false(ut_tally_report(&t, ut_str_of("")));
	assert_int_equal(t.count, 0);
	ut_tally_release(&t);
}

static void is_amount(struct ut_amount got, bool whole, double value)
{
	assert_int_equal(got.whole, whole);
	assert_true(got.real == value);
	if (whole)
		assert_true((double)got.number == value);
}

static void processes_are_aggregated_as_asked(void **state)
{
	const struct ut_tally_name name = { .name = ut_str_of("k") };
	static const uint64_t times[] = { 40, 10, 25, 30 };
	struct ut_tally t = { 0 };
	const struct ut_tally_name *n;

	(void)state;
	for (size_t i = 0; i < 4; i++)
		ut_tally_add(&t, &name, (struct ut_tally_value){ times[i], i });
	n = find(&t, "k");
	is_amount(ut_tally_time(n, UT_AGGREGATE_MEAN), false, 26.25);
	is_amount(ut_tally_time(n, UT_AGGREGATE_SUM), false, 105);
	is_amount(ut_tally_time(n, UT_AGGREGATE_MIN), true, 10);
	is_amount(ut_tally_time(n, UT_AGGREGATE_MAX), true, 40);
	is_amount(ut_tally_time(n, UT_AGGREGATE_MEDIAN), false, 27.5);
	is_amount(ut_tally_time(n, UT_AGGREGATE_MIN_1), true, 25);
	is_amount(ut_tally_time(n, UT_AGGREGATE_MAX_1), true, 30);
	is_amount(ut_tally_calls(n, UT_AGGREGATE_MEAN), false, 1.5);
	ut_tally_release(&t);
}

static void of_two_the_second_is_between_them(void **state)
{
	const struct ut_tally_name name = { .name = ut_str_of("k") };
	struct ut_tally t = { 0 };

	(void)state;
	ut_tally_add(&t, &name, (struct ut_tally_value){ 5, 1 });
	is_amount(ut_tally_time(find(&t, "k"), UT_AGGREGATE_MIN_1), true, 5);
	is_amount(ut_tally_time(find(&t, "k"), UT_AGGREGATE_MEDIAN), true, 5);
	ut_tally_add(&t, &name, (struct ut_tally_value){ UINT64_MAX, 1 });
	assert_true(ut_tally_time(find(&t, "k"), UT_AGGREGATE_MAX_1).number ==
		    (UINT64_MAX - 5) / 2 + 5);
	ut_tally_release(&t);
}

static void categories_add_up_and_the_rest_is_distinguished(void **state)
{
	struct ut_schema s = { .ignore_spaces = true };
	struct ut_out *out = ut_out_open_memory();
	struct ut_tally t = { 0 };
	struct ut_tally_line *lines;
	struct ut_err err = { 0 };
	const char *text;
	size_t count, len;

	(void)state;
	assert_int_equal(ut_schema_read_ini(&s, "t", ut_str_of("[matmul if starts with]\ngemm\n"),
					    NULL, &err),
			 0);
	ut_tally_report(&t, ut_str_of(report));
	ut_tally_report(&t, ut_str_of(report));
	lines = ut_tally_lines(&t, &s, UT_AGGREGATE_MEAN, false, &count);
	ut_tally_json(out, lines, count);
	text = ut_out_data(out, &len);
	assert_int_equal(len, strlen("{\n  \"matmul_time\": 500.0,\n  \"matmul_calls\": 4.0,\n"
				     "  \"device_time\": 100.0,\n  \"device_calls\": 1.0,\n"
				     "  \"comm_time\": 30.0,\n  \"comm_calls\": 3.0\n}"));
	assert_memory_equal(text,
			    "{\n  \"matmul_time\": 500.0,\n  \"matmul_calls\": 4.0,\n"
			    "  \"device_time\": 100.0,\n  \"device_calls\": 1.0,\n"
			    "  \"comm_time\": 30.0,\n  \"comm_calls\": 3.0\n}",
			    len);
	ut_out_abandon(out);
	ut_tally_release(&t);
	ut_schema_release(&s);
}

UT_TESTS(tally)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reports_are_read_without_what_hosts_did),
		cmocka_unit_test(collectives_that_were_printed_twice_count_once),
		cmocka_unit_test(a_text_without_tables_says_so),
		cmocka_unit_test(processes_are_aggregated_as_asked),
		cmocka_unit_test(of_two_the_second_is_between_them),
		cmocka_unit_test(categories_add_up_and_the_rest_is_distinguished),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
