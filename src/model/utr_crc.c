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
__attribute__((target("sse4.2"))) static uint32_t by_instruction(uint32_t crc, const void *data,
								 size_t len)
{
	const unsigned char *p = data;
	uint64_t sum = ~crc, word;

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
