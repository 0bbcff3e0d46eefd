/*
 * json_number.c - numbers without loss: whole ones in 64 bits, decimal ones correctly rounded.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/grow.h"
#include "base/json_scan.h"

#define POWERS 20 /* 10^19 is the last that fits */

static const uint64_t power10[POWERS] = {
	1u,
	10u,
	100u,
	1000u,
	10000u,
	100000u,
	1000000u,
	10000000u,
	100000000u,
	1000000000u,
	10000000000u,
	100000000000u,
	1000000000000u,
	10000000000000u,
	100000000000000u,
	1000000000000000u,
	10000000000000000u,
	100000000000000000u,
	1000000000000000000u,
	10000000000000000000u,
};

/* Whole doubles up to here are exact, and so are the powers of ten up to 10^22. */
#define EXACT_INT   (UINT64_C(1) << 53)
#define EXACT_POWER 22

/* sign * (digits.rest) * 10^exp10, where rest stands for digits that found no room. */
struct decimal {
	uint64_t digits;
	int64_t exp10;
	bool negative;
	bool whole;    /* neither point nor exponent */
	bool full;     /* there is a rest... */
	bool round_up; /* ... of at least a half */
	bool strict;   /* as JSON wants it */
};

static void add_digit(struct decimal *d, unsigned int digit, bool fraction)
{
	uint64_t next;

	if (!d->full && !__builtin_mul_overflow(d->digits, UINT64_C(10), &next) &&
	    !__builtin_add_overflow(next, digit, &next)) {
		d->digits = next;
		d->exp10 -= fraction;
		return;
	}
	if (!d->full)
		d->round_up = digit >= 5;
	d->full = true;
	d->exp10 += !fraction;
}

static const char *read_exponent(struct decimal *d, const char *p, const char *end)
{
	bool negative = false;
	int64_t e = 0;
	const char *first;

	if (p < end && (*p == '+' || *p == '-'))
		negative = *p++ == '-';
	first = p;
	for (; p < end && ut_json_digit(*p); p++)
		e = e < 1000000 ? e * 10 + (*p - '0') : e;
	if (p == first)
		return NULL;
	d->exp10 += negative ? -e : e;
	return p;
}

/* Behind the number that starts at p; NULL if there is none. */
static const char *read_decimal(struct decimal *d, const char *p, const char *end)
{
	const char *first, *point;

	*d = (struct decimal){ .whole = true, .strict = true };
	if (p < end && (*p == '-' || *p == '+')) {
		d->negative = *p == '-';
		d->strict = *p++ == '-';
	}
	for (first = p; p < end && ut_json_digit(*p); p++)
		add_digit(d, (unsigned int)(*p - '0'), false);
	if (p == first || (*first == '0' && p > first + 1))
		d->strict = false;
	if (p < end && *p == '.') {
		d->whole = false;
		for (point = p++; p < end && ut_json_digit(*p); p++)
			add_digit(d, (unsigned int)(*p - '0'), true);
		if (p == point + 1)
			d->strict = false;
		if (p == point + 1 && point == first)
			return NULL; /* only a point */
	} else if (p == first) {
		return NULL;
	}
	if (p < end && (*p == 'e' || *p == 'E')) {
		d->whole = false;
		p = read_exponent(d, p + 1, end);
	}
	return p;
}

static bool not_finite(struct ut_str text, double *out)
{
	static const char *const words[] = { "nan", "inf", "infinity" };
	bool negative = text.len && text.ptr[0] == '-';

	if (text.len && (text.ptr[0] == '-' || text.ptr[0] == '+')) {
		text.ptr++;
		text.len--;
	}
	for (int i = 0; i < 3; i++) {
		if (text.len != strlen(words[i]) || strncasecmp(text.ptr, words[i], text.len))
			continue;
		*out = i ? (double)INFINITY : (double)NAN;
		*out = negative && i ? -*out : *out;
		return true;
	}
	return false;
}

