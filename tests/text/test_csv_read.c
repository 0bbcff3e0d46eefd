/* test_csv_read.c - tests src/trace/text/csv_read.h: records, quotes, numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/arena.h"
#include "support/unit.h"
#include "text/csv_read.h"

static void check(const struct ut_csv *c, size_t field, const char *want)
{
	struct ut_str got = ut_csv_field(c, field);

	assert_int_equal(got.len, strlen(want));
	assert_memory_equal(got.ptr, want, got.len);
}

static void quotes_hold_separators_and_lines(void **state)
{
	char text[] = "a;b\r\n`x;``y`\n`z\nw`;2\r\n\n`open";
	struct ut_csv c = { .separator = ';', .quote = '`' };
	struct ut_arena a = { 0 };

	(void)state;
	ut_csv_open_text(&c, &a, text, strlen(text));
	assert_int_equal(ut_csv_find(&c, "b"), 1);
	assert_int_equal(ut_csv_find(&c, "c"), UT_CSV_NO_FIELD);
	assert_true(ut_csv_next(&c));
	check(&c, 0, "x;`y");
	check(&c, 1, "");
	check(&c, UT_CSV_NO_FIELD, "");
	assert_true(ut_csv_next(&c));
	check(&c, 0, "z\nw");
	check(&c, 1, "2");
	assert_int_equal(c.line, 3);
	assert_true(ut_csv_next(&c));
	check(&c, 0, "open");
	assert_int_equal(c.line, 6);
	assert_false(ut_csv_next(&c));
	ut_csv_close(&c);
	ut_arena_release(&a);
}

static void blanks_around_fields_go_if_asked(void **state)
{
	char text[] = "Name, Start \nx,  7\t\n";
	struct ut_csv c = { .separator = ',', .trim = true };
	struct ut_arena a = { 0 };

	(void)state;
	ut_csv_open_text(&c, &a, text, strlen(text));
	assert_int_equal(ut_csv_find(&c, "Start"), 1);
	assert_true(ut_csv_next(&c));
	check(&c, 1, "7");
	ut_csv_close(&c);
	ut_arena_release(&a);
}

static void numbers_are_whole_and_fit(void **state)
{
	static const struct {
		const char *text;
		bool ok;
		uint64_t value;
	} cases[] = {
		{ "0", true, 0 },
		{ "18446744073709551615", true, UINT64_MAX },
		{ "18446744073709551616", false, 0 },
		{ "", false, 0 },
		{ "-1", false, 0 },
		{ "1.5", false, 0 },
		{ "7 ", false, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct ut_str text = { cases[i].text, strlen(cases[i].text) };
		uint64_t value;

		assert_int_equal(ut_csv_number(text, &value), cases[i].ok);
		if (cases[i].ok)
			assert_true(value == cases[i].value);
	}
}

static void line_without_end_is_refused(void **state)
{
	struct ut_csv c = { .separator = ',' };
	struct ut_arena a = { 0 };
	struct ut_err err = { 0 };

	(void)state;
	assert_true(ut_csv_open(&c, &a, "/dev/zero", &err) < 0);
	assert_non_null(strstr(err.text, "/dev/zero: offset 0: a line of over 16 MiB"));
	ut_arena_release(&a);
}

UT_TESTS(csv_read)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quotes_hold_separators_and_lines),
		cmocka_unit_test(blanks_around_fields_go_if_asked),
		cmocka_unit_test(numbers_are_whole_and_fit),
		cmocka_unit_test(line_without_end_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
