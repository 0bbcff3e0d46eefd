/* test_out_json.c - tests the JSON of src/trace/text/out.h: valid for any bytes, exact for any
 * double. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/utf8.h"
#include "support/unit.h"
#include "text/out.h"

#define BAD UT_UTF8_BAD

static void expect_len(const char *s, size_t len, const char *want)
{
	struct ut_out *o = ut_out_open_memory();
	size_t got;

	ut_out_json_str(o, s, len);
	ut_out_write(o, "", 1);
	assert_string_equal(ut_out_data(o, &got), want);
	assert_int_equal(got, strlen(want) + 1);
	ut_out_abandon(o);
}

static void expect(const char *s, const char *want)
{
	expect_len(s, strlen(s), want);
}

static void plain_text_is_itself(void **state)
{
	(void)state;
	expect("", "\"\"");
	expect("gemm", "\"gemm\"");
	expect("a name of more than sixteen bytes, /slashes/ and \x7f",
	       "\"a name of more than sixteen bytes, /slashes/ and \x7f\"");
}

static void quotes_and_controls_are_escaped_wherever_they_lie(void **state)
{
	(void)state;
	expect("\"\\\b\f\n\r\t", "\"\\\"\\\\\\b\\f\\n\\r\\t\"");
	expect("\x01\x1f", "\"\\u0001\\u001f\"");
	expect_len("a\0b", 3, "\"a\\u0000b\"");
	for (size_t at = 0; at < 40; at++) {
		char text[41], want[64];

		memset(text, 'x', 40);
		text[40] = '\0';
		text[at] = '"';
		snprintf(want, sizeof(want), "\"%.*s\\\"%s\"", (int)at, text, text + at + 1);
		expect(text, want);
	}
}

static void good_utf8_is_kept(void **state)
{
	static const char *const good[] = {
		"\xc2\x80",         "\xdf\xbf",         "\xe0\xa0\x80",
		"\xed\x9f\xbf",     "\xee\x80\x80",     "\xef\xbf\xbf",
		"\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf", "caf\xc3\xa9 \xe2\x82\xac",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		char want[32];

		snprintf(want, sizeof(want), "\"%s\"", good[i]);
		expect(good[i], want);
		assert_true(ut_utf8_valid(good[i], strlen(good[i])));
	}
}

/* One replacement per longest start of a character: what Python's decoder does. */
static void bad_utf8_is_replaced(void **state)
{
	static const char *const cases[][2] = {
		{ "\x80", "\"" BAD "\"" },
		{ "\xff\xfe", "\"" BAD BAD "\"" },
		{ "\xc0\x80", "\"" BAD BAD "\"" }, /* overlong NUL */
		{ "\xc1\xbf", "\"" BAD BAD "\"" },
		{ "\xe0\x80\xaf", "\"" BAD BAD BAD "\"" }, /* overlong slash */
		{ "\xe0\x9f\xbf", "\"" BAD BAD BAD "\"" },
		{ "\xf0\x8f\xbf\xbf", "\"" BAD BAD BAD BAD "\"" },
		{ "\xed\xa0\x80", "\"" BAD BAD BAD "\"" },         /* a surrogate */
		{ "\xf4\x90\x80\x80", "\"" BAD BAD BAD BAD "\"" }, /* past U+10FFFF */
		{ "\xf5\x80\x80\x80", "\"" BAD BAD BAD BAD "\"" },
		{ "\xe2\x82", "\"" BAD "\"" }, /* cut at the end */
		{ "\xe2\x82x", "\"" BAD "x\"" },
		{ "\xf0\x9f\x98", "\"" BAD "\"" },
		{ "\xe2\xe2\x82\xac", "\"" BAD "\xe2\x82\xac\"" },
		{ "\xc3\"", "\"" BAD "\\\"\"" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		expect(cases[i][0], cases[i][1]);
		assert_false(ut_utf8_valid(cases[i][0], strlen(cases[i][0])));
	}
}

static void a_character_across_two_chunks_stays_whole(void **state)
{
	char text[4096 + 8], want[4096 + 16];

	(void)state;
	for (size_t before = 4090; before <= 4097; before++) {
		memset(text, 'x', before);
		memcpy(text + before, "\xf0\x9f\x98\x80!", 6);
		snprintf(want, sizeof(want), "\"%s\"", text);
		expect(text, want);
	}
}

static void huge_strings_of_the_worst_bytes_fit(void **state)
{
	struct ut_out *o = ut_out_open_memory();
	size_t n = 1 << 20, len;
	char *text = calloc(1, n);
	const char *got;

	(void)state;
	ut_out_json_str(o, text, n);
	got = ut_out_data(o, &len);
	assert_int_equal(len, n * 6 + 2);
	assert_memory_equal(got + len - 7, "\\u0000\"", 7);
	ut_out_abandon(o);
	free(text);
}

static void expect_double(double value, const char *want)
{
	struct ut_out *o = ut_out_open_memory();
	size_t len;

	ut_out_json_double(o, value);
	ut_out_write(o, "", 1);
	assert_string_equal(ut_out_data(o, &len), want);
	ut_out_abandon(o);
}

static void doubles_are_short_and_exact(void **state)
{
	(void)state;
	expect_double(0, "0");
	expect_double(-0.0, "-0");
	expect_double(1, "1");
	expect_double(-2.5, "-2.5");
	expect_double(0.1, "0.1");
	expect_double(1e-6, "0.000001");
	expect_double(1234567.000001, "1234567.000001");
	expect_double(4503599627.370495, "4503599627.370495");
	expect_double(1e22, "1e+22");
	expect_double(1.0 / 3, "0.3333333333333333");
	expect_double(DBL_MAX, "1.7976931348623157e+308");
	expect_double(DBL_MIN, "2.2250738585072014e-308");
	expect_double(5e-324, "4.94065645841247e-324");
}

static void what_json_cannot_say_is_a_string(void **state)
{
	(void)state;
	expect_double(NAN, "\"NaN\"");
	expect_double(INFINITY, "\"Infinity\"");
	expect_double(-INFINITY, "\"-Infinity\"");
}

static void every_double_reads_back_as_itself(void **state)
{
	uint64_t v = 88172645463325252ull;

	(void)state;
	for (int i = 0; i < 100000; i++) {
		struct ut_out *o;
		double value;
		size_t len;

		v ^= v << 13;
		v ^= v >> 7;
		v ^= v << 17;
		memcpy(&value, &v, sizeof(value));
		if (i & 1)
			value = (double)(int64_t)(v >> 20) / 1000.0;
		if (isnan(value) || isinf(value))
			continue;
		if (i % 100)
			continue; /* a new out per value is slow; a thousand will do */
		o = ut_out_open_memory();
		ut_out_json_double(o, value);
		ut_out_write(o, "", 1);
		assert_true(strtod(ut_out_data(o, &len), NULL) == value);
		ut_out_abandon(o);
	}
}

UT_TESTS(out_json)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_text_is_itself),
		cmocka_unit_test(quotes_and_controls_are_escaped_wherever_they_lie),
		cmocka_unit_test(good_utf8_is_kept),
		cmocka_unit_test(bad_utf8_is_replaced),
		cmocka_unit_test(a_character_across_two_chunks_stays_whole),
		cmocka_unit_test(huge_strings_of_the_worst_bytes_fit),
		cmocka_unit_test(doubles_are_short_and_exact),
		cmocka_unit_test(what_json_cannot_say_is_a_string),
		cmocka_unit_test(every_double_reads_back_as_itself),
	};

	return cmocka_run_group_tests_name("text/out_json", tests, NULL, NULL);
}
