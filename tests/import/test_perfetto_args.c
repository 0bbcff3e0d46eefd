/* test_perfetto_args.c - tests src/trace/import/perfetto/args.c: what annotations become. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "import/pf.h"
#include "model/perfetto_fields.h"
#include "support/unit.h"

struct args {
	struct pf f;
	size_t event;
};

/* An instant on thread 11 of process 10, open for its annotations. */
static int make(void **state)
{
	struct args *a = calloc(1, sizeof(*a));

	if (!a)
		return -1;
	pf_thread(&a->f, 1, 10, 11, NULL);
	pf_open(&a->f, 1, 0);
	pf_intern(&a->f, INTERNED_KEYS, 1, "key");
	pf_close(&a->f);
	a->event = pf_event_open(&a->f, 1, TYPE_INSTANT, 1);
	*state = a;
	return 0;
}

static int drop(void **state)
{
	struct args *a = *state;

	pf_release(&a->f);
	free(a);
	return 0;
}

static size_t open_annotation(struct args *a, const char *name)
{
	size_t mark = ut_pbuf_begin(&a->f.file, EVENT_ANNOTATIONS);

	pf_text(&a->f, ANNOTATION_NAME, name);
	return mark;
}

static void close_annotation(struct args *a, size_t mark)
{
	ut_pbuf_end(&a->f.file, mark);
}

/* The arguments as the CSV exporter shows them. */
static void expect(struct args *a, const char *json)
{
	struct ut_buf line = { 0 };

	pf_event_close(&a->f, a->event);
	ut_buf_text(&line, "10,,11,,instant,1,,,,,,,,\"");
	for (; *json; json++)
		ut_buf_text(&line, *json == '"' ? "\"\"" : (char[]){ *json, '\0' });
	ut_buf_text(&line, "\"\n");
	pf_expect(&a->f, line.data);
	ut_buf_release(&line);
}

static void plain_values_keep_their_types(void **state)
{
	struct args *a = *state;
	size_t mark;

	mark = open_annotation(a, "b");
	ut_pbuf_varint(&a->f.file, ANNOTATION_BOOL, 1);
	close_annotation(a, mark);
	mark = open_annotation(a, "u");
	ut_pbuf_varint(&a->f.file, ANNOTATION_UINT, UINT64_MAX);
	close_annotation(a, mark);
	mark = open_annotation(a, "i");
	ut_pbuf_varint(&a->f.file, ANNOTATION_INT, (uint64_t)-5);
	close_annotation(a, mark);
	mark = open_annotation(a, "d");
	ut_pbuf_double(&a->f.file, ANNOTATION_DOUBLE, 0.1);
	close_annotation(a, mark);
	mark = open_annotation(a, "s");
	pf_text(&a->f, ANNOTATION_STRING, "text");
	close_annotation(a, mark);
	mark = open_annotation(a, "p");
	ut_pbuf_varint(&a->f.file, ANNOTATION_POINTER, 0xdead);
	close_annotation(a, mark);
	mark = open_annotation(a, "n");
	close_annotation(a, mark);
	expect(a, "{\"b\":true,\"u\":18446744073709551615,\"i\":-5,\"d\":0.1,\"s\":\"text\","
		  "\"p\":\"0xdead\",\"n\":null}");
}

static void names_and_strings_may_be_interned(void **state)
{
	struct args *a = *state;
	size_t mark = ut_pbuf_begin(&a->f.file, EVENT_ANNOTATIONS);

	ut_pbuf_varint(&a->f.file, ANNOTATION_NAME_IID, 1);
	ut_pbuf_varint(&a->f.file, ANNOTATION_STRING_IID, 1);
	ut_pbuf_end(&a->f.file, mark);
	ut_pbuf_end(&a->f.file, a->event);
	pf_intern(&a->f, INTERNED_TEXTS, 1, "value");
	pf_close(&a->f);
	pf_expect(&a->f, "10,,11,,instant,1,,,,,,,,\"{\"\"key\"\":\"\"value\"\"}\"\n");
}