static double nearest(const struct decimal *d, struct ut_str text)
{
	static const double exact[EXACT_POWER + 1] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,
						       1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
						       1e12, 1e13, 1e14, 1e15, 1e16, 1e17,
						       1e18, 1e19, 1e20, 1e21, 1e22 };
	char small[64], *copy = small;
	double value;

	if (!d->full && d->digits <= EXACT_INT && d->exp10 >= -EXACT_POWER &&
	    d->exp10 <= EXACT_POWER) {
		value = (double)d->digits;
		value = d->exp10 < 0 ? value / exact[-d->exp10] : value * exact[d->exp10];
		return d->negative ? -value : value;
	}
	if (text.len >= sizeof(small))
		copy = ut_make(text.len + 1);
	memcpy(copy, text.ptr, text.len);
	copy[text.len] = 0;
	value = strtod(copy, NULL);
	if (copy != small)
		free(copy);
	return value;
}

enum ut_json_type ut_json_number(struct ut_str text, struct ut_json_number *n)
{
	const char *end = text.ptr + text.len;
	struct decimal d;

	*n = (struct ut_json_number){ 0 };
	if (read_decimal(&d, text.ptr, end) != end)
		return not_finite(text, &n->f64) ? UT_JSON_F64 : UT_JSON_NOT;
	n->f64 = nearest(&d, text);
	if (!d.whole || (d.negative && !d.digits)) /* -0 is no integer */
		return UT_JSON_F64;
	if (d.full || (d.negative && d.digits > UINT64_C(1) << 63))
		return UT_JSON_BIG;
	if (d.negative) {
		n->i64 = (int64_t)(0 - d.digits);
		return UT_JSON_I64;
	}
	n->u64 = d.digits;
	return UT_JSON_U64;
}

bool ut_json_strict_number(struct ut_str text)
{
	struct decimal d;

	return read_decimal(&d, text.ptr, text.ptr + text.len) == text.ptr + text.len && d.strict;
}

bool ut_json_scaled(struct ut_str text, int scale, int64_t *out)
{
	const char *end = text.ptr + text.len;
	struct decimal d;
	uint64_t v, part;
	int64_t e;

	if (read_decimal(&d, text.ptr, end) != end)
		return false;
	v = d.digits;
	e = d.exp10 + scale;
	if (v && e >= 0) {
		if (e >= POWERS || (d.full && e) || __builtin_mul_overflow(v, power10[e], &v) ||
		    __builtin_add_overflow(v, (uint64_t)d.round_up, &v))
			return false;
	} else if (e < 0 && e > -POWERS) {
		part = v % power10[-e];
		v /= power10[-e];
		v += part >= power10[-e] - part; /* ties go away from zero */
	} else if (e < 0) {
		v = 0; /* 10^20 is more than twice what fits */
	}
	if (v > (uint64_t)INT64_MAX + d.negative)
		return false;
	*out = (int64_t)(d.negative ? 0 - v : v);
	return true;
}

static bool word_byte(char c)
{
	return ut_json_digit(c) || ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '.' || c == '-' ||
	       c == '+' || c == '_';
}

const char *ut_json_word(struct ut_json *j, const char *p)
{
	struct ut_json_number n;
	const char *q = p;

	while (word_byte(*q))
		q++;
	if (q >= j->end && !j->eof) {
		ut_json_stop(j, j->end, NULL);
		return NULL;
	}
	if (q == p) {
		ut_json_stop(j, p, "no value where one should be");
		return NULL;
	}
	if (ut_json_strict_number((struct ut_str){ p, (size_t)(q - p) }))
		return q;
	if ((q - p == 4 && (!memcmp(p, "true", 4) || !memcmp(p, "null", 4))) ||
	    (q - p == 5 && !memcmp(p, "false", 5)))
		return q;
	if (ut_json_number((struct ut_str){ p, (size_t)(q - p) }, &n) == UT_JSON_NOT) {
		ut_json_stop(j, p, "a word that is no JSON value");
		return NULL;
	}
	ut_json_note(j, UT_JSON_NUMBER, p);
	return q;
}
