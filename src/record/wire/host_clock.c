#include "wire/host_clock.h"

/* FNV-1a: a name that does not tell the boot id itself. */
void ut_host_clock_id(const char *boot_id, char id[UT_CLOCK_ID])
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (; *boot_id; boot_id++)
		hash = (hash ^ (unsigned char)*boot_id) * UINT64_C(0x100000001b3);
	for (int i = 0; i < UT_CLOCK_ID - 1; i++)
		id[i] = "0123456789abcdef"[hash >> 4 * (15 - i) & 15];
	id[UT_CLOCK_ID - 1] = '\0';
}
