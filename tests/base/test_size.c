/* test_size.c - tests src/base/size.h */
#include "base/size.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/unit.h"

#define MI UINT64_C(1048576)

static uint64_t size_of(const char *text)
{
	uint64_t bytes = 0;

	assert_int_equal(ut_size_parse(text, &bytes, NULL), 0);
	return bytes;
}

static uint64_t time_of(const char *text)
{
	uint64_t ns = 0;

	assert_int_equal(ut_time_parse(text, &ns, NULL), 0);
	return ns;
}

static void sizes_as_people_write_them(void **state)
{
	(void)state;
	assert_int_equal(size_of("0"), 0);
	assert_int_equal(size_of("123"), 123);
	assert_int_equal(size_of("64M"), 64 * MI);
	assert_int_equal(size_of("64MiB"), 64 * MI);
	assert_int_equal(size_of("64 MiB"), 64 * MI);
	assert_int_equal(size_of("64m"), 64 * MI);
	assert_int_equal(size_of("1MB"), 1000000);
	assert_int_equal(size_of("1.5GiB"), 1536 * MI);
	assert_int_equal(size_of("16777215T"), UINT64_C(16777215) << 40);
}

static void times_as_people_write_them(void **state)
{
	(void)state;
	assert_int_equal(time_of("10"), UINT64_C(10000000000));
	assert_int_equal(time_of("10s"), UINT64_C(10000000000));
	assert_int_equal(time_of("0.5"), 500000000);
	assert_int_equal(time_of("250ms"), 250000000);
	assert_int_equal(time_of("2min"), UINT64_C(120000000000));
	assert_int_equal(time_of("1h"), UINT64_C(3600000000000));
}

static void nonsense_is_refused_with_an_example(void **state)
{
	static const char *const bad[] = {
		"", "M", "-1", "1.M", ".5M", "1X", "1e3", "0x10", "1M M", "10s", "inf", "1 \n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct ut_err err = { 0 };
		uint64_t bytes;

		assert_int_not_equal(ut_size_parse(bad[i], &bytes, &err), 0);
		assert_int_not_equal(err.text[0], 0);
	}
}

static void too_large_is_an_error_not_a_wrap(void **state)
{
	uint64_t v;

	(void)state;
	assert_int_not_equal(ut_size_parse("16777216T", &v, NULL), 0);
	assert_int_not_equal(ut_size_parse("99999999999999999999", &v, NULL), 0);
	assert_int_not_equal(ut_size_parse("16777216.5T", &v, NULL), 0);
	assert_int_not_equal(ut_time_parse("9999999h", &v, NULL), 0);
}

static void unit_distinguishes_size_from_time(void **state)
{
	uint64_t bytes = 1, ns = 1;

	(void)state;
	assert_int_equal(ut_size_or_time_parse("10s", &bytes, &ns, NULL), 0);
	assert_int_equal(bytes, 0);
	assert_int_equal(ns, UINT64_C(10000000000));
	assert_int_equal(ut_size_or_time_parse("64M", &bytes, &ns, NULL), 0);
	assert_int_equal(bytes, 64 * MI);
	assert_int_equal(ns, 0);
	assert_int_not_equal(ut_size_or_time_parse("10", &bytes, &ns, NULL), 0);
}

static void amounts_are_shown_with_three_digits(void **state)
{
	char buf[32];

	(void)state;
	assert_string_equal(ut_size_text(buf, sizeof(buf), 0), "0 B");
	assert_string_equal(ut_size_text(buf, sizeof(buf), 1536 * 1024), "1.50 MiB");
	assert_string_equal(ut_size_text(buf, sizeof(buf), 300 * MI), "300 MiB");
	assert_string_equal(ut_time_text(buf, sizeof(buf), 999), "999 ns");
	assert_string_equal(ut_time_text(buf, sizeof(buf), 3200000), "3.20 ms");
	assert_string_equal(ut_time_text(buf, sizeof(buf), UINT64_C(61000000000)), "61.0 s");
}

UT_TESTS(size)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_as_people_write_them),
		cmocka_unit_test(times_as_people_write_them),
		cmocka_unit_test(nonsense_is_refused_with_an_example),
		cmocka_unit_test(too_large_is_an_error_not_a_wrap),
		cmocka_unit_test(unit_distinguishes_size_from_time),
		cmocka_unit_test(amounts_are_shown_with_three_digits),
	};

	return cmocka_run_group_tests_name("base/size", tests, NULL, NULL);
}
