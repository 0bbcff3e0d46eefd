#include "session/lifetimes.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/str.h"
#include "wire/clock.h"
#include "wire/spool.h"

#define SECOND    INT64_C(1000000000)
#define NAME_ROOM 64

#define MOST_WATCHED 256  /* processes; the others are noticed at the next look */
#define LOOK_MS      1000 /* for those that were found by a look */
#define SOON_MS      20   /* after a spool was made: its header is still being written */
#define SOON_TRIES   3
#define STACK_BYTES  ((size_t)256 << 10)

struct ut_lifetime {
	uint32_t pid;
	int fd;              /* of the process (pidfd); -1 = none */
	uint64_t proc_start; /* as in the header */
	uint64_t stack;      /* where its stack begins: another place after an exec; 0 = unknown */
	uint64_t made;       /* the second number of the name */
	bool replaced;       /* by a program that does not record */
	char name[NAME_ROOM];
};

/* ---- processes ----------------------------------------------------------------------------- */

/* Of /proc/PID/stat; start 0: it is gone, though its parent may not have waited for it yet. */
struct process {
	uint64_t start, stack;
};

static struct process lifetimes_look_at(uint32_t pid)
{
	enum {
		STATE = 3,
		START = 22,
		STACK = 28
	};
	struct process p = { 0 };
	char path[32], text[1024], *at, *rest = NULL;
	ssize_t len = -1;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		len = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	text[len > 0 ? len : 0] = '\0';
	at = strrchr(text, ')'); /* the name may hold anything */
	if (!at || at[1] != ' ' || at[2] == 'Z' || at[2] == 'X')
		return p;
	at = strtok_r(at + 2, " ", &rest);
	for (int field = STATE; at && field <= STACK; field++) {
		if (field == START)
			p.start = strtoull(at, NULL, 10);
		if (field == STACK)
			p.stack = strtoull(at, NULL, 10);
		at = strtok_r(NULL, " ", &rest);
	}
	return p;
}

static int open_process(uint32_t pid)
{
#ifdef SYS_pidfd_open
	return (int)syscall(SYS_pidfd_open, pid, 0);
#else
	(void)pid;
	return -1;
#endif
}

static void close_process(struct ut_lifetime *one)
{
	if (one->fd >= 0)
		close(one->fd);
	one->fd = -1;
}

/* ---- spools -------------------------------------------------------------------------------- */

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
static void lifetimes_note(const struct ut_lifetimes *l, const char *name, uint64_t seen,
			   uint32_t ended)
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

static bool read_header(const struct ut_lifetimes *l, const char *name,
			struct ut_spool_header *header)
{
	int fd = open_spool(l, name, O_RDONLY);
	bool whole;

	if (fd < 0)
		return false;
	whole = pread(fd, header, sizeof(*header), 0) == (ssize_t)sizeof(*header) &&
		!memcmp(header->magic, UT_SPOOL_MAGIC, sizeof(header->magic));
	close(fd);
	return whole;
}

static struct ut_lifetime *lifetimes_find(const struct ut_lifetimes *l, uint32_t pid)
{
	for (size_t i = 0; i < l->count; i++) {
		if (l->items[i].pid == pid)
			return &l->items[i];
	}
	return NULL;
}

/* The process has become another program, which records: the old one ended then. */
static void lifetimes_replace(struct ut_lifetimes *l, struct ut_lifetime *old,
			      const struct ut_lifetime *one)
{
	struct ut_spool_header header;
	int fd = old->fd;

	if (one->made <= old->made || !read_header(l, one->name, &header))
		return;
	lifetimes_note(l, old->name, header.start.ticks, UT_SPOOL_GONE);
	*old = *one;
	old->fd = fd;
	old->proc_start = header.proc_start;
	old->stack = lifetimes_look_at(old->pid).stack;
}

static void lifetimes_add(struct ut_lifetimes *l, struct ut_lifetime *one)
{
	struct ut_lifetime *old = lifetimes_find(l, one->pid);
	struct ut_spool_header header;
	struct process now;

	if (old) {
		lifetimes_replace(l, old, one);
		return;
	}
	if (!lifetimes_look_at(one->pid).start) /* most are gone, and need not be opened */
		return;
	one->fd = l->watched && l->count < MOST_WATCHED ? open_process(one->pid) : -1;
	now = lifetimes_look_at(one->pid); /* what the descriptor stands for, if it is the same */
	if (!read_header(l, one->name, &header) || !now.start || now.start != header.proc_start) {
		close_process(one);
		return;
	}
	one->proc_start = now.start;
	one->stack = now.stack;
	l->items = ut_grow(l->items, l->count + 1, &l->cap, sizeof(*l->items));
	l->items[l->count++] = *one;
}

