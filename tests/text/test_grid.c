/* test_grid.c - tests src/text/grid.h and cells.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "text/cells.h"
#include "text/grid.h"
#include "text/out.h"

static void assert_prints(struct ut_grid *g, const char *want)
{
	struct ut_out *o = ut_out_open_memory();
	const char *data;
	size_t len;

	ut_grid_print(g, o);
	data = ut_out_data(o, &len);
	assert_int_equal(len, strlen(want));
	assert_memory_equal(data, want, len);
	ut_out_abandon(o);
	ut_grid_release(g);
}

static void columns_are_as_wide_as_their_widest_cell(void **state)
{
	struct ut_grid g = { 0 };

	(void)state;
	ut_grid_column(&g, "Name", UT_GRID_LEFT);
	ut_grid_column(&g, "N", UT_GRID_RIGHT);
	ut_grid_column(&g, "Time", UT_GRID_RIGHT);
	ut_grid_text(&g, "a");
	ut_grid_count(&g, 12345);
	ut_grid_time(&g, 1234567);
	ut_grid_text(&g, "longer");
	ut_grid_count(&g, 7);
	ut_grid_time(&g, 5);
	assert_prints(&g, "Name        N      Time\n"
			  "a       12345  1.235 ms\n"
			  "longer      7      5 ns\n");
}

static void lines_do_not_end_in_blanks(void **state)
{
	struct ut_grid g = { 0 };

	(void)state;
	ut_grid_column(&g, "A", UT_GRID_LEFT);
	ut_grid_column(&g, "B", UT_GRID_LEFT);
	ut_grid_text(&g, "x");
	ut_grid_text(&g, "");
	ut_grid_text(&g, "");
	ut_grid_text(&g, "yy");
	assert_prints(&g, "A  B\nx\n   yy\n");
}

static void a_row_that_is_not_complete_is_not_printed(void **state)
{
	struct ut_grid g = { 0 };

	(void)state;
	ut_grid_column(&g, "A", UT_GRID_LEFT);
	ut_grid_column(&g, "B", UT_GRID_LEFT);
	ut_grid_text(&g, "x");
	assert_prints(&g, "A  B\n");
}

static void names_cannot_harm_the_terminal(void **state)
{
	struct ut_grid g = { 0 };

	(void)state;
	ut_grid_column(&g, "A", UT_GRID_LEFT);
	ut_grid_name(&g, "a\x1b[2J\n\xff", 7, 20);
	ut_grid_name(&g, "0123456789abcdef", 16, 8);
	ut_grid_name(&g, "\xc3\xa4\xc3\xb6\xc3\xbc", 6, 8);
	assert_prints(&g, "A\na?[2J?\xef\xbf\xbd\n0123\xe2\x80\xa6"
			  "def\n\xc3\xa4\xc3\xb6\xc3\xbc\n");
}

static void one_long_name_does_not_move_the_others_away(void **state)
{
	struct ut_grid g = { 0 };
	char name[2001], want[4000];

	(void)state;
	memset(name, 'x', 2000);
	name[2000] = '\0';
	ut_grid_column(&g, "Name", UT_GRID_LEFT);
	ut_grid_column(&g, "N", UT_GRID_RIGHT);
	ut_grid_text(&g, name);
	ut_grid_count(&g, 1);
	ut_grid_text(&g, "a");
	ut_grid_count(&g, 2);
	snprintf(want, sizeof(want), "%-*s  N\n%s  1\n%-*s  2\n", UT_CELL_PAD, "Name", name,
		 UT_CELL_PAD, "a");
	assert_prints(&g, want);
}

static void times_have_four_digits(void **state)
{
	char buf[UT_CELL_TIME];

	(void)state;
	assert_string_equal(ut_cell_time(buf, 0), "0 ns");
	assert_string_equal(ut_cell_time(buf, 999), "999 ns");
	assert_string_equal(ut_cell_time(buf, 1000), "1.000 us");
	assert_string_equal(ut_cell_time(buf, 999949), "999.9 us");
	assert_string_equal(ut_cell_time(buf, 999950), "1.000 ms");
	assert_string_equal(ut_cell_time(buf, UINT64_C(12345678901)), "12.35 s");
	assert_string_equal(ut_cell_time(buf, UINT64_MAX), "18446744074 s");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_are_as_wide_as_their_widest_cell),
		cmocka_unit_test(lines_do_not_end_in_blanks),
		cmocka_unit_test(a_row_that_is_not_complete_is_not_printed),
		cmocka_unit_test(names_cannot_harm_the_terminal),
		cmocka_unit_test(one_long_name_does_not_move_the_others_away),
		cmocka_unit_test(times_have_four_digits),
	};

	return cmocka_run_group_tests_name("text/grid", tests, NULL, NULL);
}
