/*
 * thread_start.c - see thread_start.h.
 *
 * pthread_self() points to glibc's description of the thread. Where in it the function is depends
 * on the version, and is what glibc tells debuggers by a symbol: the size of the member in bits,
 * how many there are, and the offset in bytes.
 */
#include "collect/thread_start.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "base/readable.h"

#define MOST 8192u /* bytes; the description has some 2,300 */

static uint32_t offset; /* 0 = unknown */

/* While the loader has its lock for us anyway: later it might be waited for. */
__attribute__((constructor)) static void find_offset(void)
{
	const void *found = dlsym(RTLD_DEFAULT, "_thread_db_pthread_start_routine");
	uint32_t member[3];

	if (!found)
		return;
	memcpy(member, found, sizeof(member));
	if (member[0] == 64 && member[1] == 1 && member[2] % 8 == 0 && member[2] < MOST)
		offset = member[2];
}

uint64_t ut_thread_start(void)
{
	uintptr_t at = (uintptr_t)pthread_self() + offset;
	uint64_t start = 0;

	if (offset && at > offset && ut_readable(at, sizeof(start)))
		memcpy(&start, (const void *)at, sizeof(start));
	return start;
}
