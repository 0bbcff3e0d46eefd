/* test_auth.c - tests src/app/serve/auth.h: tokens, cookies, hosts and origins. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "serve/auth.h"
#include "support/unit.h"

static void a_token_is_good_for_one_exchange(void **state)
{
	struct ut_auth g;
	char a[UT_SECRET], b[UT_SECRET];

	(void)state;
	assert_true(ut_auth_init(&g));
	assert_false(ut_auth_use_token(&g, ""));
	assert_false(ut_auth_use_token(&g, NULL));
	ut_auth_add_token(&g, a);
	ut_auth_add_token(&g, b);
	assert_int_equal(strlen(a), 32);
	assert_string_not_equal(a, b);
	assert_true(ut_auth_use_token(&g, a));
	assert_false(ut_auth_use_token(&g, a));
	assert_true(ut_auth_use_token(&g, b));
	assert_false(ut_auth_has_cookie(&g, a));
	assert_true(ut_auth_has_cookie(&g, g.cookie));
	assert_false(ut_auth_has_cookie(&g, NULL));
	g.cookie[0] = g.cookie[0] == '0' ? '1' : '0';
	ut_auth_release(&g);
}

static void the_browser_that_has_begun_may_ask_again(void **state)
{
	static const char ours[] = "0123456789abcdef0123456789abcdef";
	static const char theirs[] = "0123456789abcdef0123456789abcdee";
	struct ut_auth g;
	char a[UT_SECRET], b[UT_SECRET];

	(void)state;
	assert_true(ut_auth_init(&g));
	ut_auth_add_token(&g, a);
	ut_auth_add_token(&g, b);
	assert_false(ut_auth_exchange_token(&g, NULL, ours, 100));
	assert_false(ut_auth_exchange_token(&g, "", ours, 100));
	assert_true(ut_auth_exchange_token(&g, a, ours, 100));
	assert_false(ut_auth_exchange_token(&g, a, theirs, 101));
	assert_false(ut_auth_exchange_token(&g, a, NULL, 101));
	assert_false(ut_auth_exchange_token(&g, a, "", 101));
	assert_false(ut_auth_use_token(&g, a));
	assert_true(ut_auth_exchange_token(&g, a, ours, 100 + UT_EXCHANGE_S - 1));
	assert_false(ut_auth_exchange_token(&g, a, ours, 100 + UT_EXCHANGE_S)); /* is not renewed */
	/* who has no such name has it once */
	assert_true(ut_auth_exchange_token(&g, b, "short", 200));
	assert_false(ut_auth_exchange_token(&g, b, "short", 200));
	ut_auth_release(&g);
}

static void many_tokens_push_out_the_oldest(void **state)
{
	struct ut_auth g;
	char first[UT_SECRET], next[UT_SECRET];

	(void)state;
	assert_true(ut_auth_init(&g));
	ut_auth_add_token(&g, first);
	for (unsigned int i = 0; i < UT_TOKENS_MOST; i++)
		ut_auth_add_token(&g, next);
	assert_false(ut_auth_use_token(&g, first));
	assert_true(ut_auth_use_token(&g, next));
	ut_auth_release(&g);
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
	assert_false(ut_auth_is_local_host(NULL));
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_true(ut_auth_is_local_host(good[i]));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(ut_auth_is_local_host(bad[i]));
}

static void only_pages_of_ours(void **state)
{
	(void)state;
	assert_true(ut_auth_is_same_origin(NULL, "localhost:1", false));
	assert_true(ut_auth_is_same_origin("http://localhost:1", "localhost:1", false));
	assert_false(ut_auth_is_same_origin("http://localhost:2", "localhost:1", false));
	assert_false(ut_auth_is_same_origin("https://localhost:1", "localhost:1", false));
	assert_true(ut_auth_is_same_origin("https://localhost:1", "localhost:1", true));
	assert_false(ut_auth_is_same_origin("http://localhost:1", "localhost:1", true));
	assert_false(ut_auth_is_same_origin("null", "localhost:1", false));
	assert_false(ut_auth_is_same_origin("", "localhost:1", false));
	assert_false(ut_auth_is_same_origin("http://localhost:1", NULL, false));
}

UT_TESTS(auth)
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
