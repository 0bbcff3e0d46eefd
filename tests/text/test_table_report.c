/* test_table_report.c - tests src/trace/text/table_report.h: every printer, with cells of every
 * type. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "support/unit.h"
#include "text/cells.h"
#include "text/csv_write.h"
#include "text/out.h"
#include "text/table_report.h"

#define TABLE(list)                                                                                \
	{                                                                                          \
		.columns = (list), .count = sizeof(list) / sizeof((list)[0])                       \
	}

static const struct ut_report_column all_columns[] = {
	{ .key = "name", .title = "Name", .type = UT_REPORT_TEXT, .most = 12 },
	{ .key = "how", .title = "How", .type = UT_REPORT_WORD },
	{ .key = "calls", .title = "Calls", .type = UT_REPORT_COUNT },
	{ .key = "total", .title = "Total", .unit = "ns", .type = UT_REPORT_TIME, .rest = true },
	{ .key = "size", .title = "Size", .unit = "bytes", .type = UT_REPORT_BYTES },
	{ .key = "mean", .title = "Mean", .type = UT_REPORT_NUMBER },
	{ .key = "share", .title = "Share", .unit = "%", .type = UT_REPORT_SHARE },
};
static const struct ut_report_table all = TABLE(all_columns);

struct report {
	struct ut_out *out;
	struct ut_report *r;
};

static struct report begin_with(struct ut_report_opts opts, const struct ut_report_table *table)
{
	struct report x = { .out = ut_out_open_memory() };
	struct ut_err err = { 0 };

	x.r = ut_report_open(x.out, &opts);
	assert_int_equal(ut_report_begin(x.r, table, &err), 0);
	return x;
}

static struct report begin(enum ut_report_format format, const struct ut_report_table *table)
{
	return begin_with((struct ut_report_opts){ .format = format, .width = UT_REPORT_WIDTH_OWN },
			  table);
}

static void add(struct report *x, const char *name, uint64_t calls, uint64_t total)
{
	ut_report_add(x->r,
		      (const struct ut_report_cell[]){ ut_report_text(name), ut_report_text("fast"),
						       ut_report_u64(calls), ut_report_u64(total),
						       ut_report_u64(3 << 19), ut_report_real(0.1),
						       ut_report_real(12.34567) });
}

static void add_nothing(struct report *x)
{
	ut_report_add(x->r, (const struct ut_report_cell[]){
				    ut_report_said(ut_report_text(""), "-"), ut_report_none(),
				    ut_report_none(), ut_report_said(ut_report_u64(7), "-"),
				    ut_report_none(), ut_report_none(), ut_report_none() });
}

static void drop(struct report *x)
{
	ut_report_close(x->r);
	ut_out_abandon(x->out);
}

static void assert_end(struct report x, const char *want)
{
	const char *data;
	size_t len;

	ut_report_end(x.r);
	ut_out_write(x.out, "", 1);
	data = ut_out_data(x.out, &len);
	assert_string_equal(data, want);
	drop(&x);
}

/* ---- printers ------------------------------------------------------------------------------ */

static void people_get_units_and_columns(void **state)
{
	struct report x = begin(UT_REPORT_TABLE, &all);

	(void)state;
	add(&x, "a", 12345, 1234567);
	add_nothing(&x);
	assert_end(x, "Name  How   Calls     Total      Size  Mean  Share\n"
		      "a     fast  12345  1.235 ms  1.50 MiB   0.1  12.3%\n"
		      "-                         -\n");
}

static void programs_get_numbers_and_units_in_keys(void **state)
{
	struct report x = begin(UT_REPORT_CSV, &all);

	(void)state;
	add(&x, "say \"hi\",\n", 1, 1234567);
	add_nothing(&x);
	assert_end(x, "name,how,calls,total_ns,size_bytes,mean,share\n"
		      "\"say \"\"hi\"\",\n\",fast,1,1234567,1572864,0.1,12.3457\n"
		      "\"\",,,7,,,\n");
}

