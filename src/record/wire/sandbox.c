/* sandbox.c - see sandbox.h. */
#include "wire/sandbox.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "wire/sys.h"

#define UNKNOWN UINT64_MAX

static _Atomic int status_fd = -1;
static _Atomic uint64_t before = UNKNOWN; /* what filters() found at the start */
static _Atomic bool closed;

/*
 * The text is read in pieces, and at the place where the lines were last time: hooks may run on the
 * small stacks of coroutines and signal handlers, and 4 KiB would be too much for some of them.
 */
#define PIECE   160
#define OVERLAP 96    /* both lines fit */
#define MOST    65536 /* bytes; a list of groups may be long */

static _Atomic uint32_t place; /* a little before the lines */

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

/* The mode and the number of filters (kernels before 5.9 do not tell that) in one, if a piece of
 * text holds both lines and the beginning of a third. */
static uint64_t filters_in(const char *text, const char **line)
{
	const char *next = *line = strstr(text, "\nSeccomp:");
	uint64_t mode, count;

	for (int i = 0; next && i < 2; i++)
		next = strchr(next + 1, '\n');
	if (!next)
		return UNKNOWN;
	mode = number_behind(*line, "\nSeccomp:");
	count = number_behind(*line, "\nSeccomp_filters:");
	return mode + (count == UNKNOWN ? 0 : count << 8);
}

/* Lines above it grow by a digit, or lose one. */
static uint32_t before_line(uint32_t piece, uint32_t line)
{
	return piece + line > OVERLAP ? piece + line - OVERLAP : 1;
}

static bool read_piece(int fd, char *text, uint32_t at)
{
	ssize_t n = ut_sys_pread(fd, text, PIECE, at);

	text[n > 0 ? n : 0] = '\0';
	return n > OVERLAP;
}

/* The descriptor may be somebody else's by now: then this is no status of a process. */
static uint64_t filters(int fd)
{
	uint32_t at = atomic_load_explicit(&place, memory_order_relaxed);
	uint64_t found = UNKNOWN;
	char text[PIECE + 1];
	const char *line;

	if (fd < 0)
		return UNKNOWN;
	if (at && read_piece(fd, text, at))
		found = filters_in(text, &line);
	for (at = 0; at < MOST && found == UNKNOWN && read_piece(fd, text, at);
	     at += PIECE - OVERLAP) {
		if (!at && memcmp(text, "Name:", 5) != 0)
			return UNKNOWN;
		found = filters_in(text, &line);
		if (found != UNKNOWN)
			atomic_store_explicit(&place, before_line(at, (uint32_t)(line - text)),
					      memory_order_relaxed);
	}
	return found;
}

/* The first time, where there is room on the stack: one piece instead of twenty. */
static __attribute__((noinline)) void find_place(int fd)
{
	char text[4096];
	ssize_t n = ut_sys_pread(fd, text, sizeof(text) - 1, 0);
	const char *line;

	text[n > 0 ? n : 0] = '\0';
	line = strstr(text, "\nSeccomp:");
	if (line)
		atomic_store_explicit(&place, before_line(0, (uint32_t)(line - text)),
				      memory_order_relaxed);
}

static int open_status(void)
{
	int fd = ut_sys_open("/proc/self/status", O_RDONLY | O_CLOEXEC, 0);

	return fd < 0 ? -1 : ut_sys_out_of_the_way(fd);
}

void ut_sandbox_look(void)
{
	int old = atomic_load(&status_fd);

	if (filters(old) != UNKNOWN)
		ut_sys_close(old); /* the parent's */
	atomic_store(&closed, false);
	atomic_store(&status_fd, open_status());
	if (!atomic_load_explicit(&place, memory_order_relaxed))
		find_place(atomic_load(&status_fd));
	atomic_store(&before, filters(atomic_load(&status_fd)));
}

/*
 * The program has closed our descriptor, as those do that are about to lock themselves in. Opening
 * it again is what a filter may kill for, asking for the mode hardly ever. Where a filter was there
 * from the start (in a container) the mode does not tell of another.
 */
static bool closed_without_descriptor(int old)
{
	int fd;

	if ((atomic_load(&before) & 0xff) != 0)
		return false;
	if (ut_sys_seccomp_mode() > 0)
		return true;
	fd = open_status();
	if (!atomic_compare_exchange_strong(&status_fd, &old, fd))
		ut_sys_close(fd); /* another thread was faster */
	return false;
}

static bool look_again(void)
{
	int fd = atomic_load(&status_fd);
	uint64_t now = filters(fd);

	return now == UNKNOWN ? closed_without_descriptor(fd) : now != atomic_load(&before);
}

bool ut_sandbox_closed(void)
{
	int saved = errno;

	if (atomic_load_explicit(&closed, memory_order_relaxed))
		return true;
	if (atomic_load(&before) == UNKNOWN)
		return false;
	if (look_again())
		atomic_store(&closed, true);
	errno = saved;
	return atomic_load(&closed);
}
