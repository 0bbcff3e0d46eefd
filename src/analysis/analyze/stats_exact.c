#include "analyze/stats_exact.h"

#include <math.h>
#include <string.h>

#include "analyze/stats_dist.h"

#define POINT 1074 /* bits below the point */

static void add_at(struct ut_exact *e, unsigned int at, const uint64_t part[3])
{
	uint64_t carry = 0;

	for (unsigned int i = 0; at + i < UT_EXACT_WORDS && (i < 3 || carry); i++) {
		ut_u128 sum = (ut_u128)e->word[at + i] + (i < 3 ? part[i] : 0) + carry;

		e->word[at + i] = (uint64_t)sum;
		carry = (uint64_t)(sum >> 64);
	}
}

static void take_at(struct ut_exact *e, unsigned int at, const uint64_t part[3])
{
	uint64_t borrow = 0;

	for (unsigned int i = 0; at + i < UT_EXACT_WORDS && (i < 3 || borrow); i++) {
		uint64_t less = i < 3 ? part[i] : 0, word = e->word[at + i];

		e->word[at + i] = word - less - borrow;
		borrow = word < less || (word == less && borrow);
	}
}

/* Adds size * weight * 2^(shift - POINT). */
static void add_shifted(struct ut_exact *e, bool negative, ut_u128 product, unsigned int shift)
{
	unsigned int bits = shift % 64;
	uint64_t part[3] = {
		(uint64_t)(product << bits),
		(uint64_t)(product << bits >> 64),
		bits ? (uint64_t)(product >> (128 - bits)) : 0,
	};

	(negative ? take_at : add_at)(e, shift / 64, part);
}

void ut_exact_add(struct ut_exact *e, double value, uint64_t weight)
{
	uint64_t bits, fraction;
	unsigned int exponent;

	memcpy(&bits, &value, sizeof(bits));
	exponent = (unsigned int)(bits >> 52) & 0x7ff;
	fraction = bits & ((UINT64_C(1) << 52) - 1);
	if (exponent == 0x7ff)
		return;
	if (exponent)
		fraction |= UINT64_C(1) << 52;
	add_shifted(e, bits >> 63, (ut_u128)fraction * weight, exponent ? exponent - 1 : 0);
}

void ut_exact_add_int(struct ut_exact *e, bool negative, uint64_t size, uint64_t weight)
{
	add_shifted(e, negative, (ut_u128)size * weight, POINT);
}

void ut_exact_merge(struct ut_exact *to, const struct ut_exact *from)
{
	uint64_t carry = 0;

	for (unsigned int i = 0; i < UT_EXACT_WORDS; i++) {
		ut_u128 sum = (ut_u128)to->word[i] + from->word[i] + carry;

		to->word[i] = (uint64_t)sum;
		carry = (uint64_t)(sum >> 64);
	}
}

long double ut_exact_value(const struct ut_exact *e)
{
	bool negative = e->word[UT_EXACT_WORDS - 1] >> 63;
	struct ut_exact size = { 0 };
	long double sum = 0;
	int top = UT_EXACT_WORDS - 1;

	for (unsigned int i = 0; i < UT_EXACT_WORDS; i++)
		size.word[i] = negative ? ~e->word[i] : e->word[i];
	if (negative)
		add_at(&size, 0, (const uint64_t[]){ 1, 0, 0 });
	while (top > 0 && !size.word[top])
		top--;
	for (int i = top > 2 ? top - 2 : 0; i <= top; i++)
		sum += ldexpl((long double)size.word[i], 64 * i - POINT);
	return negative ? -sum : sum;
}