static void tabs_are_escaped(void **state)
{
	struct report x = begin(UT_REPORT_TSV, &all);

	(void)state;
	add(&x, "a\tb\\\n", 1, 2);
	assert_end(x, "name\thow\tcalls\ttotal_ns\tsize_bytes\tmean\tshare\n"
		      "a\\tb\\\\\\n\tfast\t1\t2\t1572864\t0.1\t12.3457\n");
}

static void json_is_valid_for_any_name(void **state)
{
	struct report x = begin(UT_REPORT_JSON, &all);

	(void)state;
	add(&x, "a\"\xff", 1, 2);
	add_nothing(&x);
	assert_end(x,
		   "[{\"name\":\"a\\\"\xef\xbf\xbd\",\"how\":\"fast\",\"calls\":1,\"total_ns\":2,"
		   "\"size_bytes\":1572864,\"mean\":0.1,\"share\":12.3457},\n"
		   "{\"name\":\"\",\"how\":null,\"calls\":null,\"total_ns\":7,"
		   "\"size_bytes\":null,\"mean\":null,\"share\":null}]\n");
}

static void json_lines_are_objects(void **state)
{
	static const struct ut_report_column columns[] = { { .key = "n",
							     .type = UT_REPORT_COUNT } };
	static const struct ut_report_table table = TABLE(columns);
	struct report x = begin(UT_REPORT_JSONL, &table);

	(void)state;
	for (uint64_t i = 0; i < 2; i++)
		ut_report_add(x.r, (const struct ut_report_cell[]){ ut_report_u64(i) });
	assert_end(x, "{\"n\":0}\n{\"n\":1}\n");
}

static void pages_learn_what_columns_are(void **state)
{
	static const struct ut_report_column columns[] = {
		{ .key = "name", .title = "Name", .type = UT_REPORT_TEXT },
		{ .key = "total", .title = "Total", .unit = "ns", .type = UT_REPORT_TIME },
		{ .key = "of",
		  .title = "People's",
		  .type = UT_REPORT_WORD,
		  .readers = UT_FOR_PEOPLE },
		{ .key = "p", .group = "before", .type = UT_REPORT_NUMBER },
	};
	static const struct ut_report_table table = TABLE(columns);
	struct report x = begin(UT_REPORT_PAGE, &table);

	(void)state;
	ut_report_add(x.r, (const struct ut_report_cell[]){ ut_report_text("</script>"),
							    ut_report_u64(5), ut_report_text("x"),
							    ut_report_real(0.5) });
	ut_report_add(x.r,
		      (const struct ut_report_cell[]){ ut_report_none(), ut_report_i64(-5),
						       ut_report_text("x"), ut_report_real(NAN) });
	assert_end(x, "{\"columns\":[{\"key\":\"name\",\"title\":\"Name\",\"unit\":null,\"type\":"
		      "\"text\"},\n"
		      "{\"key\":\"total\",\"title\":\"Total\",\"unit\":\"ns\",\"type\":\"time\"},\n"
		      "{\"key\":\"p\",\"group\":\"before\",\"title\":\"p\",\"unit\":null,\"type\":"
		      "\"number\"}],\n\"rows\":[\n"
		      "[\"</script>\",5,0.5],\n[null,-5,\"NaN\"]]}\n");
}

static void nothing_is_an_empty_table(void **state)
{
	(void)state;
	assert_end(begin(UT_REPORT_JSON, &all), "[]\n");
	assert_end(begin(UT_REPORT_JSONL, &all), "");
	assert_end(begin(UT_REPORT_CSV, &all), "name,how,calls,total_ns,size_bytes,mean,share\n");
	assert_end(begin(UT_REPORT_TABLE, &all), "Name  How  Calls  Total  Size  Mean  Share\n");
}

/* ---- cells --------------------------------------------------------------------------------- */

static const struct ut_report_column any_columns[] = { { .key = "a" },
						       { .key = "b,c" },
						       { .key = "a" } };
