/* test_report.c - tests src/analysis/ops/report.h, write_report.h: order, what is missing, quotes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "ops/report.h"
#include "ops/write_report.h"
#include "support/unit.h"
#include "text/out.h"

static struct ut_str text(const char *s)
{
	return (struct ut_str){ s, strlen(s) };
}

static uint32_t column(struct ut_ops_report *r, const char *name, uint32_t group, const char *key)
{
	return ut_ops_column(r, &(struct ut_ops_column){
					.name = name, .group = group, .key = key, .missing = "-" });
}

static void check_csv(const struct ut_ops_report *r, const char *want)
{
	struct ut_out *out = ut_out_open_memory();
	const char *got;
	size_t len;

	ut_ops_write_csv(r, out);
	got = ut_out_data(out, &len);
	assert_int_equal(len, strlen(want));
	assert_memory_equal(got, want, len);
	ut_out_abandon(out);
}

static void columns_and_rows_come_in_order(void **state)
{
	struct ut_ops_report r;
	uint32_t late, b, a;

	(void)state;
	ut_ops_report_init(&r);
	late = column(&r, "late", 2, NULL);
	b = column(&r, "b", 1, "b");
	a = column(&r, "a", 1, "a");
	assert_int_equal(column(&r, "b", 9, NULL), b);
	for (int i = 0; i < 2; i++) {
		size_t first = r.cell_count;
		struct ut_ops_row *row;

		ut_ops_put(&r, i ? a : late, text(i ? "x,\"y\"" : "z"));
		ut_ops_put_u64(&r, b, (uint64_t)i);
		row = ut_ops_row_add(&r);
		row->when = -i;
		row->parts[1] = ut_ops_since(&r, first);
	}
	ut_ops_report_order(&r);
	check_csv(&r, "a,b,late\r\n\"x,\"\"y\"\"\",1,-\r\n-,0,z\r\n");
	ut_ops_report_release(&r);
}

static void a_problem_has_the_last_column(void **state)
{
	struct ut_ops_report r;

	(void)state;
	ut_ops_report_init(&r);
	ut_ops_put_problem(&r, "why");
	ut_ops_row_add(&r)->parts[0] = ut_ops_since(&r, 0);
	column(&r, "a", 100, NULL);
	ut_ops_report_order(&r);
	check_csv(&r, "a,PROBLEM\r\n-,why\r\n");
	assert_int_equal(r.problems, 1);
	ut_ops_report_release(&r);
}

static void columns_have_an_end(void **state)
{
	struct ut_ops_report r;
	char name[16];

	(void)state;
	ut_ops_report_init(&r);
	for (uint32_t i = 0; i < UT_OPS_MOST_COLUMNS + 10; i++) {
		snprintf(name, sizeof(name), "c%u", i);
		column(&r, name, 0, NULL);
	}
	assert_int_equal(r.column_count, UT_OPS_MOST_COLUMNS);
	assert_int_equal(column(&r, "c0", 0, NULL), 1);
	assert_int_equal(column(&r, name, 0, NULL), UT_OPS_NO_COLUMN);
	ut_ops_put(&r, UT_OPS_NO_COLUMN, text("nowhere"));
	assert_int_equal(r.cell_count, 0);
	ut_ops_put_problem(&r, "still told");
	assert_int_equal(r.cell_count, 1);
	ut_ops_report_release(&r);
}

static void later_parts_win(void **state)
{
	struct ut_ops_report r;
	struct ut_ops_row *row;
	uint32_t a;

	(void)state;
	ut_ops_report_init(&r);
	a = column(&r, "a", 0, NULL);
	ut_ops_put(&r, a, text("shared"));
	ut_ops_put(&r, a, text("own"));
	row = ut_ops_row_add(&r);
	row->parts[0] = (struct ut_ops_range){ 0, 1 };
	row->parts[2] = (struct ut_ops_range){ 1, 1 };
	ut_ops_report_order(&r);
	check_csv(&r, "a\r\nown\r\n");
	ut_ops_report_release(&r);
}

UT_TESTS(report)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_and_rows_come_in_order),
		cmocka_unit_test(a_problem_has_the_last_column),
		cmocka_unit_test(columns_have_an_end),
		cmocka_unit_test(later_parts_win),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