static void add_element(struct args *a, uint64_t value)
{
	size_t mark = ut_pbuf_begin(&a->f.file, ANNOTATION_ARRAY);

	ut_pbuf_varint(&a->f.file, ANNOTATION_UINT, value);
	ut_pbuf_end(&a->f.file, mark);
}

static void arrays_of_plain_values_are_arrays(void **state)
{
	struct args *a = *state;
	size_t mark = open_annotation(a, "shape");

	add_element(a, 4);
	add_element(a, 5);
	close_annotation(a, mark);
	pf_event_close(&a->f, a->event);
	assert_int_equal(pf_load(&a->f, a->f.file.len), 0);
	{
		struct ut_arg args[4];
		const struct ut_block *b = &a->f.store.rows[0].blocks[0];

		assert_int_equal(ut_arglists_get(&a->f.store.args, b->args[0], args, 4), 2);
		assert_int_equal(args[0].type, UT_ARG_U64);
		assert_int_equal(args[0].flags, UT_ARG_ARRAY | UT_ARG_MORE);
		assert_int_equal(args[1].flags, UT_ARG_ARRAY);
		assert_int_equal(args[1].value.u64, 5);
	}
}

static void nested_values_become_json(void **state)
{
	struct args *a = *state;
	struct ut_pbuf *b = &a->f.file;
	size_t mark = open_annotation(a, "o"), entry, inner, element;

	entry = ut_pbuf_begin(b, ANNOTATION_DICT);
	pf_text(&a->f, ANNOTATION_NAME, "x\"\n");
	ut_pbuf_double(b, ANNOTATION_DOUBLE, 5);
	ut_pbuf_end(b, entry);
	entry = ut_pbuf_begin(b, ANNOTATION_DICT);
	pf_text(&a->f, ANNOTATION_NAME, "l");
	inner = ut_pbuf_begin(b, ANNOTATION_ARRAY);
	ut_pbuf_varint(b, ANNOTATION_BOOL, 0);
	ut_pbuf_end(b, inner);
	inner = ut_pbuf_begin(b, ANNOTATION_ARRAY);
	element = ut_pbuf_begin(b, ANNOTATION_DICT);
	pf_text(&a->f, ANNOTATION_NAME, "k");
	ut_pbuf_bytes(b, ANNOTATION_STRING, "a\xff\x80", 3);
	ut_pbuf_end(b, element);
	ut_pbuf_end(b, inner);
	ut_pbuf_end(b, entry);
	close_annotation(a, mark);
	expect(a, "{\"o\":{\"x\\\"\\n\":5.0,\"l\":[false,{\"k\":\"a\xef\xbf\xbd\xef\xbf\xbd\"}]"
		  "}}");
}

static void nested_values_of_old_become_json(void **state)
{
	struct args *a = *state;
	struct ut_pbuf *b = &a->f.file;
	size_t mark = open_annotation(a, "o"), nested, value;

	nested = ut_pbuf_begin(b, ANNOTATION_NESTED);
	ut_pbuf_varint(b, NESTED_TYPE, 1);
	pf_text(&a->f, NESTED_KEYS, "a");
	pf_text(&a->f, NESTED_KEYS, "b");
	value = ut_pbuf_begin(b, NESTED_VALUES);
	ut_pbuf_varint(b, NESTED_INT, (uint64_t)-1);
	ut_pbuf_end(b, value);
	value = ut_pbuf_begin(b, NESTED_VALUES);
	ut_pbuf_varint(b, NESTED_TYPE, 2);
	ut_pbuf_end(b, value);
	ut_pbuf_end(b, nested);
	close_annotation(a, mark);
	expect(a, "{\"o\":{\"a\":-1,\"b\":[]}}");
}

