/* test_arg_json.c - tests src/trace/text/arg_json.h: one spelling of arguments, in memory and in a
 * file.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/str.h"
#include "export/args_json.h"
#include "model/trace.h"
#include "support/unit.h"
#include "text/arg_json.h"
#include "text/out.h"

static struct ut_arg *add(struct ut_trace *t, const char *key, enum ut_arg_type type)
{
	return ut_trace_add_arg(t, ut_strtab_intern(&t->strings, key, strlen(key)), type);
}

static void add_text(struct ut_trace *t, const char *key, enum ut_arg_type type, const char *s)
{
	uint32_t id = ut_strtab_intern(&t->strings, s, strlen(s));

	add(t, key, type)->value.str = id;
}

/* What both ways write. */
static void expect(const struct ut_trace *t, uint32_t first, size_t count, const char *want)
{
	struct ut_out *o = ut_out_open_memory();
	struct ut_buf b = { 0 };
	const char *data;
	size_t len;

	ut_arg_json_list(&b, &t->strings, &t->args[first], count);
	assert_string_equal(b.data, want);
	ut_args_json(o, t, first);
	data = ut_out_data(o, &len);
	assert_int_equal(len, b.len);
	assert_memory_equal(data, b.data, len);
	ut_out_abandon(o);
	ut_buf_release(&b);
}

static void numbers_are_spelt_one_way(void **state)
{
	static const double values[] = { 0.00001, 1e-7, 0.1, -2.5, 1e300, 3, INFINITY, NAN };
	struct ut_trace t;

	(void)state;
	ut_trace_init(&t);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		add(&t, "v", UT_ARG_F64)->value.f64 = values[i];
	add(&t, "u", UT_ARG_U64)->value.u64 = UINT64_MAX;
	add(&t, "i", UT_ARG_I64)->value.i64 = INT64_MIN;
	ut_trace_close_args(&t);
	expect(&t, 1, 10,
	       "{\"v\":0.00001,\"v\":1e-07,\"v\":0.1,\"v\":-2.5,\"v\":1e+300,\"v\":3,"
	       "\"v\":\"Infinity\",\"v\":\"NaN\",\"u\":18446744073709551615,"
	       "\"i\":-9223372036854775808}");
	ut_trace_release(&t);
}

static void what_readers_would_round_is_text(void **state)
{
	struct ut_trace t;
	struct ut_arg *a;

	(void)state;
	ut_trace_init(&t);
	add(&t, "p", UT_ARG_PTR)->value.u64 = 0xdeadbeef;
	a = add(&t, "id", UT_ARG_U64);
	a->value.u64 = 7;
	a->flags = UT_ARG_TEXT;
	add(&t, "yes", UT_ARG_BOOL)->value.u64 = 1;
	ut_trace_close_args(&t);
	expect(&t, 1, 3, "{\"p\":\"0xdeadbeef\",\"id\":\"7\",\"yes\":true}");
	ut_trace_release(&t);
}

static void any_input_gives_valid_json(void **state)
{
	struct ut_trace t;

	(void)state;
	ut_trace_init(&t);
	add_text(&t, "q\"", UT_ARG_STR, "a\n\x80");
	add_text(&t, "j", UT_ARG_JSON, "{\"x\":\"\xff\"}");
	add_text(&t, "none", UT_ARG_JSON, "");
	ut_trace_close_args(&t);
	expect(&t, 1, 3,
	       "{\"q\\\"\":\"a\\n\xef\xbf\xbd\",\"j\":{\"x\":\"\xef\xbf\xbd\"},\"none\":null}");
	ut_trace_release(&t);
}

static void elements_of_an_array_are_one_member(void **state)
{
	struct ut_trace t;

	(void)state;
	ut_trace_init(&t);
	for (uint64_t i = 0; i < 3; i++) {
		struct ut_arg *a = add(&t, "list", UT_ARG_U64);

		a->value.u64 = i;
		a->flags = (uint8_t)(UT_ARG_ARRAY | (i < 2 ? UT_ARG_MORE : 0));
	}
	add(&t, "b", UT_ARG_U64)->value.u64 = 9;
	ut_trace_close_args(&t);
	expect(&t, 1, 4, "{\"list\":[0,1,2],\"b\":9}");
	expect(&t, 0, 0, "{}");
	ut_trace_release(&t);
}

/* A file's buffer is emptied on the way; nothing is lost or written twice. */
static void lists_larger_than_a_buffer_reach_the_file(void **state)
{
	enum {
		COUNT = 40000
	};
	struct ut_out *o = ut_out_open_memory();
	struct ut_buf b = { 0 };
	struct ut_trace t;
	const char *data;
	size_t len;

	(void)state;
	ut_trace_init(&t);
	for (int i = 0; i < COUNT; i++)
		add_text(&t, "key", UT_ARG_STR, "\x01 some text with an escape");
	ut_trace_close_args(&t);
	ut_arg_json_list(&b, &t.strings, &t.args[1], COUNT);
	ut_out_text(o, "before ");
	ut_args_json(o, &t, 1);
	ut_out_text(o, " behind");
	data = ut_out_data(o, &len);
	assert_int_equal(len, b.len + strlen("before ") + strlen(" behind"));
	assert_memory_equal(data + strlen("before "), b.data, b.len);
	assert_memory_equal(data + len - strlen(" behind"), " behind", strlen(" behind"));
	ut_out_abandon(o);
	ut_buf_release(&b);
	ut_trace_release(&t);
}

UT_TESTS(arg_json)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_spelt_one_way),
		cmocka_unit_test(what_readers_would_round_is_text),
		cmocka_unit_test(any_input_gives_valid_json),
		cmocka_unit_test(elements_of_an_array_are_one_member),
		cmocka_unit_test(lists_larger_than_a_buffer_reach_the_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
