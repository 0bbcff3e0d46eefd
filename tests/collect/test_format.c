/* test_format.c - tests src/record/collect/format.h against the C library's printf. */
#include "collect/format.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include <cmocka.h>

#include "support/unit.h"
#include "wire/text.h"

static char ours[4096];

/* The compiler must not check these: what programs pass is not checked either. */
static const char *format(size_t cap, const char *text, ...)
{
	struct ut_text t = ut_text_init(ours, cap);
	va_list args;

	va_start(args, text);
	ut_format(&t, text, &args);
	va_end(args);
	return ours;
}

#define SAME(...)                                                                                  \
	do {                                                                                       \
		char theirs[4096];                                                                 \
                                                                                                   \
		snprintf(theirs, sizeof(theirs), __VA_ARGS__);                                     \
		assert_string_equal(format(sizeof(ours), __VA_ARGS__), theirs);                    \
	} while (0)

static void what_the_api_allows_prints_as_printf_does(void **state)
{
	(void)state;
	SAME("plain %d%%", 5);
	SAME("%s and %s", "one", "two");
	SAME("%.3s|%.*s", "abcdef", 2, "xyz");
	SAME("%d %i %u %x", -1, INT_MIN, UINT_MAX, 0xabcdefu);
	SAME("%ld %lu %lx %lld %llu %zu", LONG_MIN, ULONG_MAX, ULONG_MAX, LLONG_MAX, ULLONG_MAX,
	     SIZE_MAX);
	SAME("%hd %hu %hhd %hhu", (short)-5, (unsigned short)65535, (signed char)-128,
	     (unsigned char)255);
	SAME("%c%c%c", 'a', '%', 'z');
	SAME("%f %.2f %.0f %.9f", 1.5, 2.675, 0.5, 1e-9);
	SAME("%.1f %.1f %.1f", 0.25, 0.35, -0.05);
	SAME("%p", (void *)0x1234);
	SAME("%jd %td", (intmax_t)-9, (ptrdiff_t)8);
}

static void arguments_are_taken_one_by_one_whatever_their_size(void **state)
{
	(void)state;
	SAME("%d %s %lld %f %hhd %s %Lf %d", 1, "a", -1LL, 2.5, (signed char)7, "b",
	     (long double)0.25, 9);
	SAME("%f %f %f %f %f %f %f %f %f %f %d", 1., 2., 3., 4., 5., 6., 7., 8., 9., 10., 11);
	SAME("%d %d %d %d %d %d %d %d %s", 1, 2, 3, 4, 5, 6, 7, 8, "nine");
}

static void bytes_of_longer_characters_pass_unchanged(void **state)
{
	(void)state;
	SAME("%c%c", (char)0xc3, (char)0xa9);
	SAME("%s", "gr\xc3\xbc\xc3\x9f");
}

static void wide_text_becomes_utf8(void **state)
{
	(void)state;
	assert_string_equal(format(sizeof(ours), "%ls!", L"a\u00e9\u20ac\U0001f600"),
			    "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80!");
	assert_string_equal(format(sizeof(ours), "%lc", (wint_t)0x20ac), "\xe2\x82\xac");
	assert_string_equal(format(sizeof(ours), "%.2ls", L"abc"), "ab");
}

static void null_is_said(void **state)
{
	(void)state;
	assert_string_equal(format(sizeof(ours), "%s", (char *)NULL), "(null)");
}

static void width_and_flags_are_read_and_not_applied(void **state)
{
	(void)state;
	assert_string_equal(format(sizeof(ours), "%05d|%-8s|%+d|%*d", 5, "ab", 6, 10, 7),
			    "5|ab|6|7");
}

static void what_it_does_not_know_it_copies(void **state)
{
	int n = 3;

	(void)state;
	assert_string_equal(format(sizeof(ours), "%d %n %d", 1, &n, 2), "1 %n %d");
	assert_int_equal(n, 3);
	assert_string_equal(format(sizeof(ours), "%d %y", 1), "1 %y");
	assert_string_equal(format(sizeof(ours), "100%"), "100%");
	assert_string_equal(format(sizeof(ours), "%l"), "%l");
	assert_string_equal(format(sizeof(ours), "%99999999999d", 5), "5");
}

static void what_does_not_fit_is_cut(void **state)
{
	(void)state;
	assert_string_equal(format(6, "%s%d", "abc", 12345), "abc12");
	assert_string_equal(format(1, "%d", 5), "");
	assert_string_equal(format(4, "%ls", L"abcdef"), "abc");
}

UT_TESTS(format)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_api_allows_prints_as_printf_does),
		cmocka_unit_test(arguments_are_taken_one_by_one_whatever_their_size),
		cmocka_unit_test(bytes_of_longer_characters_pass_unchanged),
		cmocka_unit_test(wide_text_becomes_utf8),
		cmocka_unit_test(null_is_said),
		cmocka_unit_test(width_and_flags_are_read_and_not_applied),
		cmocka_unit_test(what_it_does_not_know_it_copies),
		cmocka_unit_test(what_does_not_fit_is_cut),
	};

	return cmocka_run_group_tests_name("collect/format", tests, NULL, NULL);
}
