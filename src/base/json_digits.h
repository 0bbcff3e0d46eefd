/*
 * json_digits.h - numbers of the usual kinds, eight digits at a time. Inline, because a trace has a
 * dozen of them per event. They may read up to 8 bytes behind a number: the window is padded.
 */
#ifndef UT_BASE_JSON_DIGITS_H
#define UT_BASE_JSON_DIGITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the first byte is the lowest");

static inline bool ut_json_digit(char c)
{
	return (unsigned char)(c - '0') < 10;
}

/*
 * The high bits of the bytes that are no digits: above '9', below '0' (which spoils only the bytes
 * behind it) or no ASCII. The lowest bit set is right.
 */
static inline uint64_t ut_json_no_digits(uint64_t x)
{
	return (x | (x + UINT64_C(0x4646464646464646)) | (x - UINT64_C(0x3030303030303030))) &
	       UINT64_C(0x8080808080808080);
}

/* The first byte from p on that is no digit. */
static inline const char *ut_json_digits(const char *p)
{
	uint64_t x, other;

	for (;; p += 8) {
		memcpy(&x, p, 8);
		other = ut_json_no_digits(x);
		if (other)
			return p + __builtin_ctzll(other) / 8;
	}
}

/*
 * Up to eight digits at p at once, without a loop: how many there are, and value with them behind
 * its own. The digits are moved to the end of the word, as if zeros stood in front of them, and
 * added up in pairs, fours and eight.
 */
static inline unsigned int ut_json_run(const char *p, uint64_t *value)
{
	static const uint32_t power[] = { 1,      10,      100,      1000,     10000,
					  100000, 1000000, 10000000, 100000000 };
	uint64_t x, other;
	unsigned int n;

	memcpy(&x, p, 8);
	other = ut_json_no_digits(x);
	n = other ? (unsigned int)__builtin_ctzll(other) / 8 : 8;
	if (!n)
		return 0;
	x <<= 64 - 8 * n;
	x = (x & UINT64_C(0x0f0f0f0f0f0f0f0f)) * 2561 >> 8;
	x = (x & UINT64_C(0x00ff00ff00ff00ff)) * 6553601 >> 16;
	x = (x & UINT64_C(0x0000ffff0000ffff)) * UINT64_C(42949672960001) >> 32;
	*value = *value * power[n] + x;
	return n;
}

/* May this byte follow a number? A comma, a closing bracket or a blank. */
static inline bool ut_json_ends(char c)
{
	const uint64_t low = UINT64_C(1) << ',' | UINT64_C(1) << ' ' | UINT64_C(1) << '\n' |
			     UINT64_C(1) << '\r' | UINT64_C(1) << '\t';
	unsigned char byte = (unsigned char)c;

	return byte < 64 ? low >> byte & 1 : (byte | 32) == '}';
}

/* Behind a whole number of up to 8 digits, which most are; NULL if it is something else. */
static inline const char *ut_json_small(const char *p, uint64_t *value)
{
	unsigned int n;

	*value = 0;
	n = ut_json_run(p, value);
	if (!n || !ut_json_ends(p[n]) || (*p == '0' && n > 1))
		return NULL;
	return p + n;
}

/* The same for up to 19 digits, which always fit: ids of threads. */
static inline const char *ut_json_whole(const char *p, uint64_t *value)
{
	const char *first = p;
	unsigned int n;

	*value = 0;
	do
		p += n = ut_json_run(p, value);
	while (n == 8 && p - first <= 16);
	if (p == first || p - first > 19 || !ut_json_ends(*p) || (*first == '0' && p > first + 1))
		return NULL;
	return p;
}

/*
 * Microseconds as nanoseconds, rounded to nearest, ties away from zero. Behind the number if it is
 * of a usual kind (up to 16 digits, up to 8 decimals); NULL: ut_json_scaled() must look closer.
 */
static inline const char *ut_json_ns(const char *p, int64_t *ns)
{
	static const uint32_t up[] = { 1000, 100, 10 };
	static const uint32_t down[] = { 1, 10, 100, 1000, 10000, 100000 };
	const bool negative = *p == '-';
	const char *first = p += negative;
	uint64_t us = 0, part = 0;
	unsigned int n;

	do
		p += n = ut_json_run(p, &us);
	while (n == 8 && p - first <= 8);
	if (p == first || (*first == '0' && p > first + 1))
		return NULL;
	if (*p == '.') {
		n = ut_json_run(++p, &part);
		if (!n)
			return NULL;
		p += n;
		if (n < 3)
			part *= up[n];
		else if (n > 3)
			part = ((uint32_t)part + down[n - 3] / 2) / down[n - 3];
	}
	if (!ut_json_ends(*p) || us > INT64_MAX / 1000 - 1)
		return NULL;
	*ns = (int64_t)(us * 1000 + part);
	*ns = negative ? -*ns : *ns;
	return p;
}

/* A decimal number of a usual kind: digits / 10^decimals. */
struct ut_json_decimal {
	uint64_t digits;
	unsigned int decimals;
	bool negative, point;
};

/*
 * Behind the number at p if it has at most 18 digits, no exponent, and a delimiter follows; NULL:
 * ut_json_skip() and ut_json_number() or ut_json_scaled() must look closer.
 */
static inline const char *ut_json_decimal(const char *p, struct ut_json_decimal *d)
{
	const char *first, *dot;
	uint64_t v = 0;
	unsigned int n;

	d->negative = *p == '-';
	first = p += d->negative;
	do
		p += n = ut_json_run(p, &v);
	while (n == 8 && p - first <= 16);
	if (p == first || (*first == '0' && p > first + 1))
		return NULL;
	d->point = *p == '.';
	d->decimals = 0;
	if (d->point) {
		dot = ++p;
		do
			p += n = ut_json_run(p, &v);
		while (n == 8 && p - first <= 16);
		d->decimals = (unsigned int)(p - dot);
		if (!d->decimals)
			return NULL;
	}
	d->digits = v;
	/* what has more digits may have overflowed */
	if (p - first > 18 + d->point)
		return NULL;
	return ut_json_ends(*p) ? p : NULL;
}

#endif
