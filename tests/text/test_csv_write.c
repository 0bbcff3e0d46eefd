/* test_csv_write.c - tests src/trace/text/csv_write.h: quotes, bad bytes, formulas. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/unit.h"
#include "text/csv_write.h"
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
	ut_csv_put_bytes(o, s, len, false);
}

static void put_guarded(struct ut_out *o, const char *s, size_t len)
{
	ut_csv_put_bytes(o, s, len, true);
}

static void quotes_only_where_they_are_needed(void **state)
{
	(void)state;
	expect(ut_csv_put_field, "plain text", 10, "plain text");
	expect(ut_csv_put_field, "", 0, "");
	expect(ut_csv_put_field, "a,b", 3, "\"a,b\"");
	expect(ut_csv_put_field, "say \"x\"", 7, "\"say \"\"x\"\"\"");
	expect(ut_csv_put_field, "\"", 1, "\"\"\"\"");
	expect(ut_csv_put_field, "a\nb\r", 4, "\"a\nb\r\"");
	expect(ut_csv_put_quoted, "plain", 5, "\"plain\"");
	expect(ut_csv_put_quoted, "", 0, "\"\"");
	assert_true(ut_csv_plain("a b;c'", 6));
	assert_false(ut_csv_plain("a\r", 2));
}

static void what_no_reader_likes_is_replaced(void **state)
{
	(void)state;
	expect(ut_csv_put_field, "a\0b", 3,
	       "\"a\xef\xbf\xbd"
	       "b\"");
	expect(ut_csv_put_field, "\xff", 1, "\xef\xbf\xbd");
	expect(ut_csv_put_quoted, "\xc3\xa4\xff,", 4, "\"\xc3\xa4\xef\xbf\xbd,\"");
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
	expect(ut_csv_put_field, "=cmd()", 6, "=cmd()");
	ut_csv_set_safe(true);
	expect(ut_csv_put_field, "=cmd()", 6, "\"'=cmd()\"");
	expect(ut_csv_put_quoted, "@x", 2, "\"'@x\"");
	expect(ut_csv_put_field, "-1.5e3", 6, "-1.5e3");
	expect(ut_csv_put_field, "a=b", 3, "a=b");
	ut_csv_set_safe(false);
}

UT_TESTS(csv_write)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quotes_only_where_they_are_needed),
		cmocka_unit_test(what_no_reader_likes_is_replaced),
		cmocka_unit_test(bytes_stay_as_they_are),
		cmocka_unit_test(formulas_are_guarded_when_asked_for),
	};

	return cmocka_run_group_tests_name("csv_write", tests, NULL, NULL);
}
