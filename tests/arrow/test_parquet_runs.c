/* test_parquet_runs.c - tests src/trace/arrow/parquet_runs.h: what is read back is what was
 * written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "arrow/parquet_runs.h"
#include "base/str.h"
#include "support/unit.h"

#define MOST 5000u

static uint64_t read_varint(const uint8_t **p)
{
	uint64_t value = 0;

	for (unsigned int shift = 0;; shift += 7) {
		uint8_t byte = *(*p)++;

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
}

/* Written anew from the format's own words: runs and groups of eight, lowest bits first. */
static size_t read_runs(const struct ut_buf *b, unsigned int bits, uint32_t *to)
{
	const uint8_t *p = (const uint8_t *)b->data, *end = b->len ? p + b->len : p;
	size_t count = 0;

	while (p < end) {
		uint64_t head = read_varint(&p), n = head >> 1;

		if (head & 1) {
			for (uint64_t i = 0; i < n * 8 * bits; i++) {
				uint32_t bit = p[i / 8] >> (i % 8) & 1;

				if (i % bits == 0)
					to[count + i / bits] = 0;
				to[count + i / bits] |= bit << (i % bits);
			}
			p += n * bits;
			count += n * 8;
		} else {
			uint32_t value = 0;

			for (unsigned int i = 0; i < bits; i += 8)
				value |= (uint32_t)*p++ << i;
			for (uint64_t i = 0; i < n; i++)
				to[count++] = value;
		}
	}
	assert_ptr_equal(p, end);
	return count;
}

static void check(const uint32_t *values, size_t count, unsigned int bits)
{
	static uint32_t back[MOST + 16];
	struct ut_buf b = { 0 };
	size_t read;

	ut_parquet_runs(&b, values, count, bits);
	read = read_runs(&b, bits, back);
	assert_true(read >= count && read < count + 8);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(back[i], values[i]);
	ut_buf_release(&b);
}

static void numbers_of_any_width_come_back(void **state)
{
	static uint32_t values[MOST];

	(void)state;
	for (unsigned int bits = 1; bits <= 20; bits++) {
		for (size_t i = 0; i < MOST; i++)
			values[i] = (uint32_t)(i * 2654435761u) >> (32 - bits);
		for (size_t count = 0; count < 40; count++)
			check(values, count, bits);
		check(values, MOST, bits);
	}
}

static void runs_between_others_come_back(void **state)
{
	static uint32_t values[MOST];
	uint32_t seed = 1;

	(void)state;
	for (size_t i = 0; i < MOST;) {
		size_t n = 1 + (seed = seed * 1103515245u + 12345u) / 65536u % 30;

		for (; n && i < MOST; n--)
			values[i++] = seed >> 29;
	}
	check(values, MOST, 3);
	for (size_t count = 1; count < 300; count += 7)
		check(values + count, count, 3);
}

static void a_run_is_short(void **state)
{
	static uint32_t values[MOST];
	struct ut_buf b = { 0 };

	(void)state;
	ut_parquet_runs(&b, values, MOST, 1);
	assert_true(b.len <= 3);
	ut_buf_release(&b);
	assert_int_equal(ut_parquet_bits(0), 0);
	assert_int_equal(ut_parquet_bits(1), 1);
	assert_int_equal(ut_parquet_bits(255), 8);
	assert_int_equal(ut_parquet_bits(256), 9);
}

UT_TESTS(parquet_runs)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_of_any_width_come_back),
		cmocka_unit_test(runs_between_others_come_back),
		cmocka_unit_test(a_run_is_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
