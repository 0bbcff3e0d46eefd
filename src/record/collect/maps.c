/* maps.c - see maps.h. */
#include "collect/maps.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "collect/mem.h"
#include "collect/number.h"
#include "wire/sandbox.h"
#include "wire/sys.h"

struct known {
	struct known *next;
	uint64_t start, end;
};

static _Atomic(struct known *) all;

static bool maps_is_known(uint64_t address)
{
	const struct known *k = atomic_load_explicit(&all, memory_order_acquire);

	while (k && (address < k->start || address >= k->end))
		k = k->next;
	return k != NULL;
}

static void maps_remember(uint64_t start, uint64_t end)
{
	struct known *k = ut_mem_alloc(sizeof(*k));

	if (!k)
		return;
	*k = (struct known){ atomic_load(&all), start, end };
	while (!atomic_compare_exchange_weak(&all, &k->next, k))
		;
}

static uint64_t hex(const char **p)
{
	uint64_t value = 0;

	for (;; (*p)++) {
		if (**p >= '0' && **p <= '9')
			value = value << 4 | (uint64_t)(**p - '0');
		else if (**p >= 'a' && **p <= 'f')
			value = value << 4 | (uint64_t)(**p - 'a' + 10);
		else
			return value;
	}
}

/* "start-end perms offset dev inode   path"; true when it was the one. */
static bool maps_take_line(const char *line, uint64_t address)
{
	const char *p = line;
	uint64_t words[4], start = hex(&p), end;
	size_t len;

	p += *p == '-';
	end = hex(&p);
	if (address < start || address >= end)
		return false;
	p += strcspn(p, " ");
	p += strspn(p, " ");
	p += strcspn(p, " ");
	p += strspn(p, " ");
	words[0] = start;
	words[1] = end;
	words[2] = hex(&p);
	p = strchr(p, '/');
	len = p ? strlen(p) : 0;
	words[3] = len;
	maps_remember(start, end);
	ut_number_define(UT_REC_PROCESS_MAP, words, 4, p, len);
	return true;
}

static void search(int fd, uint64_t address)
{
	char buf[4096], line[1024];
	size_t len = 0;
	off_t at = 0;
	ssize_t n;

	for (; (n = ut_sys_pread(fd, buf, sizeof(buf), at)) > 0; at += n) {
		for (ssize_t i = 0; i < n; i++) {
			if (buf[i] != '\n') {
				if (len < sizeof(line) - 1)
					line[len++] = buf[i];
				continue;
			}
			line[len] = '\0';
			len = 0;
			if (maps_take_line(line, address))
				return;
		}
	}
	maps_remember(address, address + 1); /* nowhere: do not look again */
}

void ut_maps_define(uint64_t address)
{
	int saved = errno, fd;

	if (maps_is_known(address) || ut_sandbox_closed())
		return;
	fd = ut_sys_open("/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
	if (fd >= 0) {
		search(fd, address);
		ut_sys_close(fd);
	}
	errno = saved;
}