static void json_text_is_read_as_what_it_is(void **state)
{
	static const char *const texts[][2] = {
		{ "o", " { \"a\" : [ 1, 2 ] } " },
		{ "n", "-17" },
		{ "f", "2.5" },
		{ "s", "\"\\u0041\"" },
		{ "t", "true" },
		{ "x", "{no json" },
	};
	struct args *a = *state;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		size_t mark = open_annotation(a, texts[i][0]);

		pf_text(&a->f, ANNOTATION_JSON, texts[i][1]);
		close_annotation(a, mark);
	}
	expect(a, "{\"o\":{\"a\":[1,2]},\"n\":-17,\"f\":2.5,\"s\":\"A\",\"t\":true,"
		  "\"x\":\"{no json\"}");
}

static void what_is_nested_too_deep_is_null(void **state)
{
	struct args *a = *state;
	size_t marks[100], mark = open_annotation(a, "deep");
	char json[300] = "{\"deep\":";

	for (int i = 0; i < 100; i++)
		marks[i] = ut_pbuf_begin(&a->f.file, ANNOTATION_ARRAY);
	ut_pbuf_varint(&a->f.file, ANNOTATION_UINT, 1);
	for (int i = 100; i > 0; i--)
		ut_pbuf_end(&a->f.file, marks[i - 1]);
	close_annotation(a, mark);
	memset(json + strlen(json), '[', 32);
	strncat(json, "null", 5);
	memset(json + strlen(json), ']', 32);
	strncat(json, "}", 2);
	expect(a, json);
}

static void doubles_that_json_lacks_are_strings(void **state)
{
	struct args *a = *state;
	size_t mark = open_annotation(a, "d"), entry;

	entry = ut_pbuf_begin(&a->f.file, ANNOTATION_DICT);
	pf_text(&a->f, ANNOTATION_NAME, "inf");
	ut_pbuf_double(&a->f.file, ANNOTATION_DOUBLE, -(double)INFINITY);
	ut_pbuf_end(&a->f.file, entry);
	entry = ut_pbuf_begin(&a->f.file, ANNOTATION_DICT);
	pf_text(&a->f, ANNOTATION_NAME, "nan");
	ut_pbuf_double(&a->f.file, ANNOTATION_DOUBLE, (double)NAN);
	ut_pbuf_end(&a->f.file, entry);
	close_annotation(a, mark);
	expect(a, "{\"d\":{\"inf\":\"-Infinity\",\"nan\":\"NaN\"}}");
}

static void places_in_the_source_are_arguments(void **state)
{
	struct args *a = *state;
	size_t mark = ut_pbuf_begin(&a->f.file, EVENT_PLACE);

	pf_text(&a->f, PLACE_FILE, "a.cc");
	pf_text(&a->f, PLACE_FUNCTION, "Run");
	ut_pbuf_varint(&a->f.file, PLACE_LINE, 12);
	ut_pbuf_end(&a->f.file, mark);
	ut_pbuf_varint(&a->f.file, EVENT_CORRELATION, 99);
	expect(a, "{\"function\":\"Run\",\"file\":\"a.cc\",\"line\":12,\"correlation_id\":99}");
}

static void arguments_of_other_types_are_counted(void **state)
{
	struct args *a = *state;

	pf_text(&a->f, 24, "cc_scheduler_state");
	pf_event_close(&a->f, a->event);
	pf_expect(&a->f, "10,,11,,instant,1,,,,,,,,\n");
	pf_expect_warning(&a->f, "that only Chrome's own tools know were left out: 1 and 0\n");
}

UT_TESTS(perfetto_args)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, make, drop)
	const struct CMUnitTest tests[] = {
		CASE(plain_values_keep_their_types),
		CASE(names_and_strings_may_be_interned),
		CASE(arrays_of_plain_values_are_arrays),
		CASE(nested_values_become_json),
		CASE(nested_values_of_old_become_json),
		CASE(json_text_is_read_as_what_it_is),
		CASE(what_is_nested_too_deep_is_null),
		CASE(doubles_that_json_lacks_are_strings),
		CASE(places_in_the_source_are_arguments),
		CASE(arguments_of_other_types_are_counted),
	};
#undef CASE

	return cmocka_run_group_tests_name("import/perfetto_args", tests, NULL, NULL);
}
