#include "merge/rewrite_number.h"

#include <string.h>

#include "base/hash.h"
#include "base/json_scan.h"
#include "import/json_id.h"

#define MOST_DIGITS 18 /* 10^18 and twice that fit into an int64_t */
#define MOST_WIDTH  (UT_REWRITE_ROOM / 2)

static const int64_t power10[MOST_DIGITS + 1] = {
	1,
	10,
	100,
	1000,
	10000,
	100000,
	1000000,
	10000000,
	100000000,
	1000000000,
	10000000000,
	100000000000,
	1000000000000,
	10000000000000,
	100000000000000,
	1000000000000000,
	10000000000000000,
	100000000000000000,
	1000000000000000000,
};

/* whole + part / 10^digits, where part is never negative. */
struct fixed {
	int64_t whole, part;
	int digits;
};

/* Up to MOST_DIGITS digits; how many. */
static int read_digits(const char *p, const char *end, int64_t *value)
{
	const char *first = p;

	for (; p < end && ut_json_digit(*p) && p - first < MOST_DIGITS; p++)
		*value = *value * 10 + (*p - '0');
	return (int)(p - first);
}

/* Digits, perhaps a point and more digits. False: look closer. */
static bool read_plain(struct fixed *f, const char *p, const char *end)
{
	int n = read_digits(p, end, &f->whole);

	if (!n)
		return false;
	p += n;
	if (p < end && *p == '.') {
		p++;
		f->digits = read_digits(p, end, &f->part);
		p += f->digits;
	}
	return p == end;
}

/* Digits into a place relative to the point; those too far behind it are cut off. */
static bool place_digit(struct fixed *f, int digit, int64_t place)
{
	if (place >= MOST_DIGITS)
		return !digit;
	if (place >= 0) {
		f->whole += digit * power10[place];
		return true;
	}
	if (place >= -MOST_DIGITS) {
		f->part += digit * power10[MOST_DIGITS + place];
		f->digits = f->digits > -place ? f->digits : (int)-place;
	}
	return true;
}

/* Any JSON number without its sign: with an exponent, or with more digits than usual. */
static bool read_any(struct fixed *f, const char *p, const char *end)
{
	const char *e = p, *point, *digit;
	int64_t exponent = 0, place;
	bool negative = false;

	while (e < end && *e != 'e' && *e != 'E')
		e++;
	for (digit = e + 1; digit < end; digit++) {
		if (digit == e + 1 && (*digit == '-' || *digit == '+'))
			negative = *digit == '-';
		else if (!ut_json_digit(*digit))
			return false;
		else if (exponent < 1000)
			exponent = exponent * 10 + (*digit - '0');
	}
	exponent = negative ? -exponent : exponent;
	point = memchr(p, '.', (size_t)(e - p));
	place = (point ? point : e) - p - 1 + exponent;
	for (; p < e; p++) {
		if (p == point)
			continue;
		if (!ut_json_digit(*p) || !place_digit(f, *p - '0', place--))
			return false;
	}
	f->part /= power10[MOST_DIGITS - f->digits];
	return true;
}

/* Both signs as whole + part, part going up: -1.25 is -2 + 0.75. */
static void negate(struct fixed *f)
{
	f->whole = -f->whole - (f->part != 0);
	f->part = f->part ? power10[f->digits] - f->part : 0;
}

/* How many decimals a number of microseconds has. */
static unsigned int decimals_of(int64_t ns)
{
	return ns % 10 ? 3 : ns % 100 ? 2 : ns % 1000 ? 1 : 0;
}

static void add_ns(struct fixed *f, int64_t shift_ns)
{
	int64_t us = shift_ns / 1000, ns = shift_ns % 1000;
	int needs = (int)decimals_of(shift_ns);

	if (ns < 0) {
		ns += 1000;
		us--;
	}
	if (f->digits < needs) {
		f->part *= power10[needs - f->digits];
		f->digits = needs;
	}
	if (f->digits >= 3)
		f->part += ns * power10[f->digits - 3];
	else
		f->part += ns / power10[3 - f->digits];
	if (f->part >= power10[f->digits]) {
		f->part -= power10[f->digits];
		us++;
	}
	f->whole += us;
}

/* With zeros in front up to width, which is at most MOST_WIDTH. */
static inline char *rewrite_number_put_number(char *p, uint64_t value, unsigned int base, int width)
{
	char digits[UT_REWRITE_ROOM], *end = digits + sizeof(digits), *at = end;

	for (; at == end || value; value /= base)
		*--at = "0123456789abcdef"[value % base];
	while (end - at < width)
		*--at = '0';
	memcpy(p, at, (size_t)(end - at));
	return p + (end - at);
}

static char *put_decimal(char *p, uint64_t value, int width)
{
	return rewrite_number_put_number(p, value, 10, width);
}

static char *put_hex(char *p, uint64_t value, int width)
{
	return rewrite_number_put_number(p, value, 16, width);
}

