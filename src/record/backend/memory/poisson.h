/*
 * poisson.h - how many bytes the program may allocate until the next one is looked at.
 *
 * Each byte is looked at with the same chance, 1 in 2^bits, whatever came before: so an allocation
 * of s bytes is recorded with the chance 1 - exp(-s / 2^bits), and what is recorded can be scaled
 * up without bias. The distance to the next byte is exponentially distributed. Without libm: a
 * guest links libc only.
 */
#ifndef UT_BACKEND_MEMORY_POISSON_H
#define UT_BACKEND_MEMORY_POISSON_H

#include <stdint.h>

/* log2(x) of x > 0, to 2e-6. */
static inline double ut_poisson_log2(uint64_t x)
{
	int exponent = 63 - __builtin_clzll(x);
	double m = (double)x / (double)(UINT64_C(1) << exponent); /* 1 <= m <= 2 */
	double z = (m - 1) / (m + 1), z2 = z * z;

	return exponent +
	       2.8853900817779268 * z *
		       (1 + z2 * (1.0 / 3 + z2 * (1.0 / 5 + z2 * (1.0 / 7 + z2 * (1.0 / 9)))));
}

/* xorshift64*; the state must not be 0. */
static inline uint64_t ut_poisson_random(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*state = x;
	return x * UINT64_C(0x2545f4914f6cdd1d);
}

/* At least 1. */
static inline uint64_t ut_poisson_next(uint64_t *state, uint32_t bits)
{
	uint64_t x = ut_poisson_random(state) | 1;
	double bytes =
		(64 - ut_poisson_log2(x)) * 0.69314718055994531 * (double)(UINT64_C(1) << bits);

	return 1 + (uint64_t)bytes;
}

#endif
