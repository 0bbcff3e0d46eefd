#include "session/lifetimes.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/str.h"
#include "wire/clock.h"
#include "wire/process.h"
#include "wire/spool.h"

#define SECOND    INT64_C(1000000000)
#define NAME_ROOM 64

struct ut_lifetime {
	uint32_t pid;
	uint64_t proc_start; /* as in the header */
	uint64_t made;       /* the second number of the name */
	char name[NAME_ROOM];
};

/* PID-TIME.spool */
static bool read_name(const char *name, struct ut_lifetime *one)
{
	char *end;

	if (!ut_str_ends(name, UT_SPOOL_SUFFIX) || strlen(name) >= NAME_ROOM)
		return false;
	one->pid = (uint32_t)strtoul(name, &end, 10);
	if (*end != '-')
		return false;
	one->made = strtoull(end + 1, &end, 10);
	memcpy(one->name, name, strlen(name) + 1);
	return !strcmp(end, UT_SPOOL_SUFFIX);
}

static int open_spool(const struct ut_lifetimes *l, const char *name, int flags)
{
	char path[4096];

	if (snprintf(path, sizeof(path), "%s/%s", l->dir, name) >= (int)sizeof(path))
		return -1;
	return open(path, flags | O_CLOEXEC | O_NOFOLLOW);
}

/* A file that cannot be written, on a full disk or by another user, knows its last record only. */
static void note(const struct ut_lifetimes *l, const char *name, uint64_t seen, uint32_t ended)
{
	int fd = open_spool(l, name, O_WRONLY);

	if (fd < 0)
		return;
	if (seen)
		(void)!pwrite(fd, &seen, sizeof(seen),
			      offsetof(struct ut_spool_header, seen_ticks));
	if (ended)
		(void)!pwrite(fd, &ended, sizeof(ended), offsetof(struct ut_spool_header, ended));
	close(fd);
}

static bool runs(const struct ut_lifetime *one)
{
	return one->proc_start && ut_process_start(one->pid) == one->proc_start;
}

static uint64_t header_start(const struct ut_lifetimes *l, const char *name)
{
	int fd = open_spool(l, name, O_RDONLY);
	uint64_t start = 0;

	if (fd < 0)
		return 0;
	if (pread(fd, &start, sizeof(start), offsetof(struct ut_spool_header, proc_start)) !=
	    (ssize_t)sizeof(start))
		start = 0;
	close(fd);
	return start;
}

/* Of a process that has become another program, the spool of the program that it is now. */
static void add(struct ut_lifetimes *l, struct ut_lifetime *one)
{
	for (size_t i = 0; i < l->count; i++) {
		if (l->items[i].pid != one->pid)
			continue;
		one->proc_start = l->items[i].proc_start;
		if (l->items[i].made < one->made)
			l->items[i] = *one;
		return;
	}
	if (!ut_process_start(one->pid)) /* most are gone, and need not be opened */
		return;
	one->proc_start = header_start(l, one->name);
	if (!runs(one))
		return;
	l->items = ut_grow(l->items, l->count + 1, &l->cap, sizeof(*l->items));
	l->items[l->count++] = *one;
}

/* New spools. The directory is not read again while nothing was made or removed in it. */
static void scan(struct ut_lifetimes *l)
{
	struct ut_lifetime one = { 0 };
	struct timespec now;
	struct dirent *e;
	struct stat st;
	DIR *d;

	if (stat(l->dir, &st) || st.st_mtim.tv_sec * SECOND + st.st_mtim.tv_nsec < l->scanned)
		return;
	clock_gettime(CLOCK_REALTIME, &now);
	d = opendir(l->dir);
	if (!d)
		return;
	while ((e = readdir(d))) {
		if (read_name(e->d_name, &one))
			add(l, &one);
	}
	closedir(d);
	l->scanned = (now.tv_sec - 1) * SECOND; /* times of files may be coarse */
}

void ut_lifetimes_look(struct ut_lifetimes *l)
{
	struct ut_clock_pair now;
	size_t kept = 0;

	scan(l);
	ut_clock_pair_take(ut_clock_source(), &now);
	for (size_t i = 0; i < l->count; i++) {
		bool running = runs(&l->items[i]);

		note(l, l->items[i].name, running ? now.ticks : 0, running ? 0 : UT_SPOOL_GONE);
		if (running)
			l->items[kept++] = l->items[i];
	}
	l->count = kept;
}

/* It may have begun and ended since the last look, so its spool is looked for. */
void ut_lifetimes_ended(struct ut_lifetimes *l, uint32_t pid, int status)
{
	struct ut_lifetime one = { 0 }, last = { 0 };
	struct ut_clock_pair now;
	struct dirent *e;
	DIR *d = opendir(l->dir);

	ut_clock_pair_take(ut_clock_source(), &now);
	while (d && (e = readdir(d))) {
		if (read_name(e->d_name, &one) && one.pid == pid && one.made >= last.made)
			last = one;
	}
	if (d)
		closedir(d);
	if (last.pid)
		note(l, last.name, now.ticks, UT_SPOOL_ENDED | (uint32_t)status);
	for (size_t i = 0; i < l->count; i++) {
		if (l->items[i].pid == pid) {
			l->items[i] = l->items[--l->count];
			break;
		}
	}
	ut_lifetimes_look(l); /* what it has left behind */
}

void ut_lifetimes_release(struct ut_lifetimes *l)
{
	free(l->items);
	*l = (struct ut_lifetimes){ 0 };
}
