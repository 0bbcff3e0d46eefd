#include "base/hash.h"

#include <string.h>

/* Odd constants with about half of the bits set. */
#define K0 UINT64_C(0x9e3779b97f4a7c15)
#define K1 UINT64_C(0xd6e8feb86659fd93)
#define K2 UINT64_C(0xa0761d6478bd642f)

__extension__ typedef unsigned __int128 u128;

static inline uint64_t load64(const unsigned char *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline uint64_t load32(const unsigned char *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* Both halves of the product: every input bit reaches every output bit. */
static inline uint64_t hash_mix(uint64_t a, uint64_t b)
{
	u128 product = (u128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint64_t ut_hash_bytes(const void *data, size_t len)
{
	const unsigned char *p = data;
	uint64_t seed = len * K0 ^ K2;
	uint64_t a = 0, b = 0;

	while (len > 16) {
		seed = hash_mix(load64(p) ^ K1 ^ seed, load64(p + 8) ^ K0);
		p += 16;
		len -= 16;
	}
	/* The rest as two words that may overlap: no byte-wise tail. */
	if (len >= 8) {
		a = load64(p);
		b = load64(p + len - 8);
	} else if (len >= 4) {
		a = load32(p);
		b = load32(p + len - 4);
	} else if (len) {
		a = (uint64_t)p[0] << 16 | (uint64_t)p[len / 2] << 8 | p[len - 1];
	}
	return hash_mix(hash_mix(a ^ K1 ^ seed, b ^ K0) ^ seed, K2);
}