static const struct ut_report_table any = { .columns = any_columns, .count = 3, .ruled = true };

static void add_any(struct report *x)
{
	ut_report_add(x->r, (const struct ut_report_cell[]){
				    ut_report_i64(INT64_MIN),
				    ut_report_text("x\ty\x1b[2J\n"),
				    { .type = UT_CELL_BLOB, .text = { "\0\xff", 2 } } });
	ut_report_add(x->r,
		      (const struct ut_report_cell[]){ ut_report_real(1e300),
						       ut_report_text(""),
						       { .type = UT_CELL_BIG, .big = { 1, 0 } } });
	ut_report_add(x->r, (const struct ut_report_cell[]){ ut_report_none(),
							     ut_report_real(-INFINITY),
							     { .type = UT_CELL_BOOL, .u64 = 1 } });
}

static void what_is_not_ours_keeps_its_types(void **state)
{
	struct report x = begin(UT_REPORT_TABLE, &any);

	(void)state;
	add_any(&x);
	assert_end(x, "                   a  b,c         a\n"
		      "--------------------  ----------  --------------------\n"
		      "-9223372036854775808  x\\ty?[2J\\n  x'00ff'\n"
		      "              1e+300              18446744073709551616\n"
		      "                NULL  -Inf        true\n");
	x = begin(UT_REPORT_CSV, &any);
	add_any(&x);
	assert_end(x, "a,\"b,c\",a\n"
		      "-9223372036854775808,\"x\ty\x1b[2J\n\",x'00ff'\n"
		      "1e+300,\"\",18446744073709551616\n"
		      ",-Inf,true\n");
	x = begin(UT_REPORT_JSONL, &any);
	add_any(&x);
	assert_end(x, "{\"a\":-9223372036854775808,\"b,c\":\"x\\ty\\u001b[2J\\n\",\"a_2\":"
		      "\"x'00ff'\"}\n"
		      "{\"a\":1e+300,\"b,c\":\"\",\"a_2\":18446744073709551616}\n"
		      "{\"a\":null,\"b,c\":\"-Infinity\",\"a_2\":true}\n");
}

static void formulas_are_guarded_on_request(void **state)
{
	struct report x;

	(void)state;
	ut_csv_set_safe(true);
	x = begin(UT_REPORT_CSV, &any);
	ut_report_add(x.r,
		      (const struct ut_report_cell[]){ ut_report_text("=cmd()"),
						       ut_report_text("-5"), ut_report_i64(-5) });
	assert_end(x, "a,\"b,c\",a\n\"'=cmd()\",-5,-5\n");
	ut_csv_set_safe(false);
}

static void groups_are_objects_and_columns_may_be_missing(void **state)
{
	static const struct ut_report_column columns[] = {
		{ .key = "name", .type = UT_REPORT_TEXT },
		{ .key = "n", .group = "before", .type = UT_REPORT_COUNT },
		{ .key = "t", .unit = "ns", .group = "before", .type = UT_REPORT_TIME },
		{ .key = "n", .group = "after", .type = UT_REPORT_COUNT },
		{ .key = "why", .type = UT_REPORT_WORD, .optional = true },
		{ .key = "more", .type = UT_REPORT_TEXT, .readers = UT_FOR_JSON },
	};
	static const struct ut_report_table table = TABLE(columns);
	const struct ut_report_cell rows[2][6] = {
		{ ut_report_text("a"),
		  ut_report_u64(1),
		  ut_report_u64(2),
		  ut_report_none(),
		  ut_report_none(),
		  { .type = UT_CELL_JSON, .text = { "[1,2]", 5 } } },
		{ ut_report_text("b"), ut_report_none(), ut_report_none(), ut_report_u64(3),
		  ut_report_text("new"), ut_report_none() },
	};
	struct report x = begin(UT_REPORT_JSON, &table);

	(void)state;
	ut_report_add(x.r, rows[0]);
	ut_report_add(x.r, rows[1]);
	assert_end(x,
		   "[{\"name\":\"a\",\"before\":{\"n\":1,\"t_ns\":2},\"after\":null,\"more\":"
		   "[1,2]},\n"
		   "{\"name\":\"b\",\"before\":null,\"after\":{\"n\":3},\"why\":\"new\",\"more\":"
		   "null}]\n");
	x = begin(UT_REPORT_CSV, &table);
	ut_report_add(x.r, rows[0]);
	ut_report_add(x.r, rows[1]);
	assert_end(x, "name,before_n,before_t_ns,after_n,why\n\"a\",1,2,,\n\"b\",,,3,new\n");
}

