/* test_json.c - tests src/base/json.h: the window, values of every kind, what is repaired. */
#include "base/json.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json_digits.h"
#include "base/str.h"
#include "support/unit.h"

/* ---- support ------------------------------------------------------------------------------- */

/* Text that arrives in crumbs. */
struct crumbs {
	const char *text;
	size_t len, at, step;
	int fail; /* negative errno at the end instead of the end */
};

static ssize_t read_crumb(void *ctx, void *to, size_t len, struct ut_err *err)
{
	struct crumbs *c = ctx;
	size_t n = c->len - c->at < c->step ? c->len - c->at : c->step;

	n = n < len ? n : len;
	if (!n && c->fail)
		return ut_err_set(err, c->fail, "x: it broke");
	memcpy(to, c->text + c->at, n);
	c->at += n;
	return (ssize_t)n;
}

/* Is the text one value, up to its end? */
static bool is_value(const char *text, struct ut_json *j)
{
	bool ok;

	ut_json_init_text(j, text, strlen(text));
	ok = ut_json_skip(j, NULL);
	ok = ok && !ut_json_peek(j) && j->trouble == UT_JSON_SHORT;
	ut_json_release(j);
	return ok;
}

static struct ut_str span(const char *text)
{
	return (struct ut_str){ text, strlen(text) };
}

/* ---- values -------------------------------------------------------------------------------- */

static void every_value_is_stepped_over(void **state)
{
	static const char *const good[] = {
		"1",
		"-1",
		"0",
		"-0",
		"1.5",
		"1e5",
		"1E+5",
		"1.25e-3",
		"\"\"",
		"\"a\"",
		"\"\\\"\"",
		"\"\\\\\"",
		"\"\\u00e9\"",
		"true",
		"false",
		"null",
		"[]",
		"{}",
		"[1]",
		"[1,2]",
		" [ 1 , 2 ] ",
		"{\"a\":1}",
		"{\"a\":{\"b\":[1,{}]},\"c\":null}",
		"[[],[[]],{}]",
		"{\"\":\"\"}",
		"\t\r\n 1 \n",
	};
	struct ut_json j;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		if (!is_value(good[i], &j))
			fail_msg("%s: %s", good[i], j.why);
		for (size_t n = 0; n < UT_JSON_REPAIRS; n++)
			assert_int_equal(j.repairs[n].count, 0);
	}
}

static void what_is_no_value_is_refused_with_its_place(void **state)
{
	static const struct {
		const char *text;
		uint64_t where;
		enum ut_json_trouble trouble;
	} bad[] = {
		{ "", 0, UT_JSON_SHORT },        { "[1", 2, UT_JSON_SHORT },
		{ "\"a", 2, UT_JSON_SHORT },     { "\"a\\", 3, UT_JSON_SHORT },
		{ "{\"a\"", 4, UT_JSON_SHORT },  { "{\"a\":", 5, UT_JSON_SHORT },
		{ "[1,", 3, UT_JSON_SHORT },     { "{1:2}", 1, UT_JSON_BAD },
		{ "{\"a\" 1}", 5, UT_JSON_BAD }, { "[1}", 2, UT_JSON_BAD },
		{ "[nothing]", 1, UT_JSON_BAD }, { "[tru]", 1, UT_JSON_BAD },
		{ "[1.2.3]", 1, UT_JSON_BAD },   { "[0x10]", 1, UT_JSON_BAD },
		{ "]", 0, UT_JSON_BAD },         { ":", 0, UT_JSON_BAD },
		{ "'a'", 0, UT_JSON_BAD },
	};
	struct ut_json j;
	struct ut_err err;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		ut_json_init_text(&j, bad[i].text, strlen(bad[i].text));
		if (ut_json_skip(&j, NULL))
			fail_msg("%s was accepted", bad[i].text);
		if (j.trouble != bad[i].trouble || j.where != bad[i].where)
			fail_msg("%s: trouble %d at %d", bad[i].text, j.trouble, (int)j.where);
		err = (struct ut_err){ 0 };
		assert_int_equal(ut_json_error(&j, "F", &err), -EPROTO);
		assert_non_null(strstr(err.text, "F: offset "));
		ut_json_release(&j);
	}
}

