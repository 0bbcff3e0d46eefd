/* test_hash.c - tests src/base/hash.h */
#include "base/hash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support/unit.h"

static void equal_bytes_hash_equal_wherever_they_lie(void **state)
{
	char buffer[128];

	(void)state;
	for (size_t len = 0; len < 64; len++) {
		uint64_t first = 0;

		for (size_t at = 0; at < 16; at++) {
			memset(buffer, (int)at, sizeof(buffer));
			for (size_t i = 0; i < len; i++)
				buffer[at + i] = (char)('a' + i % 26);
			if (!at)
				first = ut_hash_bytes(buffer, len);
			assert_int_equal(ut_hash_bytes(buffer + at, len), first);
		}
	}
}

static void every_bit_and_the_length_matter(void **state)
{
	unsigned char buffer[41] = { 0 };

	(void)state;
	for (size_t len = 1; len < sizeof(buffer); len++) {
		uint64_t zero = ut_hash_bytes(buffer, len);

		assert_int_not_equal(zero, ut_hash_bytes(buffer, len - 1));
		for (size_t bit = 0; bit < len * 8; bit++) {
			buffer[bit / 8] ^= (unsigned char)(1u << bit % 8);
			assert_int_not_equal(zero, ut_hash_bytes(buffer, len));
			buffer[bit / 8] ^= (unsigned char)(1u << bit % 8);
		}
	}
}

/* Tables use the low bits: 64 Ki names in 64 Ki slots must leave about 1/e of them empty. */
static void low_bits_of_similar_names_spread(void **state)
{
	static unsigned char seen[1 << 16];
	size_t empty = 0;
	char name[32];

	(void)state;
	for (unsigned int i = 0; i < 1 << 16; i++) {
		int len = snprintf(name, sizeof(name), "kernel_%u", i);

		seen[ut_hash_bytes(name, (size_t)len) & 0xffff] = 1;
	}
	for (size_t i = 0; i < sizeof(seen); i++)
		empty += !seen[i];
	assert_in_range(empty, 23000, 25200);
}

UT_TESTS(hash)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_bytes_hash_equal_wherever_they_lie),
		cmocka_unit_test(every_bit_and_the_length_matter),
		cmocka_unit_test(low_bits_of_similar_names_spread),
	};

	return cmocka_run_group_tests_name("base/hash", tests, NULL, NULL);
}
