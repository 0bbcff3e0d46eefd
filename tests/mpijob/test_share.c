/* test_share.c - tests src/trace/mpijob/share.h. */
#include "mpijob/share.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/unit.h"

/* Parts follow each other and cover everything; returns the largest part's size. */
static uint64_t check_parts(const uint64_t *sizes, size_t n, unsigned int parts)
{
	uint64_t largest = 0;
	size_t next = 0;

	for (unsigned int part = 0; part < parts; part++) {
		uint64_t sum = 0;
		size_t first, count;

		ut_share(sizes, n, parts, part, &first, &count);
		if (count)
			assert_int_equal(first, next);
		next += count;
		for (size_t i = first; i < first + count; i++)
			sum += sizes[i];
		largest = sum > largest ? sum : largest;
	}
	assert_int_equal(next, n);
	return largest;
}

static void parts_cover_the_list_in_order(void **state)
{
	static const uint64_t mixed[] = { 5, 0, 0, 1000, 3, 3, 70, 0, 12, 1 };

	(void)state;
	for (unsigned int parts = 1; parts < 40; parts++) {
		for (size_t n = 0; n <= 10; n++)
			check_parts(mixed, n, parts);
	}
}

static void equal_files_give_equal_parts(void **state)
{
	uint64_t sizes[64];

	(void)state;
	for (size_t i = 0; i < 64; i++)
		sizes[i] = UINT64_C(1) << 33;
	assert_int_equal(check_parts(sizes, 64, 4), UINT64_C(16) << 33);
	assert_int_equal(check_parts(sizes, 64, 64), UINT64_C(1) << 33);
	assert_int_equal(check_parts(sizes, 64, 3), UINT64_C(22) << 33);
}

static void a_large_file_has_a_part_to_itself(void **state)
{
	static const uint64_t sizes[] = { 10, 10, 1000, 10, 10 };
	size_t first, count;

	(void)state;
	ut_share(sizes, 5, 2, 0, &first, &count);
	assert_int_equal(count, 3);
	assert_true(check_parts(sizes, 5, 5) <= 1010);
}

UT_TESTS(share)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_cover_the_list_in_order),
		cmocka_unit_test(equal_files_give_equal_parts),
		cmocka_unit_test(a_large_file_has_a_part_to_itself),
	};

	return cmocka_run_group_tests_name("mpijob/share", tests, NULL, NULL);
}
