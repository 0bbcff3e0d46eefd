/* test_json_doc.c - tests src/trace/text/json_doc.h and json_write.h: what is read is what was
 * written.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "support/unit.h"
#include "text/json_doc.h"
#include "text/json_write.h"

static const struct ut_doc *read(struct ut_arena *a, const char *text)
{
	const struct ut_doc *t;

	assert_int_equal(ut_doc_read(a, ut_str_of(text), &t, NULL), 0);
	return t;
}

static void refused(const char *text, int rc)
{
	struct ut_arena a = { 0 };
	const struct ut_doc *t;
	struct ut_err err = { 0 };

	assert_int_equal(ut_doc_read(&a, ut_str_of(text), &t, &err), rc);
	assert_null(t);
	assert_true(err.text[0]);
	ut_arena_release(&a);
}

static void members_are_found_by_name_and_kind(void **state)
{
	struct ut_arena a = { 0 };
	const struct ut_doc *t = read(
		&a,
		" {\"a\": \"x\\u00e9\\n\", \"b\": [1, {\"c\": true}, null], \"n\": 2.5, \"k\": 7,"
		"\"twice\": 1, \"twice\": 2, \"zero\": \"a\\u0000b\", \"big\": 1e300, \"less\": "
		"-1} ");
	const struct ut_doc *list = ut_doc_get(t, "b");

	(void)state;
	assert_string_equal(ut_doc_text(t, "a"), "x\xc3\xa9\n");
	assert_null(ut_doc_text(t, "b"));
	assert_null(ut_doc_text(t, "zero"));
	assert_null(ut_doc_text(t, "none"));
	assert_null(ut_doc_get(list, "c"));
	assert_null(ut_doc_get(NULL, "c"));
	assert_int_equal(list->count, 3);
	assert_true(ut_doc_flag(list->first->next, "c", false));
	assert_int_equal(list->first->next->next->kind, UT_DOC_NULL);
	assert_true(ut_doc_number(t, "n", 0) == 2.5);
	assert_int_equal(ut_doc_count(t, "k", 10, 3), 7);
	assert_int_equal(ut_doc_count(t, "k", 6, 3), 3);
	assert_int_equal(ut_doc_count(t, "n", 10, 3), 3);
	assert_int_equal(ut_doc_count(t, "big", UINT64_MAX, 3), 3);
	assert_int_equal(ut_doc_count(t, "less", 10, 3), 3);
	assert_int_equal(ut_doc_count(t, "twice", 10, 3), 2);
	ut_arena_release(&a);
}

static void what_is_no_json_is_refused(void **state)
{
	static const char *const texts[] = {
		"",      " ",     "{",       "[1,",      "{\"a\":}", "[1 2]",       "{\"a\" 1}",
		"[1,]",  "{} {}", "nul",     "'a'",      "\"a",      "{\"a\":NaN}", "{a:1}",
		"[007]", "[01]",  "\"\\x\"", "[\"\t\"]", "1e999",    "[1]x"
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		refused(texts[i], -EINVAL);
}

static void depth_is_bounded(void **state)
{
	char text[200] = "";

	(void)state;
	memset(text, '[', 33);
	memset(text + 33, ']', 33);
	refused(text, -E2BIG);
}

static void what_was_read_is_written_as_it_was(void **state)
{
	static const char *const texts[] = {
		"{\"a\":\"x\\\"\\\\\",\"b\":[1,-2.5,true,false,null,[],{},[[{\"c\":{}}]]]}",
		"{\"d\":{\"e\":1}}",
		"[]",
		"{}",
		"3",
		"\"x\"",
		"null",
		"true",
		"[[1],[2,[3]],4]",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct ut_arena a = { 0 };
		struct ut_buf b = { 0 };
		struct ut_json_writer w = { .to = &b };

		ut_write_doc(&w, NULL, read(&a, texts[i]));
		assert_string_equal(b.data, texts[i]);
		ut_buf_release(&b);
		ut_arena_release(&a);
	}
}

static void values_get_their_commas_and_quotes(void **state)
{
	struct ut_buf b = { 0 };
	struct ut_json_writer w = { .to = &b };

	(void)state;
	ut_write_open(&w, NULL, '{');
	ut_write_text(&w, "a\"", "b\n");
	ut_write_text(&w, "n", NULL);
	ut_write_open(&w, "l", '[');
	ut_write_u64(&w, NULL, UINT64_MAX);
	ut_write_i64(&w, NULL, -1);
	ut_write_double(&w, NULL, 0.25);
	ut_write_double(&w, NULL, 3);
	ut_write_flag(&w, NULL, true);
	ut_write_close(&w, ']');
	ut_write_raw(&w, "r", "[1]", 3);
	ut_write_close(&w, '}');
	assert_string_equal(
		b.data,
		"{\"a\\\"\":\"b\\n\",\"n\":null,\"l\":[18446744073709551615,-1,0.25,3,true],"
		"\"r\":[1]}");
	ut_buf_release(&b);
}

UT_TESTS(json_doc)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_are_found_by_name_and_kind),
		cmocka_unit_test(what_is_no_json_is_refused),
		cmocka_unit_test(depth_is_bounded),
		cmocka_unit_test(what_was_read_is_written_as_it_was),
		cmocka_unit_test(values_get_their_commas_and_quotes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