/* New spools. The directory is not read again while nothing was made or removed in it. */
static void lifetimes_scan(struct ut_lifetimes *l)
{
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
		struct ut_lifetime one = { .fd = -1 };

		if (read_name(e->d_name, &one))
			lifetimes_add(l, &one);
	}
	closedir(d);
	l->scanned = (now.tv_sec - 1) * SECOND; /* times of files may be coarse */
}

/* ---- the ends ------------------------------------------------------------------------------ */

/* Has the process become another program since then? */
static bool is_another(const struct ut_lifetime *one, const struct process *now)
{
	return one->stack && now->stack && now->stack != one->stack;
}

static void lifetimes_drop(struct ut_lifetimes *l, struct ut_lifetime *one)
{
	if (one->pid == l->program)
		l->program_replaced = one->replaced;
	close_process(one);
}

static void lifetimes_look(struct ut_lifetimes *l)
{
	struct ut_clock_pair now;
	size_t kept = 0;

	lifetimes_scan(l);
	ut_clock_pair_take(ut_clock_source(), &now);
	for (size_t i = 0; i < l->count; i++) {
		struct ut_lifetime *one = &l->items[i];
		struct process p = lifetimes_look_at(one->pid);
		bool running = p.start && p.start == one->proc_start;
		bool another = running && !one->replaced && is_another(one, &p);

		/* It has just been replaced: the event of the closed spool is on its way. */
		if (!one->replaced && (!another || l->watched))
			lifetimes_note(l, one->name, now.ticks,
				       running && !another ? 0 : UT_SPOOL_GONE);
		one->replaced |= another;
		if (running)
			l->items[kept++] = *one;
		else
			lifetimes_drop(l, one);
	}
	l->count = kept;
}

static bool lifetimes_has_ended(const struct ut_lifetime *one)
{
	struct pollfd p = { .fd = one->fd, .events = POLLIN };

	return one->fd >= 0 && poll(&p, 1, 0) == 1;
}

static void note_ended(struct ut_lifetimes *l)
{
	struct ut_clock_pair now;

	ut_clock_pair_take(ut_clock_source(), &now);
	for (size_t i = 0; i < l->count;) {
		struct ut_lifetime *one = &l->items[i];

		if (!lifetimes_has_ended(one)) {
			i++;
			continue;
		}
		if (!one->replaced)
			lifetimes_note(l, one->name, now.ticks, UT_SPOOL_GONE);
		lifetimes_drop(l, one);
		*one = l->items[--l->count];
	}
}

/*
 * A spool was closed: by us, or because its process has ended or has executed another program. If
 * that records, its own spool will say when it began.
 */
static void check_closed(struct ut_lifetimes *l, const char *name)
{
	struct ut_clock_pair now;

	ut_clock_pair_take(ut_clock_source(), &now);
	for (size_t i = 0; i < l->count; i++) {
		struct ut_lifetime *one = &l->items[i];
		struct process p;

		if (one->replaced || strcmp(one->name, name) != 0)
			continue;
		p = lifetimes_look_at(one->pid);
		if (p.start != one->proc_start || !is_another(one, &p))
			return;
		one->replaced = true;
		lifetimes_note(l, name, now.ticks, UT_SPOOL_GONE);
		return;
	}
}

/* True when spools were made. */
static bool lifetimes_read_events(struct ut_lifetimes *l)
{
	union {
		char bytes[4096];
		struct inotify_event one;
	} events;
	bool made = false;
	ssize_t len = read(l->made_fd, &events, sizeof(events));

	for (ssize_t at = 0; at < len;) {
		struct inotify_event e;

		memcpy(&e, events.bytes + at, sizeof(e));
		made |= (e.mask & (IN_CREATE | IN_Q_OVERFLOW)) != 0;
		if (e.mask & IN_CLOSE_WRITE)
			check_closed(l, events.bytes + at + sizeof(e));
		at += (ssize_t)(sizeof(e) + e.len);
	}
	return made;
}

