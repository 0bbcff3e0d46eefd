/* control.c - see control.h. What the collector uses is free of malloc and stdio. */
#include "wire/control.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "wire/process.h"
#include "wire/sys.h"
#include "wire/text.h"

#define NAMED_BYTES  4096
#define NAMED_DIR    "/dev/shm"
#define NAMED_PREFIX "unitrace.%u." /* the user */

static void *map_file(const char *path, size_t size)
{
	void *map = MAP_FAILED;
	struct stat st;
	int fd = ut_sys_open(path, O_RDWR | O_CLOEXEC, 0);

	if (fd < 0)
		return NULL;
	if (ut_sys_fstat(fd, &st) == 0 && st.st_size >= (off_t)size)
		map = ut_sys_mmap(size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ut_sys_close(fd);
	return map == MAP_FAILED ? NULL : map;
}

static bool control_path(char path[4096], const char *dir)
{
	struct ut_text text = ut_text_init(path, 4096);

	ut_text_str(&text, dir);
	ut_text_str(&text, "/" UT_CONTROL_FILE);
	return !text.cut;
}

struct ut_control *ut_control_map(const char *dir)
{
	struct ut_control *c;
	char path[4096];
	int fd;

	if (!control_path(path, dir))
		return NULL;
	c = map_file(path, sizeof(*c));
	if (!c) {
		/* The launcher hears who only reads, and can say why nothing came
		 * (control_watch.h). */
		fd = ut_sys_open(path, O_RDONLY | O_CLOEXEC, 0);
		if (fd >= 0)
			ut_sys_close(fd);
		return NULL;
	}
	if (memcmp(c->magic, UT_CONTROL_MAGIC, sizeof(c->magic)) ||
	    c->version != UT_CONTROL_VERSION) {
		ut_control_close(c);
		return NULL;
	}
	return c;
}

_Atomic uint32_t *ut_control_state(struct ut_control *c)
{
	_Atomic uint32_t *named;

	if (!c->state_path[0] || c->state_path[sizeof(c->state_path) - 1])
		return &c->state;
	named = map_file(c->state_path, NAMED_BYTES);
	return named ? named : &c->state;
}

int ut_control_create(const char *dir, struct ut_control **control, struct ut_err *err)
{
	struct ut_control *c;
	char path[4096];
	int fd = -1, rc = 0, error;

	if (!control_path(path, dir))
		return ut_err_set(err, -ENAMETOOLONG, "%s: the name is too long", dir);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	error = fd < 0 ? errno : posix_fallocate(fd, 0, sizeof(*c));
	if (error) {
		rc = ut_err_set(err, -error, "%s: cannot make it: %s", path, strerror(error));
		goto out;
	}
	c = mmap(NULL, sizeof(*c), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (c == MAP_FAILED) {
		rc = ut_err_set(err, -errno, "%s: cannot map it: %s", path, strerror(errno));
		goto out;
	}
	c->version = UT_CONTROL_VERSION;
	c->rank = -1;
	c->launcher_pid = (uint32_t)getpid();
	c->clock_source = ut_clock_source();
	ut_clock_pair_take(ut_clock_source(), &c->start);
	c->last = c->start;
	ut_process_boot_id(c->boot_id);
	memcpy(c->magic, UT_CONTROL_MAGIC, sizeof(c->magic));
	*control = c;
out:
	if (fd >= 0)
		close(fd);
	return rc;
}

enum ut_state ut_control_switch(struct ut_control *control, enum ut_state state)
{
	_Atomic uint32_t *word = ut_control_state(control);
	uint32_t was = atomic_load(word);

	while (was != UT_STATE_STOPPED && was != state &&
	       !atomic_compare_exchange_weak(word, &was, state))
		;
	atomic_fetch_add(&control->resumed, 1);
	ut_sys_wake(word);
	return (enum ut_state)was;
}

int ut_control_open(const char *dir, struct ut_control **control, struct ut_err *err)
{
	*control = ut_control_map(dir);
	if (!*control)
		return ut_err_set(err, -ENOENT, "%s: not a session of unitrace", dir);
	return 0;
}

void ut_control_close(struct ut_control *c)
{
	if (c)
		munmap(c, sizeof(*c));
}

void ut_control_tick(struct ut_control *c)
{
	struct ut_clock_pair pair;

	ut_clock_pair_take(ut_clock_source(), &pair);
	atomic_fetch_add(&c->last_seq, 1);
	c->last = pair;
	atomic_fetch_add(&c->last_seq, 1);
}

/* ---- filters ------------------------------------------------------------------------------- */

int ut_control_add_filter(char list[UT_FILTER_BYTES], const char *pattern)
{
	char *p = list;
	size_t len = strlen(pattern) + 1;

	while (*p)
		p += strlen(p) + 1;
	if (len == 1 || (size_t)(p - list) + len + 1 > UT_FILTER_BYTES)
		return len == 1 ? -EINVAL : -ENOSPC;
	memcpy(p, pattern, len);
	return 0;
}

/* * and ? as in the shell; linear, because only the last * is ever tried again. */
static bool control_matches(const char *pattern, const char *name)
{
	const char *star = NULL, *resume = NULL;

	while (*name) {
		if (*pattern == '*') {
			star = pattern++;
			resume = name;
		} else if (*pattern == '?' || *pattern == *name) {
			pattern++;
			name++;
		} else if (star) {
			pattern = star + 1;
			name = ++resume;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

static bool any_matches(const char *list, const char *name)
{
	const char *end = list + UT_FILTER_BYTES - 1;

	for (const char *p = list; p < end && *p; p += strlen(p) + 1)
		if (control_matches(p, name))
			return true;
	return false;
}

bool ut_control_passes(const char *include, const char *exclude, const char *name)
{
	if (exclude[0] && any_matches(exclude, name))
		return false;
	return !include[0] || any_matches(include, name);
}

/* ---- named sessions ------------------------------------------------------------------------ */

int ut_named_path(const char *name, char path[1024], struct ut_err *err)
{
	size_t len =
		strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_");

	if (!len || name[len] || len > 64)
		return ut_err_set(err, -EINVAL,
				  "session name '%s': 1 to 64 letters, digits, '-' or '_'", name);
	snprintf(path, 1024, NAMED_DIR "/" NAMED_PREFIX "%s", (unsigned int)geteuid(), name);
	return 0;
}

/* Opens the file of a name; one that others own or that leads elsewhere is not for us. */
static int open_named(const char *path, int flags, struct ut_err *err)
{
	struct stat st;
	int fd = open(path, flags | O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return ut_err_set(err, -errno, "%s: cannot open it: %s", path, strerror(errno));
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != geteuid()) {
		close(fd);
		return ut_err_set(err, -EPERM, "%s: belongs to somebody else", path);
	}
	return fd;
}

/* The last one to leave may have removed the file between our open() and our lock. */
static bool is_still_there(int fd, const char *path)
{
	struct stat ours, there;

	return fstat(fd, &ours) == 0 && stat(path, &there) == 0 && ours.st_ino == there.st_ino &&
	       ours.st_dev == there.st_dev;
}

static int start_named(int fd, const char *path, struct ut_err *err)
{
	const uint32_t state = UT_STATE_RUNNING;
	int error = ftruncate(fd, 0) ? errno : posix_fallocate(fd, 0, NAMED_BYTES);

	if (!error && pwrite(fd, &state, sizeof(state), 0) != sizeof(state))
		error = EIO;
	return error ? ut_err_set(err, -error, "%s: cannot write to it: %s", path, strerror(error))
		     : 0;
}

/*
 * Everybody who uses the name holds a shared lock on its file; who can get the exclusive one is
 * alone. The kernel drops the locks of the dead, so nothing stale can stay. Turning one lock into
 * the other is not atomic: so whoever finds the file unprepared behind the shared lock, or gone,
 * begins again.
 */
int ut_named_join(const char *name, char path[1024], bool *reused, struct ut_err *err)
{
	int fd, rc = ut_named_path(name, path, err);
	struct stat st;

	while (!rc) {
		fd = open_named(path, O_CREAT, err);
		if (fd < 0)
			return fd;
		*reused = flock(fd, LOCK_EX | LOCK_NB) != 0;
		if (!*reused)
			rc = start_named(fd, path, err);
		if (!rc && flock(fd, LOCK_SH) == 0 && is_still_there(fd, path) &&
		    fstat(fd, &st) == 0 && st.st_size >= NAMED_BYTES)
			return fd;
		close(fd);
	}
	return rc;
}

void ut_named_leave(int fd, const char *path)
{
	if (fd < 0)
		return;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		unlink(path);
	close(fd);
}

/* Does anybody hold the lock of the name's file? */
static bool is_in_use(const char *path)
{
	int fd = open_named(path, 0, NULL);
	bool used = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0;

	if (fd >= 0)
		close(fd);
	return used;
}

void ut_named_each(void (*fn)(void *ctx, const char *name), void *ctx)
{
	char prefix[32], path[1024];
	size_t len = (size_t)snprintf(prefix, sizeof(prefix), NAMED_PREFIX, geteuid());
	DIR *dir = opendir(NAMED_DIR);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		const char *name = entry->d_name + len;

		if (!strncmp(entry->d_name, prefix, len) && !ut_named_path(name, path, NULL) &&
		    is_in_use(path))
			fn(ctx, name);
	}
	if (dir)
		closedir(dir);
}

int ut_named_set(const char *name, enum ut_state state, struct ut_err *err)
{
	char path[1024];
	_Atomic uint32_t *word;
	void *map;
	int rc = ut_named_path(name, path, err);

	if (rc)
		return rc;
	if (!is_in_use(path))
		return ut_err_set(err, -ENOENT, "no session named '%s' is running", name);
	map = map_file(path, NAMED_BYTES);
	if (!map)
		return ut_err_set(err, -EIO, "%s: cannot map it", path);
	word = map;
	rc = (int)atomic_load(word);
	if (rc != UT_STATE_STOPPED)
		atomic_store(word, state);
	ut_sys_wake(word);
	munmap(map, NAMED_BYTES);
	return rc;
}