/* ---- widths -------------------------------------------------------------------------------- */

static const struct ut_report_column two_columns[] = {
	{ .key = "name", .title = "Name", .type = UT_REPORT_TEXT },
	{ .key = "n", .title = "N", .type = UT_REPORT_COUNT },
};
static const struct ut_report_table two = TABLE(two_columns);

static void add_two(struct report *x, const char *name, uint64_t n)
{
	ut_report_add(x->r,
		      (const struct ut_report_cell[]){ ut_report_text(name), ut_report_u64(n) });
}

static void one_long_name_does_not_move_the_others_away(void **state)
{
	char name[2001], want[4500];
	struct report x = begin(UT_REPORT_TABLE, &two);

	(void)state;
	memset(name, 'k', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	add_two(&x, name, 1);
	add_two(&x, "a", 2);
	snprintf(want, sizeof(want), "%-*s  N\n%s  1\n%-*s  2\n", UT_CELL_PAD, "Name", name,
		 UT_CELL_PAD, "a");
	assert_end(x, want);
}

static void a_column_says_how_wide_it_gets(void **state)
{
	struct report x = begin(UT_REPORT_TABLE, &all);
	struct ut_report_opts opts = { .width = 6 };

	(void)state;
	add(&x, "0123456789abcdef", 1, 1);
	assert_end(x, "Name          How   Calls  Total      Size  Mean  Share\n"
		      "012345\xe2\x80\xa6"
		      "bcdef  fast      1   1 ns  1.50 MiB   0.1  12.3%\n");
	x = begin_with(opts, &all);
	add(&x, "0123456789abcdef", 1, 1);
	assert_end(x, "Name    How   Calls  Total      Size  Mean  Share\n"
		      "012\xe2\x80\xa6"
		      "ef  fast      1   1 ns  1.50 MiB   0.1  12.3%\n");
	opts.width = 0;
	x = begin_with(opts, &all);
	add(&x, "0123456789abcdef", 1, 1);
	assert_end(x, "Name              How   Calls  Total      Size  Mean  Share\n"
		      "0123456789abcdef  fast      1   1 ns  1.50 MiB   0.1  12.3%\n");
}

static void names_are_cut_where_lines_would_not_fit_the_terminal(void **state)
{
	const struct ut_report_opts opts = { .width = UT_REPORT_WIDTH_OWN, .screen = 32 };
	struct report x = begin_with(opts, &two);

	(void)state;
	add_two(&x, "0123456789012345678901234567890123456789", 1);
	add_two(&x, "short", 123);
	assert_end(x, "Name                           N\n"
		      "0123456789012\xe2\x80\xa6"
		      "7890123456789    1\n"
		      "short                        123\n");
	/* lines are broken anyway: names stay as they are */
	x = begin_with((struct ut_report_opts){ .width = UT_REPORT_WIDTH_OWN, .screen = 26 }, &two);
	add_two(&x, "0123456789012345678901234567890123456789", 1);
	assert_end(x, "Name                                      N\n"
		      "0123456789012345678901234567890123456789  1\n");
}

static void columns_without_anything_may_go(void **state)
{
	static const struct ut_report_column columns[] = {
		{ .key = "a", .title = "A", .type = UT_REPORT_TEXT },
		{ .key = "b", .title = "B", .type = UT_REPORT_TEXT, .if_any = true },
		{ .key = "c", .title = "C", .type = UT_REPORT_COUNT, .least = 5 },
	};
	static const struct ut_report_table table = TABLE(columns);
	struct report x = begin(UT_REPORT_TABLE, &table);

	(void)state;
	ut_report_add(x.r, (const struct ut_report_cell[]){ ut_report_text("x"), ut_report_text(""),
							    ut_report_u64(1) });
	assert_end(x, "A      C\nx      1\n");
}

static void names_cannot_harm_the_terminal(void **state)
{
	struct report x = begin(UT_REPORT_TABLE, &two);

	(void)state;
	add_two(&x, "a\x1b[2J\r\x7f\xc2\x9b\xff\xc3\xa9", 1);
	assert_end(x, "Name        N\na?[2J???\xef\xbf\xbd\xc3\xa9  1\n");
}

static void colour_is_in_the_titles_only(void **state)
{
	struct report x = begin_with((struct ut_report_opts){ .colour = true }, &two);

	(void)state;
	add_two(&x, "a", 1);
	assert_end(x, "\x1b[1mName  N\x1b[0m\na     1\n");
	x = begin_with((struct ut_report_opts){ .colour = true, .format = UT_REPORT_CSV }, &two);
	add_two(&x, "a", 1);
	assert_end(x, "name,n\n\"a\",1\n");
}

/* ---- order and limits ---------------------------------------------------------------------- */

static void assert_sorted(const char *sort, uint64_t limit, const char *want)
{
	struct report x = begin_with(
		(struct ut_report_opts){ .sort = sort, .limit = limit, .format = UT_REPORT_CSV },
		&two);

	add_two(&x, "b", 5);
	add_two(&x, "a", 7);
	add_two(&x, "c", 5);
	ut_report_add(x.r,
		      (const struct ut_report_cell[]){ ut_report_text("d"), ut_report_none() });
	assert_end(x, want);
}

static void rows_are_ordered_once_for_all(void **state)
{
	(void)state;
	assert_sorted(NULL, 0, "name,n\n\"b\",5\n\"a\",7\n\"c\",5\n\"d\",\n");
	assert_sorted("n", 0, "name,n\n\"a\",7\n\"b\",5\n\"c\",5\n\"d\",\n");
	assert_sorted("n:asc", 0, "name,n\n\"b\",5\n\"c\",5\n\"a\",7\n\"d\",\n");
	assert_sorted("name", 0, "name,n\n\"a\",7\n\"b\",5\n\"c\",5\n\"d\",\n");
	assert_sorted("name:desc", 2, "name,n\n\"d\",\n\"c\",5\n");
}

static void a_column_that_is_not_there_is_reported(void **state)
{
	struct ut_err err = { 0 };

	(void)state;
	assert_int_equal(ut_report_check_sort(&all, "total", &err), 0);
	assert_int_equal(ut_report_check_sort(&all, "total_ns", &err), 0);
	assert_int_equal(ut_report_check_sort(&all, NULL, &err), 0);
	assert_int_equal(ut_report_check_sort(&all, "tot", &err), -22);
	assert_string_equal(err.text, "--sort does not know 'tot'; it takes name how calls total "
				      "size mean share");
	err = (struct ut_err){ 0 };
	assert_int_equal(ut_report_check_sort(&all, "total:up", &err), -22);
	assert_non_null(strstr(err.text, ":asc or :desc"));
}

static void what_a_limit_leaves_out_is_counted(void **state)
{
	struct report x = begin_with((struct ut_report_opts){ .limit = 1, .sort = "total" }, &all);
	long double rest = 0;

	(void)state;
	add(&x, "a", 1, 1);
	add(&x, "b", 1, 10);
	add(&x, "c", 1, 100);
	ut_report_end(x.r);
	assert_int_equal(ut_report_left(x.r, &rest), 2);
	assert_true(rest == 11);
	drop(&x);
}

static void count_row(void *ctx, const struct ut_report_cell *cells)
{
	struct ut_buf *names = ctx;

	ut_buf_add(names, cells[0].text.ptr, cells[0].text.len);
}

static void rows_can_go_to_a_function(void **state)
{
	struct ut_buf names = { 0 };
	struct report x = begin_with((struct ut_report_opts){ .format = UT_REPORT_CALL,
							      .sort = "n:asc",
							      .limit = 2,
							      .row = count_row,
							      .ctx = &names },
				     &two);

	(void)state;
	add_two(&x, "c", 3);
	add_two(&x, "a", 1);
	add_two(&x, "b", 2);
	assert_end(x, "");
	assert_string_equal(names.data, "ab");
	ut_buf_release(&names);
}

/* ---- millions of rows ---------------------------------------------------------------------- */

static long most_kib(void)
{
	struct rusage use;

	getrusage(RUSAGE_SELF, &use);
	return use.ru_maxrss;
}

static void push_many(enum ut_report_format format, const struct ut_report_table *table)
{
	struct ut_report_opts opts = { .format = format };
	struct ut_out *out = ut_out_open("/dev/null", UT_OUT_OVERWRITE);
	struct ut_report *r = ut_report_open(out, &opts);
	struct ut_err err = { 0 };

	assert_int_equal(ut_report_begin(r, table, &err), 0);
	for (uint64_t i = 0; i < 1000000; i++) {
		char name[64];

		snprintf(name, sizeof(name), "a name that is different in each row %06llu",
			 (unsigned long long)(i % 1000000));
		ut_report_add(r, (const struct ut_report_cell[]){ ut_report_text(name),
								  ut_report_u64(i) });
	}
	ut_report_end(r);
	ut_report_close(r);
	assert_int_equal(ut_out_commit(out, &err), 0);
}

static void memory_does_not_grow_with_rows(void **state)
{
	static const struct ut_report_column columns[] = { { .key = "a" }, { .key = "b" } };
	static const struct ut_report_table ruled = { .columns = columns,
						      .count = 2,
						      .ruled = true };
	long before = most_kib();

	(void)state;
	for (int format = 0; format < UT_REPORT_FORMATS; format++) {
		push_many((enum ut_report_format)format, &ruled);
		push_many((enum ut_report_format)format, &two);
	}
	/* a million rows are over 50 MB as text */
	assert_true(most_kib() - before < 32 * 1024);
}

UT_TESTS(table_report)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(people_get_units_and_columns),
		cmocka_unit_test(programs_get_numbers_and_units_in_keys),
		cmocka_unit_test(tabs_are_escaped),
		cmocka_unit_test(json_is_valid_for_any_name),
		cmocka_unit_test(json_lines_are_objects),
		cmocka_unit_test(pages_learn_what_columns_are),
		cmocka_unit_test(nothing_is_an_empty_table),
		cmocka_unit_test(what_is_not_ours_keeps_its_types),
		cmocka_unit_test(formulas_are_guarded_on_request),
		cmocka_unit_test(groups_are_objects_and_columns_may_be_missing),
		cmocka_unit_test(one_long_name_does_not_move_the_others_away),
		cmocka_unit_test(a_column_says_how_wide_it_gets),
		cmocka_unit_test(names_are_cut_where_lines_would_not_fit_the_terminal),
		cmocka_unit_test(columns_without_anything_may_go),
		cmocka_unit_test(names_cannot_harm_the_terminal),
		cmocka_unit_test(colour_is_in_the_titles_only),
		cmocka_unit_test(rows_are_ordered_once_for_all),
		cmocka_unit_test(a_column_that_is_not_there_is_reported),
		cmocka_unit_test(what_a_limit_leaves_out_is_counted),
		cmocka_unit_test(rows_can_go_to_a_function),
		cmocka_unit_test(memory_does_not_grow_with_rows),
	};

	return cmocka_run_group_tests_name("text/table_report", tests, NULL, NULL);
}