static void depth_is_bounded(void **state)
{
	char text[4 * UT_JSON_DEPTH];
	struct ut_json j;

	(void)state;
	memset(text, '[', UT_JSON_DEPTH);
	memset(text + UT_JSON_DEPTH, ']', UT_JSON_DEPTH);
	text[2 * UT_JSON_DEPTH] = 0;
	assert_true(is_value(text, &j));
	memset(text, '[', UT_JSON_DEPTH + 1);
	memset(text + UT_JSON_DEPTH + 1, ']', UT_JSON_DEPTH + 1);
	text[2 * UT_JSON_DEPTH + 2] = 0;
	assert_false(is_value(text, &j));
	assert_string_equal(j.why, "brackets nested too deep");
}

static void what_tools_get_wrong_is_read_and_counted(void **state)
{
	static const struct {
		const char *text;
		enum ut_json_repair kind;
		uint64_t first, count;
	} odd[] = {
		{ "[1,]", UT_JSON_EXTRA_COMMA, 2, 1 },
		{ "[,1,,2,,]", UT_JSON_EXTRA_COMMA, 1, 3 },
		{ "{\"a\":1,}", UT_JSON_EXTRA_COMMA, 6, 1 },
		{ "{,\"a\":1}", UT_JSON_EXTRA_COMMA, 1, 1 },
		{ "[1 2]", UT_JSON_NO_COMMA, 3, 1 },
		{ "[{}{}\"a\"[]]", UT_JSON_NO_COMMA, 3, 3 },
		{ "{\"a\":1 \"b\":2}", UT_JSON_NO_COMMA, 7, 1 },
		{ "[NaN,-Infinity,Infinity,nan,inf,007,.5,5.,+1]", UT_JSON_NUMBER, 1, 9 },
		{ "\"a\nb\"", UT_JSON_CONTROL, 2, 1 },
		{ "\"\\x\\u12\"", UT_JSON_ESCAPE, 1, 2 },
		{ "\"\\ud83d\\ude00\\ud83d\"", UT_JSON_SURROGATE, 13, 1 },
		{ "\"\\udc00\\uD800\\n\\ud800\"", UT_JSON_SURROGATE, 1, 3 },
	};
	struct ut_json j;

	(void)state;
	for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++) {
		if (!is_value(odd[i].text, &j))
			fail_msg("%s: %s", odd[i].text, j.why);
		assert_int_equal(j.repairs[odd[i].kind].first, odd[i].first);
		assert_int_equal(j.repairs[odd[i].kind].count, odd[i].count);
	}
}

/* ---- the window ---------------------------------------------------------------------------- */

static void crumbs_make_no_difference(void **state)
{
	static const char text[] =
		"[{\"a\":\"b\\u00e9\",\"c\":[1.5,2,{}]} , 12345, \"\\\\\\\"\",NaN,"
		"[1,],null]";

	(void)state;
	for (size_t step = 1; step < 20; step++) {
		struct crumbs crumbs = { .text = text, .len = strlen(text), .step = step };
		struct ut_str value;
		uint64_t ends[16];
		size_t n = 0;
		struct ut_json j;
		bool more;

		ut_json_init(&j, read_crumb, &crumbs, 100);
		do
			more = ut_json_peek(&j);
		while (!more && ut_json_again(&j));
		ut_json_enter(&j);
		do {
			ut_json_mark(&j);
			do
				more = ut_json_element(&j) && ut_json_skip(&j, &value);
			while (!more && ut_json_again(&j));
			ends[n++] = ut_json_offset(&j, j.at);
		} while (more);
		assert_int_equal(j.trouble, UT_JSON_NONE);
		assert_int_equal(n, 7);
		assert_int_equal(ends[0], 100 + 31);
		assert_int_equal(ends[1], 100 + 39);
		assert_int_equal(ends[6], 100 + strlen(text));
		assert_int_equal(j.repairs[UT_JSON_NUMBER].count, 1);
		assert_int_equal(j.repairs[UT_JSON_EXTRA_COMMA].count, 1);
		ut_json_release(&j);
	}
}

/* A list of strings of the given sizes, and its length. */
static char *long_list(const size_t *sizes, size_t count, size_t *len)
{
	size_t total = 2;
	char *text, *p;

	for (size_t i = 0; i < count; i++)
		total += sizes[i] + 3;
	p = text = malloc(total + 1);
	*p++ = '[';
	for (size_t i = 0; i < count; i++) {
		*p++ = '"';
		memset(p, 'a' + (char)i, sizes[i]);
		p += sizes[i];
		*p++ = '"';
		*p++ = i + 1 < count ? ',' : ']';
	}
	*len = (size_t)(p - text);
	return text;
}

