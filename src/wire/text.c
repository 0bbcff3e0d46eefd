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
	part = (uint64_t)((value - (double)whole) * (double)scale + 0.5);
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
