/* test_search_query.c - tests src/analysis/view/search_query.h: the words of a search. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/make_store.h"
#include "support/unit.h"
#include "view/ask.h"
#include "view/matches.h"
#include "view/search_query.h"
#include "view/view.h"

struct fixture {
	struct ut_store store;
	struct ut_view *view;
};

static struct fixture f;

static int make(void **state)
{
	struct maker m;
	uint32_t main_thread, worker;

	(void)state;
	make_start(&m);
	main_thread = make_track(&m, UT_TRACK_THREAD, 11, "main");
	worker = make_track(&m, UT_TRACK_THREAD, 12, "Worker two");
	make_row(&m, main_thread, (struct ut_event){ .ts = 0, .val = 1000 }, "aten::mul", "cpu_op");
	make_row(&m, main_thread, (struct ut_event){ .ts = 100, .val = 300 }, "aten::add",
		 "cpu_op");
	make_row(&m, worker, (struct ut_event){ .ts = 2000, .val = 50000 }, "Sleep Well", "wait");
	make_row(&m, worker, (struct ut_event){ .ts = 60000, .val = 2000000 }, "mul", "wait");
	make_kind(&m, worker, UT_KIND_INSTANT, "mark", 61000, 0);
	make_finish(&m, &f.store);
	f.view = ut_view_new();
	ut_view_lend(f.view, "x", &f.store);
	ut_view_ready(f.view, 1);
	return 0;
}

static int drop(void **state)
{
	(void)state;
	ut_view_free(f.view);
	ut_store_release(&f.store);
	return 0;
}

static uint64_t count(const char *query)
{
	const struct ut_ask_scope scope = { 0 };
	struct ut_search_query search_query;
	struct ut_view_matches matches;
	struct ut_view_matches_ask ask = { .scope = &scope, .query = &search_query, .limit = 10 };
	uint64_t n;

	assert_int_equal(ut_search_query_init(&search_query, f.view,
					      (struct ut_str){ query, strlen(query) }, &scope,
					      NULL),
			 0);
	ut_view_matches_find(&matches, f.view, &ask);
	n = matches.count;
	assert_int_equal(matches.list_count, n < 10 ? n : 10);
	for (size_t i = 1; i < matches.list_count; i++)
		assert_true(ut_view_match_before(matches.list[i - 1], matches.list[i]));
	ut_view_matches_release(&matches);
	ut_search_query_release(&search_query);
	return n;
}

static void words_all_must_match(void **state)
{
	(void)state;
	assert_int_equal(count(""), 5);
	assert_int_equal(count("mul"), 2);
	assert_int_equal(count("MUL aten"), 1);
	assert_int_equal(count("aten::mul"), 1); /* a name, not a field */
	assert_int_equal(count("\"mul\""), 1);
	assert_int_equal(count("\"Mul\""), 0);
	assert_int_equal(count("\"Sleep Well\""), 1);
	assert_int_equal(count("\"Sleep Well"), 1);
	assert_int_equal(count("Sleep Well"), 1);
	assert_int_equal(count("-mul"), 3);
	assert_int_equal(count("-\"mul\" mul"), 1);
	assert_int_equal(count("/^aten::(mul|add)$/"), 2);
	assert_int_equal(count("/SLEEP w/"), 1);
	assert_int_equal(count("-/aten/"), 3);
	assert_int_equal(count("  \t "), 5);
	assert_int_equal(count("-"), 0);
}

static void fields_narrow(void **state)
{
	(void)state;
	assert_int_equal(count("cat:op"), 2);
	assert_int_equal(count("name:mul cat:wait"), 1);
	assert_int_equal(count("track:worker"), 3);
	assert_int_equal(count("thread:12"), 3);
	assert_int_equal(count("thread:\"main 11\""), 2);
	assert_int_equal(count("-thread:main"), 3);
	assert_int_equal(count("rank:0"), 0);
	assert_int_equal(count("rank:<0"), 5); /* none has one */
	assert_int_equal(count("dev:x"), 0);
	assert_int_equal(count("arg.none:x"), 0);
	assert_int_equal(count("-arg.none:x"), 5);
	assert_int_equal(count("unknown:x"), 0);
}

static void times_are_compared(void **state)
{
	(void)state;
	assert_int_equal(count("dur:>1us"), 2);
	assert_int_equal(count("dur:>=1us"), 3);
	assert_int_equal(count("dur:<=50us dur:>0"), 3);
	assert_int_equal(count("dur:1us..50us"), 2);
	assert_int_equal(count("dur:..1us"), 3);
	assert_int_equal(count("dur:2ms"), 1);
	assert_int_equal(count("dur:=2ms"), 1);
	assert_int_equal(count("-dur:2ms"), 4);
	assert_int_equal(count("self:700"), 1);
	assert_int_equal(count("self:<1us dur:>0"), 2);
	assert_int_equal(count("dur:>1.5MS"), 1);
	assert_int_equal(count("dur:50\xc2\xb5s"), 1);
}

static void mistakes_are_reported(void **state)
{
	static const char *const bad[] = { "dur:>x", "dur:1h", "rank:1us", "rank:a",
					   "/(/",    "self:",  "dur:1..x" };
	const struct ut_ask_scope scope = { 0 };
	struct ut_search_query search_query;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct ut_err err = { 0 };
		int rc = ut_search_query_init(&search_query, f.view,
					      (struct ut_str){ bad[i], strlen(bad[i]) }, &scope,
					      &err);

		if (!strcmp(bad[i], "self:")) { /* nothing behind it: a name */
			assert_int_equal(rc, 0);
			ut_search_query_release(&search_query);
			continue;
		}
		assert_true(rc < 0);
		assert_non_null(strstr(err.text, " is no "));
	}
}

UT_TESTS(search_query)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_all_must_match),
		cmocka_unit_test(fields_narrow),
		cmocka_unit_test(times_are_compared),
		cmocka_unit_test(mistakes_are_reported),
	};

	return cmocka_run_group_tests(tests, make, drop);
}
