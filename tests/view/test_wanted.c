/* test_wanted.c - tests src/analysis/view/wanted.h: the words of a search. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/make_store.h"
#include "support/unit.h"
#include "view/ask.h"
#include "view/hits.h"
#include "view/view.h"
#include "view/wanted.h"

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
	struct ut_wanted wanted;
	struct ut_hits hits;
	struct ut_hits_ask ask = { .scope = &scope, .wanted = &wanted, .limit = 10 };
	uint64_t n;

	assert_int_equal(ut_wanted_init(&wanted, f.view, (struct ut_str){ query, strlen(query) },
					&scope, NULL),
			 0);
	ut_hits_find(&hits, f.view, &ask);
	n = hits.count;
	assert_int_equal(hits.list_count, n < 10 ? n : 10);
	for (size_t i = 1; i < hits.list_count; i++)
		assert_true(ut_hit_before(hits.list[i - 1], hits.list[i]));
	ut_hits_release(&hits);
	ut_wanted_release(&wanted);
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

static void mistakes_are_told(void **state)
{
	static const char *const bad[] = { "dur:>x", "dur:1h", "rank:1us", "rank:a",
					   "/(/",    "self:",  "dur:1..x" };
	const struct ut_ask_scope scope = { 0 };
	struct ut_wanted wanted;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct ut_err err = { 0 };
		int rc = ut_wanted_init(&wanted, f.view, (struct ut_str){ bad[i], strlen(bad[i]) },
					&scope, &err);

		if (!strcmp(bad[i], "self:")) { /* nothing behind it: a name */
			assert_int_equal(rc, 0);
			ut_wanted_release(&wanted);
			continue;
		}
		assert_true(rc < 0);
		assert_non_null(strstr(err.text, " is no "));
	}
}

UT_TESTS(wanted)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_all_must_match),
		cmocka_unit_test(fields_narrow),
		cmocka_unit_test(times_are_compared),
		cmocka_unit_test(mistakes_are_told),
	};

	return cmocka_run_group_tests(tests, make, drop);
}
