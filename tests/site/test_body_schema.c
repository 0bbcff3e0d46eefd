/* test_body_schema.c - tests src/app/site/body_schema.h: bodies that do not fit their route. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "site/body_schema.h"
#include "site/routes.h"
#include "support/unit.h"
#include "text/json_doc.h"

/* What is said about a body; "" = it fits. */
static const char *said(struct ut_arena *a, enum ut_method method, const char *path,
			const char *body)
{
	struct ut_err err = { 0 };
	const struct ut_doc *api, *t = NULL;

	assert_int_equal(ut_description_read(a, &api, NULL), 0);
	if (body)
		assert_int_equal(ut_doc_read(a, ut_str_of(body), &t, NULL), 0);
	if (!ut_body_check(api, method, path, t, &err))
		return "";
	assert_int_equal(err.code, -EINVAL);
	return ut_arena_copy(a, err.text, strlen(err.text));
}

static void a_fault_is_named_with_its_place(void **state)
{
	static const char *const cases[][2] = {
		{ "{\"arguments\":[1]}", "\"arguments[0]\": expected a string, got a number" },
		{ "{\"launcherWords\":[\"a\",{}]}",
		  "\"launcherWords[1]\": expected a string, got an object" },
		{ "{\"environment\":[{\"name\":\"a\"}]}", "\"environment[0].value\" is missing" },
		{ "{\"options\":{\"a\":[]}}",
		  "\"options.a\": expected a string or a number or true or false, got a list" },
		{ "{\"pid\":1.5}", "\"pid\": expected a whole number, got a fraction" },
		{ "{\"pid\":-1}", "\"pid\": expected at least 0, got -1" },
		{ "{\"what\":\"x\"}", "\"what\": expected one of \"launch\", \"attach\", \"mpi\", "
				      "\"\", got another string" },
		{ "{\"application\":\"a\\u0000b\"}",
		  "\"application\": expected a string, got one with a NUL in it" },
		{ "[]", "the body: expected an object, got a list" },
		{ "null", "the body: expected an object, got null" },
		{ NULL, "the body is missing: expected JSON" },
		{ "{\"pid\":null,\"unknown\":[[]]}", "" },
	};
	struct ut_arena a = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(said(&a, UT_METHOD_POST, "/api/v1/command", cases[i][0]),
				    cases[i][1]);
	ut_arena_release(&a);
}

/* A route whose path the description spells differently would not be checked at all. */
static void every_route_that_takes_json_is_checked(void **state)
{
	struct ut_arena a = { 0 };
	size_t checked = 0;

	(void)state;
	for (size_t i = 0; i < ut_route_count; i++) {
		const struct ut_route *r = &ut_routes[i];

		if (r->method != UT_METHOD_GET && said(&a, r->method, r->path, "[]")[0])
			checked++;
	}
	assert_int_equal(checked, 18);
	ut_arena_release(&a);
}

static void a_long_name_does_not_hide_what_is_wrong(void **state)
{
	struct ut_arena a = { 0 };
	struct ut_buf body = { 0 };

	(void)state;
	ut_buf_text(&body, "{\"options\":{\"");
	for (int i = 0; i < 5000; i++)
		ut_buf_text(&body, "n");
	ut_buf_text(&body, "\":[]}}");
	assert_non_null(
		strstr(said(&a, UT_METHOD_POST, "/api/v1/command", body.data), "got a list"));
	ut_buf_release(&body);
	ut_arena_release(&a);
}

UT_TESTS(body_schema)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_fault_is_named_with_its_place),
		cmocka_unit_test(every_route_that_takes_json_is_checked),
		cmocka_unit_test(a_long_name_does_not_hide_what_is_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
