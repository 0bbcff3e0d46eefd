/* test_gatekeeper.c - tests src/app/serve/gatekeeper.h: tokens, cookies, hosts and origins. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "serve/gatekeeper.h"
#include "support/unit.h"

static void a_token_is_good_for_one_exchange(void **state)
{
	struct ut_gatekeeper g;
	char a[UT_SECRET], b[UT_SECRET];

	(void)state;
	assert_true(ut_gatekeeper_init(&g));
	assert_false(ut_gatekeeper_take(&g, ""));
	assert_false(ut_gatekeeper_take(&g, NULL));
	ut_gatekeeper_token(&g, a);
	ut_gatekeeper_token(&g, b);
	assert_int_equal(strlen(a), 32);
	assert_string_not_equal(a, b);
	assert_true(ut_gatekeeper_take(&g, a));
	assert_false(ut_gatekeeper_take(&g, a));
	assert_true(ut_gatekeeper_take(&g, b));
	assert_false(ut_gatekeeper_knows(&g, a));
	assert_true(ut_gatekeeper_knows(&g, g.cookie));
	assert_false(ut_gatekeeper_knows(&g, NULL));
	g.cookie[0] = g.cookie[0] == '0' ? '1' : '0';
	ut_gatekeeper_release(&g);
}

static void the_browser_that_has_begun_may_ask_again(void **state)
{
	static const char ours[] = "0123456789abcdef0123456789abcdef";
	static const char theirs[] = "0123456789abcdef0123456789abcdee";
	struct ut_gatekeeper g;
	char a[UT_SECRET], b[UT_SECRET];

	(void)state;
	assert_true(ut_gatekeeper_init(&g));
	ut_gatekeeper_token(&g, a);
	ut_gatekeeper_token(&g, b);
	assert_false(ut_gatekeeper_exchange(&g, NULL, ours, 100));
	assert_false(ut_gatekeeper_exchange(&g, "", ours, 100));
	assert_true(ut_gatekeeper_exchange(&g, a, ours, 100));
	assert_false(ut_gatekeeper_exchange(&g, a, theirs, 101));
	assert_false(ut_gatekeeper_exchange(&g, a, NULL, 101));
	assert_false(ut_gatekeeper_exchange(&g, a, "", 101));
	assert_false(ut_gatekeeper_take(&g, a));
	assert_true(ut_gatekeeper_exchange(&g, a, ours, 100 + UT_EXCHANGE_S - 1));
	assert_false(ut_gatekeeper_exchange(&g, a, ours, 100 + UT_EXCHANGE_S)); /* is not renewed */
	/* who has no such name has it once */
	assert_true(ut_gatekeeper_exchange(&g, b, "short", 200));
	assert_false(ut_gatekeeper_exchange(&g, b, "short", 200));
	ut_gatekeeper_release(&g);
}

static void many_tokens_push_out_the_oldest(void **state)
{
	struct ut_gatekeeper g;
	char first[UT_SECRET], next[UT_SECRET];

	(void)state;
	assert_true(ut_gatekeeper_init(&g));
	ut_gatekeeper_token(&g, first);
	for (unsigned int i = 0; i < UT_TOKENS_MOST; i++)
		ut_gatekeeper_token(&g, next);
	assert_false(ut_gatekeeper_take(&g, first));
	assert_true(ut_gatekeeper_take(&g, next));
	ut_gatekeeper_release(&g);
}

static void only_names_of_this_machine(void **state)
{
	static const char *const good[] = { "localhost", "LOCALHOST:1", "127.0.0.1",
					    "127.0.0.1:8080", "[::1]:9" };
	static const char *const bad[] = {
		"",     "localhost.evil", "127.0.0.1.evil", "127.0.0.10", "localhost:8a",
		"evil", "localhost:1:2",  "localhost/",     "0.0.0.0",    "::1"
	};

	(void)state;
	assert_false(ut_gatekeeper_is_us(NULL));
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_true(ut_gatekeeper_is_us(good[i]));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(ut_gatekeeper_is_us(bad[i]));
}

static void only_pages_of_ours(void **state)
{
	(void)state;
	assert_true(ut_gatekeeper_same(NULL, "localhost:1", false));
	assert_true(ut_gatekeeper_same("http://localhost:1", "localhost:1", false));
	assert_false(ut_gatekeeper_same("http://localhost:2", "localhost:1", false));
	assert_false(ut_gatekeeper_same("https://localhost:1", "localhost:1", false));
	assert_true(ut_gatekeeper_same("https://localhost:1", "localhost:1", true));
	assert_false(ut_gatekeeper_same("http://localhost:1", "localhost:1", true));
	assert_false(ut_gatekeeper_same("null", "localhost:1", false));
	assert_false(ut_gatekeeper_same("", "localhost:1", false));
	assert_false(ut_gatekeeper_same("http://localhost:1", NULL, false));
}

UT_TESTS(gatekeeper)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_token_is_good_for_one_exchange),
		cmocka_unit_test(the_browser_that_has_begun_may_ask_again),
		cmocka_unit_test(many_tokens_push_out_the_oldest),
		cmocka_unit_test(only_names_of_this_machine),
		cmocka_unit_test(only_pages_of_ours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
