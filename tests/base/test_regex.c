/* test_regex.c - tests src/base/regex.h */
#include "base/regex.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/unit.h"

static int compiled(const char *pattern)
{
	regex_t regex;
	int rc = ut_regex(&regex, pattern, strlen(pattern), NULL);

	if (!rc)
		regfree(&regex);
	return rc;
}

static int extended(const char *pattern)
{
	regex_t regex;
	int rc = ut_regex_extended(&regex, pattern, NULL);

	if (!rc)
		regfree(&regex);
	return rc;
}

static int matches(const char *pattern, const char *text)
{
	regex_t regex;
	int found;

	assert_int_equal(ut_regex(&regex, pattern, strlen(pattern), NULL), 0);
	found = !regexec(&regex, text, 0, NULL, 0);
	regfree(&regex);
	return found;
}

/* The word n times between a beginning and an end; to be freed. */
static char *many(const char *begin, const char *word, size_t n, const char *end)
{
	size_t len = strlen(word);
	char *text = malloc(strlen(begin) + n * len + strlen(end) + 1), *at;

	assert_non_null(text);
	at = text + sprintf(text, "%s", begin);
	for (size_t i = 0; i < n; i++)
		at += sprintf(at, "%s", word);
	sprintf(at, "%s", end);
	return text;
}

static void refused(const char *begin, const char *word, size_t n, const char *end)
{
	char *text = many(begin, word, n, end);

	assert_int_equal(compiled(text), -EINVAL);
	assert_int_equal(extended(text), -EINVAL);
	free(text);
}

static void taken(const char *begin, const char *word, size_t n, const char *end)
{
	char *text = many(begin, word, n, end);

	assert_int_equal(compiled(text), 0);
	assert_int_equal(extended(text), 0);
	free(text);
}

static void patterns_of_python_are_translated(void **state)
{
	(void)state;
	assert_true(matches("^\\d+$", "123"));
	assert_false(matches("^\\D+$", "123"));
	assert_true(matches("(?i)GEMM", "sgemm_128"));
	assert_true(matches("^(?:a|b)+?c", "abac"));
	assert_true(matches("[\\w.]+\\]", "a.b]"));
	assert_int_equal(compiled("(a)\\1"), -EINVAL);
	assert_int_equal(compiled("a(?=b)"), -EINVAL);
	assert_int_equal(compiled("[a"), -EINVAL);
}

static void repetitions_of_repetitions_are_refused(void **state)
{
	(void)state;
	refused("a", "+", 40, "");
	refused("a+++++++++?????????", "a?+", 1, "");
	refused("((((((((((((((a", ")+", 14, "");
	refused("", "(a", 1, "{200}){200}");
	refused("a", "{2}", 40, "");
	refused("(((a{30}){30}){30}){30}", "", 0, "");
	refused("", "a?", 50000, "");
	refused("", "(|a)", 50000, "");
	refused("a{0,30000}", "", 0, "");
	refused("a{20000,}", "", 0, "");
	refused("[[:alpha:]]{300}{300}", "", 0, "");
}

static void groups_of_groups_are_refused(void **state)
{
	(void)state;
	refused("", "(", 100000, "a");
	refused("", "(", 100000, "");
}

static void what_people_write_is_taken(void **state)
{
	(void)state;
	taken("x", "|void at::native::vectorized_elementwise_kernel<4>", 300, "");
	taken("^[0-9a-f]{64}$", "", 0, "");
	taken("(([a-z]+_)*[0-9]{1,3}){1,4}", "", 0, "");
	taken("((((((((((((((((a", ")?", 16, "");
	taken("a{1000}", "", 0, "");
	taken("[]+*{}]+[^]{]{3}", "", 0, "");
	taken("a{,3}b{2,}", "", 0, "");
}

UT_TESTS(regex)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patterns_of_python_are_translated),
		cmocka_unit_test(repetitions_of_repetitions_are_refused),
		cmocka_unit_test(groups_of_groups_are_refused),
		cmocka_unit_test(what_people_write_is_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