static void the_window_grows_for_a_long_value_and_keeps_it_in_one_piece(void **state)
{
	static const size_t sizes[] = { 10, 5u << 20, 0, 3u << 20, 1u << 20, 17 };
	struct crumbs crumbs = { .step = 100000 };
	struct ut_str value;
	struct ut_json j;
	char *text = long_list(sizes, 6, &crumbs.len);

	(void)state;
	crumbs.text = text;
	ut_json_init(&j, read_crumb, &crumbs, 0);
	while (!ut_json_peek(&j))
		assert_true(ut_json_again(&j));
	ut_json_enter(&j);
	for (size_t i = 0; i < 6; i++) {
		bool more;

		ut_json_mark(&j);
		do
			more = ut_json_element(&j) && ut_json_skip(&j, &value);
		while (!more && ut_json_again(&j));
		assert_true(more);
		assert_int_equal(value.len, sizes[i] + 2);
		if (sizes[i])
			assert_int_equal(value.ptr[sizes[i]], 'a' + (int)i);
	}
	assert_true(j.cap < 16u << 20);
	ut_json_release(&j);
	free(text);
}

static void a_value_beyond_the_limit_is_refused(void **state)
{
	static const size_t sizes[] = { UT_JSON_MOST + 1000 };
	struct crumbs crumbs = { .step = SIZE_MAX };
	struct ut_json j;
	char *text = long_list(sizes, 1, &crumbs.len);

	(void)state;
	crumbs.text = text;
	ut_json_init(&j, read_crumb, &crumbs, 0);
	assert_false(ut_json_hold(&j, NULL));
	assert_int_equal(j.trouble, UT_JSON_BAD);
	assert_non_null(strstr(j.why, "64 MiB"));
	ut_json_release(&j);
	free(text);
}

static void a_failed_read_is_distinguished_from_the_end(void **state)
{
	struct crumbs crumbs = { .text = "[1,", .len = 3, .step = 1, .fail = -EIO };
	struct ut_err err = { 0 };
	struct ut_json j;

	(void)state;
	ut_json_init(&j, read_crumb, &crumbs, 0);
	assert_false(ut_json_hold(&j, NULL));
	assert_int_equal(j.trouble, UT_JSON_FAILED);
	assert_int_equal(ut_json_error(&j, "F", &err), -EIO);
	assert_string_equal(err.text, "x: it broke");
	ut_json_release(&j);
}

/* ---- strings ------------------------------------------------------------------------------- */

static void strings_are_decoded(void **state)
{
	static const struct {
		const char *raw, *want;
	} cases[] = {
		{ "", "" },
		{ "plain", "plain" },
		{ "\\\"\\\\\\/\\b\\f\\n\\r\\t", "\"\\/\b\f\n\r\t" },
		{ "\\u0041\\u00e9\\u20ac", "A\xc3\xa9\xe2\x82\xac" },
		{ "\\ud83d\\ude00!", "\xf0\x9f\x98\x80!" },
		{ "\\ud83d", "\xef\xbf\xbd" },
		{ "\\ude00x", "\xef\xbf\xbdx" },
		{ "\\ud83d\\u0041", "\xef\xbf\xbd"
				    "A" },
		{ "\\ud83d\\ud83d\\ude00", "\xef\xbf\xbd\xf0\x9f\x98\x80" },
		{ "\\u12", "\\u12" },
		{ "\\uzzzz", "\\uzzzz" },
		{ "\\q", "\\q" },
		{ "end\\", "end\\" },
		{ "raw \x01 and \xff", "raw \x01 and \xff" },
	};
	char out[64];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		size_t n = ut_json_decode(span(cases[i].raw), out);

		assert_int_equal(n, strlen(cases[i].want));
		assert_memory_equal(out, cases[i].want, n);
		assert_int_equal(ut_json_escaped(span(cases[i].raw)), !!strchr(cases[i].raw, '\\'));
	}
	assert_int_equal(ut_json_decode(span("a\\u0000b"), out), 3);
	assert_memory_equal(out, "a\0b", 3);
}

