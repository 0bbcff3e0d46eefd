#include "launch/liveness.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "wire/control.h"

#define CHUNK 8192 /* the stack may be small: ulimit -s 64 */

/* Does the file hold these bytes? Those at the end of a chunk are looked at again with the next. */
static bool liveness_contains(int fd, const char *needle, size_t len)
{
	char buf[CHUNK + PATH_MAX + 64];
	size_t kept = 0;
	ssize_t n;

	while ((n = read(fd, buf + kept, CHUNK)) > 0) {
		size_t have = kept + (size_t)n;

		if (memmem(buf, have, needle, len))
			return true;
		kept = have < len - 1 ? have : len - 1;
		memmove(buf, buf + have - kept, kept);
	}
	return false;
}

static bool belongs(int proc, const char *pid, const char *needle, size_t len)
{
	char path[64];
	bool yes;
	int fd;

	snprintf(path, sizeof(path), "%.20s/environ", pid);
	fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	yes = liveness_contains(fd, needle, len);
	close(fd);
	return yes;
}

size_t ut_liveness_count(const char *dir)
{
	char needle[PATH_MAX + 32];
	/* with the NUL that closes it: a session may be the beginning of another's name */
	size_t len = (size_t)snprintf(needle, sizeof(needle), UT_SESSION_ENV "=%s", dir) + 1;
	DIR *proc = opendir("/proc");
	size_t count = 0;
	struct dirent *e;

	if (!proc)
		return 0;
	while (len <= sizeof(needle) && (e = readdir(proc))) {
		if (isdigit((unsigned char)e->d_name[0]))
			count += belongs(dirfd(proc), e->d_name, needle, len);
	}
	closedir(proc);
	return count;
}

/* The session in a process's environment, of which the first bytes are enough for nearly all. */
static bool session_of(int proc, const char *pid, char *buf, size_t size, const char **dir)
{
	static const char key[] = UT_SESSION_ENV "=";
	size_t have = 0;
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%.20s/environ", pid);
	fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	while (have < size - 1 && (n = read(fd, buf + have, size - 1 - have)) > 0)
		have += (size_t)n;
	close(fd);
	buf[have] = '\0';
	for (const char *at = buf; at < buf + have; at += strlen(at) + 1) {
		if (!strncmp(at, key, sizeof(key) - 1)) {
			*dir = at + sizeof(key) - 1;
			return true;
		}
	}
	return false;
}

void ut_liveness_each(void (*fn)(void *ctx, const char *dir, const char *pid), void *ctx)
{
	const size_t size = 1u << 20;
	DIR *proc = opendir("/proc");
	char *buf = malloc(size);
	struct dirent *e;

	while (proc && buf && (e = readdir(proc))) {
		const char *dir;

		if (isdigit((unsigned char)e->d_name[0]) &&
		    session_of(dirfd(proc), e->d_name, buf, size, &dir))
			fn(ctx, dir, e->d_name);
	}
	free(buf);
	if (proc)
		closedir(proc);
}
