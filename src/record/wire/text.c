/* text.c - see text.h. */
#include "wire/text.h"

#include <string.h>

struct ut_text ut_text_init(char *buf, size_t cap)
{
	buf[0] = '\0';
	return (struct ut_text){ .buf = buf, .cap = cap };
}

void ut_text_bytes(struct ut_text *t, const char *s, size_t len)
{
	size_t space = t->cap - 1 - t->len;

	if (len > space) {
		len = space;
		t->cut = true;
	}
	memcpy(t->buf + t->len, s, len);
	t->len += len;
	t->buf[t->len] = '\0';
}

void ut_text_str(struct ut_text *t, const char *s)
{
	if (!s)
		s = "(null)";
	ut_text_bytes(t, s, strlen(s));
}

static void digits(struct ut_text *t, uint64_t value, unsigned int base, unsigned int least)
{
	char tmp[64];
	unsigned int n = 0;

	do {
		tmp[sizeof(tmp) - ++n] = "0123456789abcdef"[value % base];
		value /= base;
	} while (value || n < least);
	ut_text_bytes(t, tmp + sizeof(tmp) - n, n);
}

void ut_text_u64(struct ut_text *t, uint64_t value)
{
	digits(t, value, 10, 1);
}

void ut_text_i64(struct ut_text *t, int64_t value)
{
	if (value < 0)
		ut_text_bytes(t, "-", 1);
	digits(t, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, 10, 1);
}

void ut_text_hex(struct ut_text *t, uint64_t value)
{
	digits(t, value, 16, 1);
}

__extension__ typedef unsigned __int128 u128;

/*
 * The fraction (less than 1) times scale, rounded to the nearest, ties to the even neighbour:
 * exactly as printf does it, so in whole numbers. even says how the digits in front end.
 */
static uint64_t scaled(double fraction, uint64_t scale, bool even)
{
	uint64_t bits, part;
	u128 product, rest, half;
	unsigned int shift;

	memcpy(&bits, &fraction, sizeof(bits));
	shift = 1075 - (unsigned int)(bits >> 52); /* fraction = mantissa / 2^shift */
	if (shift > 120)
		return 0; /* less than half of the ninth decimal */
	product = (u128)((bits & ((1ull << 52) - 1)) | 1ull << 52) * scale;
	part = (uint64_t)(product >> shift);
	rest = product - ((u128)part << shift);
	half = (u128)1 << (shift - 1);
	if (scale > 1)
		even = !(part & 1);
	return part + (rest > half || (rest == half && !even));
}

void ut_text_double(struct ut_text *t, double value, unsigned int decimals)
{
	uint64_t scale = 1, whole, part;
	int exponent = 0;

	if (value != value) {
		ut_text_str(t, "nan");
		return;
	}
	if (__builtin_signbit(value))
		ut_text_bytes(t, "-", 1);
	value = value < 0 ? -value : value;
	if (value > 1.7e308) {
		ut_text_str(t, "inf");
		return;
	}
	for (; value >= 9.2e18; exponent++)
		value /= 10;
	for (unsigned int i = 0; i < decimals && i < 9; i++)
		scale *= 10;
	whole = (uint64_t)value;
	part = scaled(value - (double)whole, scale, !(whole & 1));
	if (part >= scale) {
		whole++;
		part -= scale;
	}
	digits(t, whole, 10, 1);
	if (decimals) {
		ut_text_bytes(t, ".", 1);
		digits(t, part, 10, decimals < 9 ? decimals : 9);
	}
	if (exponent) {
		ut_text_bytes(t, "e", 1);
		digits(t, (uint64_t)exponent, 10, 1);
	}
}
