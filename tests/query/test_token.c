/* test_token.c - tests src/analysis/query/token.h, how tables get the shape of Perfetto,
 * src/analysis/query/arg_path.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <string.h>
#include <cmocka.h>

#include "base/str.h"
#include "query/arg_path.h"
#include "query/perfetto_parts.h"
#include "query/token.h"
#include "support/unit.h"

/* The tokens of a text, each with a letter for its type before it. */
static void expect_tokens(const char *sql, const char *want)
{
	static const char letters[] = ". wqsnp,";
	struct ut_buf got = { 0 };
	struct ut_token t;

	ut_buf_text(&got, "");
	while ((t = ut_token_next(&sql)).type != UT_TOKEN_END) {
		ut_buf_char(&got, letters[t.type]);
		ut_buf_add(&got, t.text, t.len);
		ut_buf_char(&got, '|');
	}
	assert_string_equal(got.data, want);
	ut_buf_release(&got);
}

static void text_is_split_as_sqlite_does(void **state)
{
	(void)state;
	expect_tokens("", "");
	expect_tokens("a1 $x?2", "wa1|  |p$x|p?2|");
	expect_tokens("a$b", "wa$b|");
	expect_tokens("'it''s' \"a\"\"b\" `c` [d]", "s'it''s'|  |q\"a\"\"b\"|  |q`c`|  |q[d]|");
	expect_tokens("x'00' 1.5e-3+.5", "sx'00'|  |n1.5e-3|,+|n.5|");
	expect_tokens("a--b\n/* c */d", "wa| --b\n/* c */|wd|");
	expect_tokens("m!(1)!=2", "wm|,!|,(|n1|,)|,!=|n2|");
	expect_tokens("'open", "s'open|");
	expect_tokens("\"open", "q\"open|");
	expect_tokens("/* open", " /* open|");
}

static void statements_end_at_their_semicolon(void **state)
{
	const char *sql = "select ';' /* ; */ -- ;\n, [;] ; more";

	(void)state;
	assert_string_equal(ut_token_end(sql), "; more");
	assert_string_equal(ut_token_end("no end"), "");
	assert_string_equal(ut_token_close("a, (b), ')') rest"), " rest");
	assert_string_equal(ut_token_close("never"), "");
}

static void expect_narrow(const char *sql, const char *want)
{
	struct ut_buf got = { 0 };

	assert_int_equal(ut_pf_narrow(sql, sql + strlen(sql), &got), want != NULL);
	if (want)
		assert_string_equal(got.data, want);
	ut_buf_release(&got);
}

static void tables_get_the_shape_of_perfetto(void **state)
{
	(void)state;
	expect_narrow("select a from slice", "select a from perfetto_slice AS slice");
	expect_narrow("select a from slice s join Thread as t on s.x = t.y, args",
		      "select a from perfetto_slice s join perfetto_Thread as t on s.x = t.y, "
		      "perfetto_args AS args");
	expect_narrow("select (select max(ts) from counter where a in (slice, 2)) from x",
		      "select (select max(ts) from perfetto_counter AS counter where a in (slice, "
		      "2)) from x");
	expect_narrow("select * from (slice join process using (upid)) where slice.a",
		      "select * from (perfetto_slice AS slice join perfetto_process AS process "
		      "using (upid)) where slice.a");
	expect_narrow("select * from slice left join flow", "select * from perfetto_slice AS slice "
							    "left join perfetto_flow AS flow");
}

static void other_words_stay(void **state)
{
	(void)state;
	expect_narrow("select slice from x", NULL);
	expect_narrow("select 'from slice', \"from slice\"", NULL);
	expect_narrow("select * from main.slice", NULL);
	expect_narrow("select * from ancestor_slice(3)", NULL);
	expect_narrow("select a is distinct from slice from x", NULL);
	expect_narrow("with slice as (select 1) select * from slice", NULL);
	expect_narrow("with slice(a) as (select 1) select * from slice, thread", NULL);
}

static void expect_path(const char *json, const char *path, const char *want)
{
	struct ut_str found, text = { json, strlen(json) };
	bool any = ut_arg_path_find(text, path, &found);

	assert_int_equal(any, want != NULL);
	if (want) {
		assert_int_equal(found.len, strlen(want));
		assert_memory_equal(found.ptr, want, found.len);
	}
}

static void paths_lead_into_json(void **state)
{
	(void)state;
	expect_path("{\"a\":{\"b\":[1,{\"c\":\"]}\"},3]}}", ".a.b[1].c", "\"]}\"");
	expect_path("{\"a\":1, \"b\" : [ 2 , 3 ] }", ".b[1]", "3");
	expect_path("[[1,2],[3]]", "[1][0]", "3");
	expect_path("{\"a.b\":5,\"a\":{\"b\":6}}", ".a.b", "5");
	expect_path("{\"q\\\"\":1,\"a\":2}", ".a", "2");
	expect_path("7", "", "7");
	expect_path("{\"a\":1}", ".b", NULL);
	expect_path("{\"a\":1}", "[0]", NULL);
	expect_path("[1]", "[1]", NULL);
	expect_path("[1]", "[99999999999999999999999]", NULL);
	expect_path("{\"a\"", ".a", NULL);
	expect_path("{\"a", ".a", NULL);
	expect_path("[", "[0]", NULL);
	expect_path("", "", NULL);
}

UT_TESTS(token)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_is_split_as_sqlite_does),
		cmocka_unit_test(statements_end_at_their_semicolon),
		cmocka_unit_test(tables_get_the_shape_of_perfetto),
		cmocka_unit_test(other_words_stay),
		cmocka_unit_test(paths_lead_into_json),
	};

	return cmocka_run_group_tests_name("query/token", tests, NULL, NULL);
}
