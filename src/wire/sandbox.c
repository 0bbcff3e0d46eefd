/* sandbox.c - see sandbox.h. */
#include "wire/sandbox.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "wire/sys.h"

#define UNKNOWN UINT64_MAX

static _Atomic int status_fd = -1;
static uint64_t before = UNKNOWN; /* what filters() said at the start */
static _Atomic bool closed;

static uint64_t number_behind(const char *text, const char *key)
{
	const char *p = strstr(text, key);
	uint64_t value = 0;

	if (!p)
		return UNKNOWN;
	for (p += strlen(key); *p == ' ' || *p == '\t';)
		p++;
	for (; *p >= '0' && *p <= '9'; p++)
		value = value * 10 + (uint64_t)(*p - '0');
	return value;
}

/* The mode and the number of filters (kernels before 5.9 do not tell that) in one. The descriptor
 * may be somebody else's by now: then this is no status of a process. */
static uint64_t filters(int fd)
{
	char text[4096];
	ssize_t n = fd < 0 ? -1 : ut_sys_pread(fd, text, sizeof(text) - 1, 0);
	uint64_t mode, count;

	if (n < 5 || memcmp(text, "Name:", 5) != 0)
		return UNKNOWN;
	text[n] = '\0';
	mode = number_behind(text, "\nSeccomp:");
	count = number_behind(text, "\nSeccomp_filters:");
	return mode == UNKNOWN ? UNKNOWN : mode + (count == UNKNOWN ? 0 : count << 8);
}

static int open_status(void)
{
	int fd = ut_sys_open("/proc/self/status", O_RDONLY | O_CLOEXEC, 0), high;

	if (fd < 0)
		return -1;
	high = ut_sys_dup_above(fd, 800); /* out of the way, as the spool's own */
	if (high < 0)
		high = ut_sys_dup_above(fd, 200);
	if (high < 0)
		return fd;
	ut_sys_close(fd);
	return high;
}

void ut_sandbox_look(void)
{
	int old = atomic_load(&status_fd);

	if (filters(old) != UNKNOWN)
		ut_sys_close(old); /* the parent's */
	atomic_store(&closed, false);
	atomic_store(&status_fd, open_status());
	before = filters(atomic_load(&status_fd));
}

bool ut_sandbox_closed(void)
{
	int saved = errno;
	uint64_t now;

	if (atomic_load_explicit(&closed, memory_order_relaxed))
		return true;
	now = before == UNKNOWN ? UNKNOWN : filters(atomic_load(&status_fd));
	errno = saved;
	if (now == UNKNOWN || now == before)
		return false;
	atomic_store(&closed, true);
	return true;
}
