/* test_cells.c - tests src/trace/text/cells.h: names and times for people. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/unit.h"
#include "text/cells.h"

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

static void assert_name(const char *name, size_t len, size_t max, const char *want, size_t columns)
{
	struct ut_buf b = { 0 };

	assert_int_equal(ut_cell_name(&b, name, len, max), columns);
	assert_string_equal(b.data, want);
	ut_buf_release(&b);
}

static void names_cannot_harm_the_terminal(void **state)
{
	(void)state;
	assert_name("a\x1b[2J\n\xff", 7, 20, "a?[2J?\xef\xbf\xbd", 7);
	assert_name("0123456789abcdef", 16, 8,
		    "0123\xe2\x80\xa6"
		    "def",
		    8);
	assert_name("\xc3\xa4\xc3\xb6\xc3\xbc", 6, 8, "\xc3\xa4\xc3\xb6\xc3\xbc", 3);
	assert_name("", 0, 8, "", 0);
}

UT_TESTS(cells)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_have_four_digits),
		cmocka_unit_test(names_cannot_harm_the_terminal),
	};

	return cmocka_run_group_tests_name("cells", tests, NULL, NULL);
}
