/* test_python_lines.c - tests src/record/symbol/python_lines.h on tables that CPython has made. */
#include "symbol/python_lines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/unit.h"

/* def f(x):\n    y = x + 1\n    z = [\n        y,\n        x]\n    return z */
static const uint8_t lines_39[] = { 0, 1, 8, 2, 2, 1, 2, 254, 4, 3 };

static void version_39_counts_bytes_and_lines(void **state)
{
	(void)state;
	assert_int_equal(ut_python_line(0x0309, lines_39, sizeof(lines_39), 1, 0), 2);
	assert_int_equal(ut_python_line(0x0309, lines_39, sizeof(lines_39), 1, 8), 4);
	assert_int_equal(ut_python_line(0x0309, lines_39, sizeof(lines_39), 1, 10), 5);
	assert_int_equal(ut_python_line(0x0309, lines_39, sizeof(lines_39), 1, 12), 3);
	assert_int_equal(ut_python_line(0x0309, lines_39, sizeof(lines_39), 1, 99), 6);
}

static void version_310_says_where_a_line_ends(void **state)
{
	const uint8_t table[] = { 8, 1, 2, 2, 2, 1, 4, 254, 2, 128, 4, 3 };

	(void)state;
	assert_int_equal(ut_python_line(0x030a, table, sizeof(table), 1, 0), 2);
	assert_int_equal(ut_python_line(0x030a, table, sizeof(table), 1, 8), 4);
	assert_int_equal(ut_python_line(0x030a, table, sizeof(table), 1, 10), 5);
	assert_int_equal(ut_python_line(0x030a, table, sizeof(table), 1, 12), 3);
	assert_int_equal(ut_python_line(0x030a, table, sizeof(table), 1, 16), 3);
	assert_int_equal(ut_python_line(0x030a, table, sizeof(table), 1, 18), 6);
}

static void version_311_has_entries(void **state)
{
	/* one instruction, no line; four, one line further; two, 70 lines further; one, 3 back */
	const uint8_t table[] = { 0xf8, 0xdb, 4, 9, 0xe9, 0x4c, 0x02, 1, 1, 1, 0xe8, 7, 1, 1, 1 };

	(void)state;
	assert_int_equal(ut_python_line(0x030b, table, sizeof(table), 10, 0), 10);
	assert_int_equal(ut_python_line(0x030b, table, sizeof(table), 10, 2), 11);
	assert_int_equal(ut_python_line(0x030d, table, sizeof(table), 10, 8), 11);
	assert_int_equal(ut_python_line(0x030d, table, sizeof(table), 10, 10), 81);
	assert_int_equal(ut_python_line(0x030d, table, sizeof(table), 10, 14), 78);
}

static void any_bytes_are_safe(void **state)
{
	uint8_t table[64];

	(void)state;
	srand(7);
	for (int i = 0; i < 20000; i++) {
		size_t len = (size_t)rand() % sizeof(table);

		for (size_t k = 0; k < len; k++)
			table[k] = (uint8_t)rand();
		(void)ut_python_line(0x0309u + (uint32_t)(i % 5), table, len, 1, (uint64_t)rand());
	}
}

UT_TESTS(python_lines)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(version_39_counts_bytes_and_lines),
		cmocka_unit_test(version_310_says_where_a_line_ends),
		cmocka_unit_test(version_311_has_entries),
		cmocka_unit_test(any_bytes_are_safe),
	};

	return cmocka_run_group_tests_name("symbol/python_lines", tests, NULL, NULL);
}
