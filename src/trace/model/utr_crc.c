#include "model/utr_crc.h"

#include <pthread.h>
#include <string.h>

#define POLYNOMIAL 0x82f63b78u /* of CRC-32C, the lowest bit first */

/* table[k][b]: what byte b does to the checksum when k more bytes follow it. */
static uint32_t table[8][256];
static pthread_once_t table_once = PTHREAD_ONCE_INIT;

static void fill_table(void)
{
	for (uint32_t b = 0; b < 256; b++) {
		uint32_t crc = b;

		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
		table[0][b] = crc;
	}
	for (int k = 1; k < 8; k++) {
		for (uint32_t b = 0; b < 256; b++) {
			uint32_t crc = table[k - 1][b];

			table[k][b] = crc >> 8 ^ table[0][crc & 0xff];
		}
	}
}

uint32_t ut_utr_crc_plain(uint32_t crc, const void *data, size_t len)
{
	const unsigned char *p = data;

	pthread_once(&table_once, fill_table);
	crc = ~crc;
	for (; len >= 8; len -= 8, p += 8) {
		uint32_t low = crc ^ (p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
				      (uint32_t)p[3] << 24);

		crc = table[7][low & 0xff] ^ table[6][low >> 8 & 0xff] ^
		      table[5][low >> 16 & 0xff] ^ table[4][low >> 24] ^ table[3][p[4]] ^
		      table[2][p[5]] ^ table[1][p[6]] ^ table[0][p[7]];
	}
	for (; len; len--, p++)
		crc = crc >> 8 ^ table[0][(crc ^ *p) & 0xff];
	return ~crc;
}

#ifdef __x86_64__
/*
 * The instruction takes three cycles, but another one can start in each of them: so three chains,
 * one for each CHAIN bytes, keep it busy. What the first has found moves behind the bytes of the
 * next one: after[k][b] is what CHAIN bytes of 0 make of byte k of a checksum if that is b.
 */
#define CHAIN 4096u

static uint32_t after[4][256];
static pthread_once_t after_once = PTHREAD_ONCE_INIT;

__attribute__((target("sse4.2"))) static void fill_after(void)
{
	for (unsigned int bit = 0; bit < 32; bit++) {
		uint64_t sum = UINT64_C(1) << bit;

		for (unsigned int i = 0; i < CHAIN; i += 8)
			sum = __builtin_ia32_crc32di(sum, 0);
		for (unsigned int b = 0; b < 256; b++)
			after[bit / 8][b] ^= b >> bit % 8 & 1 ? (uint32_t)sum : 0;
	}
}

static uint64_t move_on(uint64_t sum)
{
	return after[0][sum & 0xff] ^ after[1][sum >> 8 & 0xff] ^ after[2][sum >> 16 & 0xff] ^
	       after[3][sum >> 24 & 0xff];
}

__attribute__((target("sse4.2"))) static uint64_t three_chains(uint64_t sum, const unsigned char *p)
{
	uint64_t second = 0, third = 0, word[3];

	for (unsigned int i = 0; i < CHAIN; i += 8) {
		memcpy(&word[0], p + i, 8);
		memcpy(&word[1], p + CHAIN + i, 8);
		memcpy(&word[2], p + 2 * CHAIN + i, 8);
		sum = __builtin_ia32_crc32di(sum, word[0]);
		second = __builtin_ia32_crc32di(second, word[1]);
		third = __builtin_ia32_crc32di(third, word[2]);
	}
	return move_on(move_on(sum) ^ second) ^ third;
}

__attribute__((target("sse4.2"))) static uint32_t by_instruction(uint32_t crc, const void *data,
								 size_t len)
{
	const unsigned char *p = data;
	uint64_t sum = ~crc, word;

	if (len >= 3 * CHAIN)
		pthread_once(&after_once, fill_after);
	for (; len >= 3 * CHAIN; len -= 3 * CHAIN, p += 3 * CHAIN)
		sum = three_chains(sum, p);
	for (; len >= sizeof(word); len -= sizeof(word), p += sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		sum = __builtin_ia32_crc32di(sum, word);
	}
	for (; len; len--, p++)
		sum = __builtin_ia32_crc32qi((uint32_t)sum, *p);
	return ~(uint32_t)sum;
}
#endif

uint32_t ut_utr_crc(uint32_t crc, const void *data, size_t len)
{
#ifdef __x86_64__
	if (__builtin_cpu_supports("sse4.2"))
		return by_instruction(crc, data, len);
#endif
	return ut_utr_crc_plain(crc, data, len);
}
