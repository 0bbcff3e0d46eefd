/*
 * unwind_bytes.h - a walk along bytes of DWARF that knows where they end.
 */
#ifndef UT_SYMBOL_UNWIND_BYTES_H
#define UT_SYMBOL_UNWIND_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct ut_bytes {
	const uint8_t *at, *end;
	bool bad; /* something was read behind the end: all that follows is 0 */
};

static inline uint64_t ut_bytes_fixed(struct ut_bytes *b, unsigned int size)
{
	uint64_t value = 0;

	if (b->bad || size > (uint64_t)(b->end - b->at)) {
		b->bad = true;
		return 0;
	}
	memcpy(&value, b->at, size); /* little-endian, as the file is */
	b->at += size;
	return value;
}

static inline int64_t ut_bytes_signed(struct ut_bytes *b, unsigned int size)
{
	uint64_t value = ut_bytes_fixed(b, size);
	unsigned int shift = 64 - 8 * size;

	return (int64_t)(value << shift) >> shift;
}

static inline uint64_t ut_bytes_uleb(struct ut_bytes *b)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; shift < 64; shift += 7) {
		uint64_t byte = ut_bytes_fixed(b, 1);

		value |= (byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	b->bad = true;
	return 0;
}

static inline int64_t ut_bytes_sleb(struct ut_bytes *b)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; shift < 64; shift += 7) {
		uint64_t byte = ut_bytes_fixed(b, 1);

		value |= (byte & 0x7f) << shift;
		if (byte & 0x80)
			continue;
		if (byte & 0x40 && shift < 57)
			value |= ~UINT64_C(0) << (shift + 7);
		return (int64_t)value;
	}
	b->bad = true;
	return 0;
}

static inline void ut_bytes_skip(struct ut_bytes *b, uint64_t count)
{
	if (b->bad || count > (uint64_t)(b->end - b->at))
		b->bad = true;
	else
		b->at += count;
}

#endif
