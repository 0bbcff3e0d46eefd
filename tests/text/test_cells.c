/* test_cells.c - tests src/text/cells.h: names and times for people, the fields of CSV files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "text/cells.h"
#include "text/out.h"

typedef void put_fn(struct ut_out *o, const char *s, size_t len);

static void expect(put_fn *put, const char *s, size_t len, const char *wanted)
{
	struct ut_out *o = ut_out_open_memory();
	size_t size;
	const char *data;

	put(o, s, len);
	data = ut_out_data(o, &size);
	assert_int_equal(size, strlen(wanted));
	assert_memory_equal(data, wanted, size);
	ut_out_abandon(o);
}

static void put_bytes(struct ut_out *o, const char *s, size_t len)
{
	ut_cell_csv_bytes(o, s, len, false);
}

static void put_guarded(struct ut_out *o, const char *s, size_t len)
{
	ut_cell_csv_bytes(o, s, len, true);
}

static void quotes_only_where_they_are_needed(void **state)
{
	(void)state;
	expect(ut_cell_csv_field, "plain text", 10, "plain text");
	expect(ut_cell_csv_field, "", 0, "");
	expect(ut_cell_csv_field, "a,b", 3, "\"a,b\"");
	expect(ut_cell_csv_field, "say \"x\"", 7, "\"say \"\"x\"\"\"");
	expect(ut_cell_csv_field, "\"", 1, "\"\"\"\"");
	expect(ut_cell_csv_field, "a\nb\r", 4, "\"a\nb\r\"");
	expect(ut_cell_csv, "plain", 5, "\"plain\"");
	expect(ut_cell_csv, "", 0, "\"\"");
	assert_true(ut_cell_csv_plain("a b;c'", 6));
	assert_false(ut_cell_csv_plain("a\r", 2));
}

static void what_no_reader_likes_is_replaced(void **state)
{
	(void)state;
	expect(ut_cell_csv_field, "a\0b", 3,
	       "\"a\xef\xbf\xbd"
	       "b\"");
	expect(ut_cell_csv_field, "\xff", 1, "\xef\xbf\xbd");
	expect(ut_cell_csv, "\xc3\xa4\xff,", 4, "\"\xc3\xa4\xef\xbf\xbd,\"");
}

static void bytes_stay_as_they_are(void **state)
{
	(void)state;
	expect(put_bytes, "\xff\"", 2, "\"\xff\"\"\"");
	expect(put_guarded, "=1+1", 4, "\"'=1+1\"");
}

static void formulas_are_guarded_when_asked_for(void **state)
{
	(void)state;
	expect(ut_cell_csv_field, "=cmd()", 6, "=cmd()");
	ut_cell_csv_set_safe(true);
	expect(ut_cell_csv_field, "=cmd()", 6, "\"'=cmd()\"");
	expect(ut_cell_csv, "@x", 2, "\"'@x\"");
	expect(ut_cell_csv_field, "-1.5e3", 6, "-1.5e3");
	expect(ut_cell_csv_field, "a=b", 3, "a=b");
	ut_cell_csv_set_safe(false);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quotes_only_where_they_are_needed),
		cmocka_unit_test(what_no_reader_likes_is_replaced),
		cmocka_unit_test(bytes_stay_as_they_are),
		cmocka_unit_test(formulas_are_guarded_when_asked_for),
		cmocka_unit_test(times_have_four_digits),
		cmocka_unit_test(names_cannot_harm_the_terminal),
	};

	return cmocka_run_group_tests_name("cells", tests, NULL, NULL);
}