static void values_are_rewritten_as_strict_json(void **state)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ " [ 1 , 2 ] ", "[1,2]" },
		{ "{ \"a\" : [ ] , \"b\" : { } }", "{\"a\":[],\"b\":{}}" },
		{ "[1,,2,]", "[1,2]" },
		{ "[{}{} 3]", "[{},{},3]" },
		{ "[NaN,-Infinity,007,.5,+1]", "[\"NaN\",\"-Infinity\",7,0.5,1]" },
		{ "[true,false,null,1e400,12345678901234567890123]",
		  "[true,false,null,1e400,12345678901234567890123]" },
		{ "\"a\nb\\x\\u00e9\\u0022\\u0007\\/\"", "\"a\\nb\\\\x\xc3\xa9\\\"\\u0007/\"" },
		{ "\"\\ud83d\\ude00\\ud83d\"", "\"\xf0\x9f\x98\x80\xef\xbf\xbd\"" },
	};
	struct ut_str value;
	struct ut_json j;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct ut_buf b = { 0 };

		ut_json_init_text(&j, cases[i].text, strlen(cases[i].text));
		assert_true(ut_json_skip(&j, &value));
		ut_json_minify(value, &b);
		assert_string_equal(b.data, cases[i].want);
		ut_buf_release(&b);
		ut_json_release(&j);
	}
}

/* ---- numbers ------------------------------------------------------------------------------- */

static void numbers_keep_their_type_and_value(void **state)
{
	static const struct {
		const char *text;
		enum ut_json_type type;
		uint64_t u64;
		int64_t i64;
		double f64;
	} cases[] = {
		{ "0", UT_JSON_U64, 0, 0, 0 },
		{ "18446744073709551615", UT_JSON_U64, UINT64_MAX, 0, 18446744073709551615.0 },
		{ "18446744073709551616", UT_JSON_BIG, 0, 0, 18446744073709551616.0 },
		{ "-9223372036854775808", UT_JSON_I64, 0, INT64_MIN, -9223372036854775808.0 },
		{ "-9223372036854775809", UT_JSON_BIG, 0, 0, -9223372036854775809.0 },
		{ "-1", UT_JSON_I64, 0, -1, -1 },
		{ "-0", UT_JSON_F64, 0, 0, -0.0 },
		{ "0.1", UT_JSON_F64, 0, 0, 0.1 },
		{ "1e22", UT_JSON_F64, 0, 0, 1e22 },
		{ "123456789012345678901234567890.5", UT_JSON_F64, 0, 0,
		  123456789012345678901234567890.5 },
		{ "5e-324", UT_JSON_F64, 0, 0, 5e-324 },
		{ "2.2250738585072011e-308", UT_JSON_F64, 0, 0, 2.2250738585072011e-308 },
		{ "9007199254740993.0", UT_JSON_F64, 0, 0, 9007199254740992.0 },
		{ "1e400", UT_JSON_F64, 0, 0, (double)INFINITY },
		{ "Infinity", UT_JSON_F64, 0, 0, (double)INFINITY },
		{ "-inf", UT_JSON_F64, 0, 0, -(double)INFINITY },
		{ "abc", UT_JSON_NOT, 0, 0, 0 },
		{ "", UT_JSON_NOT, 0, 0, 0 },
		{ "1e", UT_JSON_NOT, 0, 0, 0 },
		{ ".", UT_JSON_NOT, 0, 0, 0 },
		{ "1 ", UT_JSON_NOT, 0, 0, 0 },
	};
	struct ut_json_number n;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		if (ut_json_number(span(cases[i].text), &n) != cases[i].type)
			fail_msg("%s has another type", cases[i].text);
		assert_int_equal(n.u64, cases[i].u64);
		assert_int_equal(n.i64, cases[i].i64);
		assert_memory_equal(&n.f64, &cases[i].f64, sizeof(double));
	}
	assert_int_equal(ut_json_number(span("NaN"), &n), UT_JSON_F64);
	assert_true(isnan(n.f64));
}