/* Waits for an end, a new spool, or the order to stop: false. */
static bool wait_for_event(struct ut_lifetimes *l, int *soon)
{
	struct pollfd fds[MOST_WATCHED + 2] = { { .fd = l->stop_fd, .events = POLLIN },
						{ .fd = l->made_fd, .events = POLLIN } };
	nfds_t n = 2;

	pthread_mutex_lock(&l->lock);
	for (size_t i = 0; i < l->count && n < MOST_WATCHED + 2; i++) {
		if (l->items[i].fd >= 0)
			fds[n++] = (struct pollfd){ .fd = l->items[i].fd, .events = POLLIN };
	}
	pthread_mutex_unlock(&l->lock);
	poll(fds, n, *soon ? SOON_MS : LOOK_MS);
	*soon -= *soon > 0;
	pthread_mutex_lock(&l->lock);
	if (fds[1].revents && lifetimes_read_events(l))
		*soon = SOON_TRIES;
	pthread_mutex_unlock(&l->lock);
	return !fds[0].revents;
}

static void *lifetimes_watch(void *ctx)
{
	struct ut_lifetimes *l = ctx;
	int soon = SOON_TRIES;

	while (wait_for_event(l, &soon)) {
		pthread_mutex_lock(&l->lock);
		note_ended(l);
		if (soon)
			lifetimes_scan(l);
		pthread_mutex_unlock(&l->lock);
	}
	return NULL;
}

void ut_lifetimes_watch(struct ut_lifetimes *l, uint32_t program)
{
	pthread_attr_t attr;
	sigset_t all, before;

	l->program = program;
	l->stop_fd = eventfd(0, EFD_CLOEXEC);
	l->made_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	pthread_mutex_init(&l->lock, NULL);
	if (l->stop_fd >= 0 && l->made_fd >= 0 &&
	    inotify_add_watch(l->made_fd, l->dir, IN_CREATE | IN_CLOSE_WRITE) >= 0) {
		sigfillset(&all);
		pthread_sigmask(SIG_SETMASK, &all, &before);
		l->watched = true;
		pthread_attr_init(&attr);
		pthread_attr_setstacksize(&attr, STACK_BYTES); /* whatever ulimit -s says */
		l->watched = !pthread_create(&l->thread, &attr, lifetimes_watch, l);
		pthread_attr_destroy(&attr);
		pthread_sigmask(SIG_SETMASK, &before, NULL);
	}
	if (l->watched)
		return;
	if (l->stop_fd >= 0)
		close(l->stop_fd);
	if (l->made_fd >= 0)
		close(l->made_fd);
}

void ut_lifetimes_look(struct ut_lifetimes *l)
{
	if (l->watched)
		pthread_mutex_lock(&l->lock);
	lifetimes_look(l);
	if (l->watched)
		pthread_mutex_unlock(&l->lock);
}

/* It may have begun and ended since the last look, so its spool is looked for. */
void ut_lifetimes_ended(struct ut_lifetimes *l, uint32_t pid, int status)
{
	struct ut_lifetime one = { 0 }, last = { 0 }, *known;
	struct ut_clock_pair now;
	struct dirent *e;
	DIR *d = opendir(l->dir);

	ut_clock_pair_take(ut_clock_source(), &now);
	if (l->watched)
		pthread_mutex_lock(&l->lock);
	while (d && (e = readdir(d))) {
		if (read_name(e->d_name, &one) && one.pid == pid && one.made >= last.made)
			last = one;
	}
	if (d)
		closedir(d);
	known = lifetimes_find(l, pid);
	if (known) {
		lifetimes_drop(l, known);
		*known = l->items[--l->count];
	}
	if (last.pid && !l->program_replaced)
		lifetimes_note(l, last.name, now.ticks, UT_SPOOL_ENDED | (uint32_t)status);
	lifetimes_look(l); /* what it has left behind */
	if (l->watched)
		pthread_mutex_unlock(&l->lock);
}

void ut_lifetimes_release(struct ut_lifetimes *l)
{
	if (l->watched && write(l->stop_fd, &(uint64_t){ 1 }, sizeof(uint64_t)) > 0) {
		pthread_join(l->thread, NULL);
		close(l->stop_fd);
		close(l->made_fd);
		pthread_mutex_destroy(&l->lock);
	}
	for (size_t i = 0; i < l->count; i++)
		close_process(&l->items[i]);
	free(l->items);
	*l = (struct ut_lifetimes){ 0 };
}
