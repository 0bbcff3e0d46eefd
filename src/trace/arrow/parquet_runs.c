#include "arrow/parquet_runs.h"

#include "arrow/parquet_thrift.h"
#include "base/str.h"

#define GROUP 8u /* packed bits come in groups of so many numbers */

unsigned int ut_parquet_bits(uint32_t most)
{
	unsigned int bits = 0;

	for (; most; most >>= 1)
		bits++;
	return bits;
}

static size_t run_at(const uint32_t *values, size_t count)
{
	size_t n = 1;

	while (n < count && values[n] == values[0])
		n++;
	return n;
}

static void put_run(struct ut_buf *to, uint32_t value, size_t count, unsigned int bits)
{
	ut_thrift_varint(to, (uint64_t)count << 1);
	for (unsigned int i = 0; i < bits; i += 8)
		ut_buf_char(to, (char)(value >> i));
}

/* The last group is filled up with zeros, which nobody reads. */
static void put_packed(struct ut_buf *to, const uint32_t *values, size_t count, unsigned int bits)
{
	size_t groups = (count + GROUP - 1) / GROUP;
	uint64_t held = 0;
	unsigned int have = 0;

	ut_thrift_varint(to, (uint64_t)groups << 1 | 1);
	for (size_t i = 0; i < groups * GROUP; i++) {
		held |= (uint64_t)(i < count ? values[i] : 0) << have;
		for (have += bits; have >= 8; have -= 8, held >>= 8)
			ut_buf_char(to, (char)held);
	}
}

/* How many numbers to pack before a run begins that is worth it: whole groups, or all. */
static size_t packed_at(const uint32_t *values, size_t count)
{
	size_t n = 0;

	while (n < count && run_at(values + n, count - n < GROUP ? count - n : GROUP) < GROUP)
		n += GROUP;
	return n < count ? n : count;
}

void ut_parquet_runs(struct ut_buf *to, const uint32_t *values, size_t count, unsigned int bits)
{
	for (size_t i = 0; i < count;) {
		size_t n = run_at(values + i, count - i);

		if (n >= GROUP) {
			put_run(to, values[i], n, bits);
		} else {
			n = packed_at(values + i, count - i);
			put_packed(to, values + i, n, bits);
		}
		i += n;
	}
}