static void microseconds_become_the_nearest_nanosecond(void **state)
{
	static const struct {
		const char *text;
		int64_t ns;
	} cases[] = {
		{ "0", 0 },
		{ "1", 1000 },
		{ "1.5", 1500 },
		{ "0.0004", 0 },
		{ "0.0005", 1 },
		{ "-0.0005", -1 },
		{ "-0.0004", 0 },
		{ "1794729441490426.750000", 1794729441490426750 },
		{ "1794729441490426.7504999999999999999999", 1794729441490426750 },
		{ "1794729441490426.75050000000000000000000", 1794729441490426751 },
		{ "9223372036854775.807", INT64_MAX },
		{ "-9223372036854775.808", INT64_MIN },
		{ "1.7e9", 1700000000000 },
		{ "1e-3", 1 },
		{ "1e-400", 0 },
		{ "0e400", 0 },
		{ "1234567890123456789e-10", 123456789012 },
	};
	static const char *const bad[] = {
		"9223372036854775.808",    "1e300", "NaN", "", "x", "1e16", "-9223372036854775.809",
		"123456789012345678901234"
	};
	int64_t ns;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_true(ut_json_scaled(span(cases[i].text), 3, &ns));
		if (ns != cases[i].ns)
			fail_msg("%s became %lld", cases[i].text, (long long)ns);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_false(ut_json_scaled(span(bad[i]), 3, &ns));
}

/* A number of a random length and form, ended by a comma; the length without it. */
static size_t random_number(char *text)
{
	size_t n = 0, whole = 1 + (size_t)rand() % 20, part = (size_t)rand() % 12;

	if (rand() % 4 == 0)
		text[n++] = '-';
	for (size_t i = 0; i < whole; i++)
		text[n++] = (char)('0' + rand() % 10);
	if (part)
		text[n++] = '.';
	for (size_t i = 0; i < part; i++)
		text[n++] = (char)('0' + (rand() % 3 ? rand() % 10 : 5));
	memset(text + n, ',', 16); /* they read a little past the end */
	return n;
}

static void the_quick_way_reads_what_the_slow_way_reads(void **state)
{
	int64_t quick_ns, ns;
	uint64_t quick;
	char text[80];
	size_t many = 0;

	(void)state;
	srand(1);
	for (int i = 0; i < 200000; i++) {
		struct ut_str s = { text, random_number(text) };
		struct ut_json_number n;
		const char *end = ut_json_ns(text, &quick_ns);

		if (end) {
			many++;
			assert_ptr_equal(end, text + s.len);
			assert_true(ut_json_scaled(s, 3, &ns));
			if (ns != quick_ns)
				fail_msg("%.*s: %lld, not %lld", (int)s.len, text,
					 (long long)quick_ns, (long long)ns);
		}
		end = ut_json_whole(text, &quick);
		if (end) {
			assert_ptr_equal(end, text + s.len);
			assert_int_equal(ut_json_number(s, &n), UT_JSON_U64);
			assert_int_equal(n.u64, quick);
		}
	}
	assert_true(many > 50000);
}

static void the_quick_way_leaves_what_is_odd_to_the_slow_one(void **state)
{
	static const char *const odd[] = { "",    "-",   "01,",    "1.,",  ".5,",   "1e3,",
					   "+1,", "1x,", "1.5e1,", "1.x,", "\"1\"," };
	int64_t ns;
	char text[64];

	(void)state;
	for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++) {
		snprintf(text, sizeof(text), "%-40s", odd[i]);
		assert_null(ut_json_ns(text, &ns));
	}
}

UT_TESTS(json)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_value_is_stepped_over),
		cmocka_unit_test(what_is_no_value_is_refused_with_its_place),
		cmocka_unit_test(depth_is_bounded),
		cmocka_unit_test(what_tools_get_wrong_is_read_and_counted),
		cmocka_unit_test(crumbs_make_no_difference),
		cmocka_unit_test(the_window_grows_for_a_long_value_and_keeps_it_in_one_piece),
		cmocka_unit_test(a_value_beyond_the_limit_is_refused),
		cmocka_unit_test(a_failed_read_is_distinguished_from_the_end),
		cmocka_unit_test(strings_are_decoded),
		cmocka_unit_test(values_are_rewritten_as_strict_json),
		cmocka_unit_test(numbers_keep_their_type_and_value),
		cmocka_unit_test(microseconds_become_the_nearest_nanosecond),
		cmocka_unit_test(the_quick_way_reads_what_the_slow_way_reads),
		cmocka_unit_test(the_quick_way_leaves_what_is_odd_to_the_slow_one),
	};

	return cmocka_run_group_tests_name("base/json", tests, NULL, NULL);
}
