/*
 * digits.h - numbers as text, straight into a buffer. Inline because an exporter prints two of
 * them per event: eight digits at a time, a tenth of what printf takes (15 against 143 ns here).
 *
 * Each function writes at p and returns the end; no NUL. Up to 7 bytes behind the end may be
 * overwritten, so give it UT_DIGITS_ROOM bytes.
 */
#ifndef UT_TEXT_DIGITS_H
#define UT_TEXT_DIGITS_H

#include <stdint.h>
#include <string.h>

#define UT_DIGITS_ROOM 32

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "digits are packed low byte first");

/* Eight decimal digits of v < 10^8 as numbers 0..9, the first one in the lowest byte. */
static inline uint64_t ut_digits_split(uint32_t v)
{
	uint64_t x = v / 10000 | (uint64_t)(v % 10000) << 32; /* two lanes below 10^4 */
	uint64_t q = (x * 10486 >> 20) & 0x7f0000007full;     /* each / 100, exact in that range */

	x = q | (x - q * 100) << 16;                 /* four lanes below 100 */
	q = (x * 103 >> 10) & 0x000f000f000f000full; /* each / 10, exact in that range */
	return q | (x - q * 10) << 8;
}

static inline char *ut_digits_eight(char *p, uint32_t v)
{
	uint64_t x = ut_digits_split(v) + 0x3030303030303030ull;

	memcpy(p, &x, 8);
	return p + 8;
}

/* Without leading zeros; v < 10^8. */
static inline char *ut_digits_some(char *p, uint32_t v)
{
	uint64_t x = ut_digits_split(v);
	/* the last digit is always shown: pretend that it is not zero */
	int zeros = __builtin_ctzll(x | 1ull << 56) / 8;

	x = (x + 0x3030303030303030ull) >> zeros * 8;
	memcpy(p, &x, 8);
	return p + 8 - zeros;
}

static inline char *ut_digits_u64(char *p, uint64_t v)
{
	const uint64_t e8 = 100000000;

	if (v < e8)
		return ut_digits_some(p, (uint32_t)v);
	if (v < e8 * e8) {
		p = ut_digits_some(p, (uint32_t)(v / e8));
		return ut_digits_eight(p, (uint32_t)(v % e8));
	}
	p = ut_digits_some(p, (uint32_t)(v / e8 / e8));
	p = ut_digits_eight(p, (uint32_t)(v / e8 % e8));
	return ut_digits_eight(p, (uint32_t)(v % e8));
}

/* Nanoseconds as microseconds with three decimals, exactly; a double loses them past 2^53 ns. */
static inline char *ut_digits_us(char *p, uint64_t ns)
{
	uint32_t rest = (uint32_t)(ns % 1000);

	p = ut_digits_u64(p, ns / 1000);
	p[0] = '.';
	p[1] = (char)('0' + rest / 100);
	p[2] = (char)('0' + rest / 10 % 10);
	p[3] = (char)('0' + rest % 10);
	return p + 4;
}

/* 0x and lower-case hex. */
static inline char *ut_digits_hex(char *p, uint64_t v)
{
	int shift = v ? 60 - (__builtin_clzll(v) & ~3) : 0;

	*p++ = '0';
	*p++ = 'x';
	for (; shift >= 0; shift -= 4)
		*p++ = "0123456789abcdef"[v >> shift & 15];
	return p;
}

#endif
