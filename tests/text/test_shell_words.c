/* test_shell_words.c - tests src/trace/text/shell_words.h: words as a shell splits them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/arena.h"
#include "support/unit.h"
#include "text/shell_words.h"

static void splits(const char *text, const char *const *want)
{
	struct ut_arena a = { 0 };
	struct ut_err err = { 0 };
	const char **words;
	size_t count, i;

	if (ut_shell_words(&a, ut_str_of(text), &words, &count, NULL, &err))
		fail_msg("%s: %s", text, err.text);
	for (i = 0; want[i]; i++) {
		assert_true(i < count);
		assert_string_equal(words[i], want[i]);
	}
	assert_int_equal(count, i);
	assert_null(words[count]);
	ut_arena_release(&a);
}

static void blanks_part_words(void **state)
{
	(void)state;
	splits("", (const char *[]){ NULL });
	splits(" \t\n ", (const char *[]){ NULL });
	splits("./app -n 5", (const char *[]){ "./app", "-n", "5", NULL });
	splits("  a\n\tb ", (const char *[]){ "a", "b", NULL });
}

static void quotes_and_backslashes_join_them(void **state)
{
	(void)state;
	splits("'a b' \"c d\" e\\ f", (const char *[]){ "a b", "c d", "e f", NULL });
	splits("x'y'\"z\"", (const char *[]){ "xyz", NULL });
	splits("'' \"\"", (const char *[]){ "", "", NULL });
	splits("\"a\\\"b\\\\c\\d\"", (const char *[]){ "a\"b\\c\\d", NULL });
	splits("'a\\b'", (const char *[]){ "a\\b", NULL });
	splits("a\\\nb", (const char *[]){ "ab", NULL });
	splits("$HOME `id` *;|", (const char *[]){ "$HOME", "`id`", "*;|", NULL });
}

static void open_ends_are_refused(void **state)
{
	static const char *const bad[] = { "'a", "a\n\n\"b", "a\\", "\n'x' \"a\\\"" };
	static const size_t lines[] = { 1, 3, 1, 2 };
	struct ut_arena a = { 0 };
	const char **words;
	size_t count;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct ut_err err = { 0 };
		size_t line = 0;

		assert_int_not_equal(
			ut_shell_words(&a, ut_str_of(bad[i]), &words, &count, &line, &err), 0);
		assert_int_equal(line, lines[i]);
	}
	ut_arena_release(&a);
}

static void what_is_quoted_is_read_back(void **state)
{
	static const char *const words[] = { "plain-1.2/x", "a b", "",  "it's", "$(x) `y` \\ \" *",
					     "a\nb",        "-x",  "~", "'",    "\xc3\xa9" };

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		struct ut_arena a = { 0 };
		struct ut_buf b = { 0 };
		const char **got;
		size_t count;

		ut_shell_quote(&b, words[i]);
		assert_int_equal(ut_shell_words(&a, ut_str_of(b.data), &got, &count, NULL, NULL),
				 0);
		assert_int_equal(count, 1);
		assert_string_equal(got[0], words[i]);
		ut_buf_release(&b);
		ut_arena_release(&a);
	}
}

UT_TESTS(shell_words)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blanks_part_words),
		cmocka_unit_test(quotes_and_backslashes_join_them),
		cmocka_unit_test(open_ends_are_refused),
		cmocka_unit_test(what_is_quoted_is_read_back),
	};

	return cmocka_run_group_tests_name("text/shell_words", tests, NULL, NULL);
}
