/* format.c - see format.h. */
#include "collect/format.h"

#include <stdint.h>
#include <string.h>
#include <wchar.h>

#include "base/utf8.h"
#include "wire/text.h"

enum size {
	SIZE_INT,
	SIZE_CHAR,
	SIZE_SHORT,
	SIZE_LONG,
	SIZE_LONG_DOUBLE
};

struct conversion {
	enum size size;
	int precision; /* -1 = none given */
	char type;
};

static int format_number(const char **p, va_list *args)
{
	int value = 0;

	if (**p == '*') {
		(*p)++;
		return va_arg(*args, int);
	}
	for (; **p >= '0' && **p <= '9'; (*p)++)
		if (value < 100000)
			value = value * 10 + (**p - '0');
	return value;
}

static const char *format_parse(const char *p, struct conversion *c, va_list *args)
{
	*c = (struct conversion){ .precision = -1 };
	p += strspn(p, "-+ #0'");
	format_number(&p, args); /* the width */
	if (*p == '.') {
		p++;
		c->precision = format_number(&p, args);
	}
	for (; *p && strchr("hlzjtqL", *p); p++) {
		if (*p == 'h')
			c->size = c->size == SIZE_SHORT ? SIZE_CHAR : SIZE_SHORT;
		else
			c->size = *p == 'L' ? SIZE_LONG_DOUBLE : SIZE_LONG;
	}
	c->type = *p;
	return *p ? p + 1 : p;
}

static int64_t signed_arg(enum size size, va_list *args)
{
	if (size >= SIZE_LONG)
		return va_arg(*args, long);
	if (size == SIZE_SHORT)
		return (short)va_arg(*args, int);
	if (size == SIZE_CHAR)
		return (signed char)va_arg(*args, int);
	return va_arg(*args, int);
}

static uint64_t unsigned_arg(enum size size, va_list *args)
{
	if (size >= SIZE_LONG)
		return va_arg(*args, unsigned long);
	if (size == SIZE_SHORT)
		return (unsigned short)va_arg(*args, int);
	if (size == SIZE_CHAR)
		return (unsigned char)va_arg(*args, int);
	return va_arg(*args, unsigned int);
}

static double double_arg(enum size size, va_list *args)
{
	return size == SIZE_LONG_DOUBLE ? (double)va_arg(*args, long double)
					: va_arg(*args, double);
}

static void put_rune(struct ut_text *text, uint32_t c)
{
	char utf8[4];

	ut_text_bytes(text, utf8, ut_utf8_put(utf8, c));
}

/* A byte as it is, which may be a part of a longer character; or a wide character. */
static void put_char(struct ut_text *text, enum size size, int c)
{
	char byte = (char)c;

	if (size == SIZE_LONG)
		put_rune(text, (uint32_t)c);
	else
		ut_text_bytes(text, &byte, 1);
}

static void format_put_string(struct ut_text *text, const struct conversion *c, va_list *args)
{
	size_t most = c->precision >= 0 ? (size_t)c->precision : SIZE_MAX;

	if (c->size == SIZE_LONG) {
		const wchar_t *w = va_arg(*args, const wchar_t *);

		for (size_t i = 0; w && i < most && w[i] && !text->cut; i++)
			put_rune(text, (uint32_t)w[i]);
	} else {
		const char *s = va_arg(*args, const char *);

		if (!s)
			s = "(null)"; /* oneDNN's workers pass it */
		ut_text_bytes(text, s, most == SIZE_MAX ? strlen(s) : strnlen(s, most));
	}
}

static int format_put(struct ut_text *text, const struct conversion *c, va_list *args)
{
	switch (c->type) {
	case 's':
		format_put_string(text, c, args);
		return 1;
	case 'd':
	case 'i':
		ut_text_i64(text, signed_arg(c->size, args));
		return 1;
	case 'u':
		ut_text_u64(text, unsigned_arg(c->size, args));
		return 1;
	case 'x':
	case 'X':
		ut_text_hex(text, unsigned_arg(c->size, args));
		return 1;
	case 'c':
		put_char(text, c->size, va_arg(*args, int));
		return 1;
	case 'p':
		ut_text_str(text, "0x");
		ut_text_hex(text, (uint64_t)(uintptr_t)va_arg(*args, void *));
		return 1;
	case 'f':
	case 'F':
	case 'e':
	case 'g':
		ut_text_double(text, double_arg(c->size, args),
			       c->precision < 0 ? 6 : (unsigned int)c->precision);
		return 1;
	case '%':
		ut_text_bytes(text, "%", 1);
		return 1;
	default:
		return 0;
	}
}

void ut_format(struct ut_text *text, const char *format, va_list *args)
{
	const char *p = format;

	while (*p) {
		const char *percent = strchr(p, '%');
		struct conversion c;
		const char *next;

		if (!percent)
			break;
		ut_text_bytes(text, p, (size_t)(percent - p));
		next = format_parse(percent + 1, &c, args);
		if (!format_put(text, &c, args)) {
			p = percent;
			break;
		}
		p = next;
	}
	ut_text_str(text, p);
}