/* Any number, quoted or not; false if it is none. */
static bool rewrite_number_read_number(struct fixed *f, struct ut_str text, bool *quoted)
{
	const char *p = text.ptr, *end = p + text.len;
	bool negative;

	*quoted = text.len > 2 && *p == '"' && end[-1] == '"';
	p += *quoted;
	end -= *quoted;
	negative = p < end && *p == '-';
	p += negative;
	*f = (struct fixed){ 0 };
	if (!read_plain(f, p, end)) {
		*f = (struct fixed){ 0 };
		if (p == end || !ut_json_digit(*p) || !read_any(f, p, end))
			return false;
	}
	if (negative)
		negate(f);
	return true;
}

/* Rounded to ns; false if it does not fit. */
static bool rewrite_number_to_ns(const struct fixed *f, int64_t *ns)
{
	int64_t part;

	if (f->digits <= 3)
		part = f->part * power10[3 - f->digits];
	else
		part = (f->part + power10[f->digits - 3] / 2) / power10[f->digits - 3];
	return !__builtin_mul_overflow(f->whole, 1000, ns) &&
	       !__builtin_add_overflow(*ns, part, ns);
}

/* What almost all times are: up to three decimals, not quoted, not negative. */
static inline bool usual_ns(struct ut_str text, unsigned int *decimals, int64_t *ns)
{
	struct ut_json_decimal d;
	const char *end = ut_json_decimal(text.ptr, &d);

	if (end != text.ptr + text.len || d.negative || d.decimals > 3 ||
	    d.digits >= UINT64_C(1000000000000000))
		return false;
	*decimals = d.decimals;
	*ns = (int64_t)d.digits * power10[3 - d.decimals];
	return true;
}

bool ut_rewrite_ns(struct ut_str text, int64_t *ns)
{
	struct fixed f;
	unsigned int decimals;
	bool quoted;

	if (!text.len)
		return false;
	return usual_ns(text, &decimals, ns) ||
	       (rewrite_number_read_number(&f, text, &quoted) && rewrite_number_to_ns(&f, ns));
}

/* A time that is not negative, with so many decimals, which are enough for it. */
static size_t put_us(char *out, int64_t ns, unsigned int decimals)
{
	char *end = put_decimal(out, (uint64_t)(ns / power10[3 - decimals]), (int)decimals + 1);

	if (decimals) {
		memmove(end - decimals + 1, end - decimals, decimals);
		end[-(int)decimals] = '.';
		end++;
	}
	return (size_t)(end - out);
}

size_t ut_rewrite_shift(char *out, struct ut_str text, int64_t shift_ns, int64_t *ns)
{
	struct fixed f;
	char *o = out;
	unsigned int decimals, needs = decimals_of(shift_ns);
	bool quoted, negative;

	if (!text.len)
		return 0;
	if (usual_ns(text, &decimals, ns) && !__builtin_add_overflow(*ns, shift_ns, ns) && *ns >= 0)
		return put_us(out, *ns, decimals > needs ? decimals : needs);
	if (!rewrite_number_read_number(&f, text, &quoted))
		return 0;
	add_ns(&f, shift_ns);
	if (!rewrite_number_to_ns(&f, ns))
		return 0;
	negative = f.whole < 0;
	if (negative)
		negate(&f); /* its own inverse: now both parts are of the absolute value */
	if (quoted)
		*o++ = '"';
	if (negative)
		*o++ = '-';
	o = put_decimal(o, (uint64_t)f.whole, 1);
	if (f.digits) {
		*o++ = '.';
		o = put_decimal(o, (uint64_t)f.part, f.digits);
	}
	if (quoted)
		*o++ = '"';
	return (size_t)(o - out);
}

bool ut_rewrite_id(struct ut_str text, uint64_t *value)
{
	if (text.len && ut_json_small(text.ptr, value) == text.ptr + text.len)
		return true;
	return text.len && ut_id_number(text, value) && *value < UT_REWRITE_ID_MOST;
}

size_t ut_rewrite_add(char *out, struct ut_str text, uint64_t add)
{
	struct ut_str digits;
	char *o = out;
	bool quoted, hex;
	uint64_t value;
	int width;

	if (!ut_rewrite_id(text, &value))
		return 0;
	quoted = *text.ptr == '"';
	digits = ut_id_digits(text, &hex);
	width = !quoted ? 1 : digits.len < MOST_WIDTH ? (int)digits.len : MOST_WIDTH;
	if (quoted)
		*o++ = '"';
	if (hex) {
		*o++ = '0';
		*o++ = 'x';
	}
	o = (hex ? put_hex : put_decimal)(o, value + add, width);
	if (quoted)
		*o++ = '"';
	return (size_t)(o - out);
}

/* What stands for anything that can be no id at all, such as a list: the same for the same text. */
static size_t spell_other(char *out, struct ut_str text)
{
	return (size_t)(put_hex(out, ut_hash_bytes(text.ptr, text.len), 16) - out);
}

size_t ut_rewrite_own(char *out, struct ut_str text, const char *prefix)
{
	uint64_t value;
	char *o = out;

	if (strlen(prefix) > UT_REWRITE_ROOM - UT_ID_ROOM - 3)
		return 0;
	*o++ = '"';
	o = stpcpy(o, prefix);
	if (ut_id_number(text, &value)) {
		o = put_hex(stpcpy(o, "0x"), value, 1);
	} else {
		size_t len = ut_id_spell(text, o);

		o += len ? len : spell_other(o, text);
	}
	*o++ = '"';
	return (size_t)(o - out);
}
