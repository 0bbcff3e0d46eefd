#include "text/shortest.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text/digits.h"

__extension__ typedef unsigned __int128 wide;

#define MANTISSA  52
#define SMALL_EXP 59 /* fraction bits up to which 64 bits are enough */
#define WIDE_EXP  120

/*
 * The digits behind the point. The number is known up to half a unit of its last bit; digits are
 * produced until what is left is smaller than that doubt, which gives the shortest text that
 * reads back. fraction has bits bits; T is a type with room for bits + 5.
 */
#define PUT_FRACTION(T, p, fraction, bits)                                                         \
	do {                                                                                       \
		const T one = (T)1 << ((bits) + 1);                                                \
		T rest = (T)(fraction) << 1, doubt = 1;                                            \
		unsigned int digit;                                                                \
                                                                                                   \
		do {                                                                               \
			rest *= 10;                                                                \
			doubt *= 10;                                                               \
			digit = (unsigned int)(rest >> ((bits) + 1));                              \
			rest &= one - 1;                                                           \
			*(p)++ = (char)('0' + digit);                                              \
		} while (rest >= doubt && rest <= one - doubt);                                    \
		if (2 * rest > one || (2 * rest == one && digit % 2))                              \
			(p)[-1]++; /* a 9 cannot be there: it would have ended one digit before */ \
	} while (0)

static char *put_slow(char *p, double v)
{
	char text[UT_SHORTEST_ROOM], *e;
	int exp, n;

	for (n = 1; n <= 17; n++) {
		snprintf(text, sizeof(text), "%.*e", n - 1, v);
		if (strtod(text, NULL) == v)
			break;
	}
	e = strchr(text, 'e');
	exp = (int)strtol(e + 1, NULL, 10);
	while (e > text && e[-1] == '0')
		e--;
	if (e > text && e[-1] == '.')
		e--;
	n = e - text > 1 ? (int)(e - text) - 2 : 0; /* digits behind the point */
	if (exp >= -4 && exp < 16) {
		n = n > exp ? n - exp : 1;
		return p + snprintf(p, UT_SHORTEST_ROOM, "%.*f", n, v);
	}
	memcpy(p, text, (size_t)(e - text));
	p += e - text;
	return p + snprintf(p, 8, "e%+03d", exp);
}

static char *put_positive(char *p, double v)
{
	uint64_t bits, whole, fraction;
	int exp, n;

	memcpy(&bits, &v, sizeof(bits));
	exp = (int)(bits >> MANTISSA) - 1023;
	bits = (bits & ((UINT64_C(1) << MANTISSA) - 1)) | UINT64_C(1) << MANTISSA;
	n = MANTISSA - exp; /* bits behind the point */
	/* Exact powers of two have a smaller neighbourhood below; tiny numbers print as powers of
	 * ten. Both are rare. */
	if (n < 0 || exp < -13 || n > WIDE_EXP || bits == UINT64_C(1) << MANTISSA)
		return v == floor(v) && v < 1e15 ? ut_digits_u64(p, (uint64_t)v) + 2 : NULL;
	whole = n < 64 ? bits >> n : 0;
	fraction = n < 64 ? bits & ((UINT64_C(1) << n) - 1) : bits;
	p = ut_digits_u64(p, whole);
	*p++ = '.';
	if (!fraction)
		*p++ = '0';
	else if (n <= SMALL_EXP)
		PUT_FRACTION(uint64_t, p, fraction, n);
	else
		PUT_FRACTION(wide, p, fraction, n);
	return p;
}

char *ut_shortest_put(char *p, double v)
{
	char *end;

	if (!isfinite(v)) {
		memcpy(p, "null", 4);
		return p + 4;
	}
	if (signbit(v)) {
		*p++ = '-';
		v = -v;
	}
	if (v == 0) {
		memcpy(p, "0.0", 3);
		return p + 3;
	}
	end = put_positive(p, v);
	if (!end)
		return put_slow(p, v);
	if (v == floor(v))
		memcpy(end - 2, ".0", 2);
	return end;
}

const char *ut_shortest(char *buf, double v)
{
	*ut_shortest_put(buf, v) = 0;
	return buf;
}

double ut_round(double v, int n)
{
	char text[400];

	if (!isfinite(v))
		return v;
	snprintf(text, sizeof(text), "%.*f", n, v);
	return strtod(text, NULL);
}

int ut_is_close(double a, double b)
{
	double most = fmax(fabs(a), fabs(b));

	return a == b || fabs(a - b) <= fmax(1e-9 * most, 1e-9);
}
