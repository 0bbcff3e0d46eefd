/* test_utr_crc.c - tests src/trace/model/utr_crc.h: the CRC-32C of the standards, in both ways. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model/utr_crc.h"
#include "support/unit.h"

/* RFC 3720, appendix B.4, and the usual check value. */
static void known_values(void **state)
{
	unsigned char bytes[32] = { 0 };

	(void)state;
	assert_int_equal(ut_utr_crc(0, "123456789", 9), 0xe3069283);
	assert_int_equal(ut_utr_crc(0, bytes, 32), 0x8a9136aa);
	memset(bytes, 0xff, sizeof(bytes));
	assert_int_equal(ut_utr_crc(0, bytes, 32), 0x62a8ab43);
	for (unsigned char i = 0; i < 32; i++)
		bytes[i] = i;
	assert_int_equal(ut_utr_crc(0, bytes, 32), 0x46dd794e);
	assert_int_equal(ut_utr_crc(0, bytes, 0), 0);
}

static void both_ways_and_all_pieces_agree(void **state)
{
	unsigned char bytes[300];

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(i * 7919 >> 3);
	for (size_t from = 0; from < 9; from++) {
		for (size_t len = 0; from + len <= sizeof(bytes); len++) {
			uint32_t whole = ut_utr_crc(0, bytes + from, len);
			uint32_t part = ut_utr_crc(0, bytes + from, len / 3);

			assert_int_equal(whole, ut_utr_crc_plain(0, bytes + from, len));
			assert_int_equal(whole,
					 ut_utr_crc(part, bytes + from + len / 3, len - len / 3));
		}
	}
}

/* Long ones take another path. */
static void long_ones_agree_as_well(void **state)
{
	static unsigned char bytes[100000];
	static const size_t lengths[] = { 12287, 12288, 12289, 24575, 24576, 36865, 99990 };

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(i * 7919 >> 3 ^ i >> 9);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		for (size_t from = 0; from < 9; from += 4) {
			uint32_t start = (uint32_t)(i * 0x1234567);

			assert_int_equal(ut_utr_crc(start, bytes + from, lengths[i]),
					 ut_utr_crc_plain(start, bytes + from, lengths[i]));
		}
	}
}

UT_TESTS(utr_crc)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_values),
		cmocka_unit_test(both_ways_and_all_pieces_agree),
		cmocka_unit_test(long_ones_agree_as_well),
	};

	return cmocka_run_group_tests_name("model/utr_crc", tests, NULL, NULL);
}
