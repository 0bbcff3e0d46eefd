#include "text/out.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/disk_space.h"
#include "base/grow.h"
#include "base/path.h"
#include "base/size.h"
#include "base/str.h"
#include "text/digits.h"
#include "text/out_space.h"
#include "text/pack.h"

#define BUFFER_BYTES (256u << 10) /* fits the L2 cache together with what is being formatted */

#define MOST_NUMBERS 100000u

/* Bytes that are written before free space is checked, and between two checks. */
#define SPACE_FIRST (UINT64_C(1) << 20)
#define SPACE_STEP  (UINT64_C(4) << 20)

struct ut_out {
	struct ut_buf buf;
	int fd; /* -1: in memory, or failed */
	bool memory;
	bool borrowed; /* fd is not ours to close */
	bool unnamed;  /* the file has no name yet; temp is the one it will have for a moment */
	unsigned int flags;
	const char *wanted; /* numbers are added to it; NULL = no numbers */
	struct ut_pack *pack;
	char path[PATH_MAX];    /* what the user called it */
	char temp[PATH_MAX];    /* where the bytes go until commit; empty: written in place */
	uint64_t keep_free;     /* bytes on its file system; 0 = any */
	uint64_t until_checked; /* bytes */
	struct ut_err err;
};

/* ---- free space ---------------------------------------------------------------------------- */

#define MOST_DEVICES 16

static struct {
	bool on;
	struct ut_disk_reserve reserve;
	pthread_mutex_t lock;
	size_t count;
	struct {
		uint64_t device, bytes;
	} kept[MOST_DEVICES];
} space_rule = { .lock = PTHREAD_MUTEX_INITIALIZER };

void ut_out_keep_free(const struct ut_disk_reserve *reserve)
{
	pthread_mutex_lock(&space_rule.lock);
	space_rule.on = true;
	space_rule.reserve = *reserve;
	space_rule.count = 0;
	pthread_mutex_unlock(&space_rule.lock);
}

uint64_t ut_out_kept_free(const struct ut_disk_space *space)
{
	uint64_t bytes;
	size_t i = 0;

	pthread_mutex_lock(&space_rule.lock);
	while (i < space_rule.count && space_rule.kept[i].device != space->device)
		i++;
	if (i < space_rule.count) {
		bytes = space_rule.kept[i].bytes;
	} else {
		bytes = space_rule.on ? ut_disk_reserve_kept(&space_rule.reserve, space) : 0;
		if (i < MOST_DEVICES) {
			space_rule.kept[i].device = space->device;
			space_rule.kept[i].bytes = bytes;
			space_rule.count = i + 1;
		}
	}
	pthread_mutex_unlock(&space_rule.lock);
	return bytes;
}

/* How messages call it. */
static const char *title(const struct ut_out *o)
{
	return o->memory ? "memory" : strcmp(o->path, "-") ? o->path : "standard output";
}

static void out_fail(struct ut_out *o, int code)
{
	ut_err_set(&o->err, code, "%s: %s", title(o), strerror(-code));
}

static struct ut_out *new_out(void)
{
	struct ut_out *o = ut_make(sizeof(*o));

	o->fd = -1;
	ut_buf_reserve(&o->buf, BUFFER_BYTES - 1);
	return o;
}

/*
 * The temporary name lies beside path, so that the rename stays inside one file system. 200
 * bytes of the name leave room for ours where names end at 255.
 */
static bool name_temp(struct ut_out *o, unsigned int try)
{
	const char *slash = strrchr(o->path, '/');
	int dir = slash ? (int)(slash + 1 - o->path) : 0;
	char again[16] = "";
	int len;

	if (try)
		snprintf(again, sizeof(again), "-%u", try);
	len = snprintf(o->temp, sizeof(o->temp), "%.*s.%.200s.%ld%s.tmp", dir, o->path,
		       o->path + dir, (long)getpid(), again);
	return len < (int)sizeof(o->temp);
}

/* A file without a name vanishes with us, whatever ends us. Not every file system has them. */
static int open_unnamed(const struct ut_out *o)
{
	const char *slash = strrchr(o->path, '/');
	char dir[PATH_MAX] = ".";

	if (slash)
		snprintf(dir, sizeof(dir), "%.*s", (int)(slash + 1 - o->path), o->path);
	return open(dir, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
}

static int give_name(struct ut_out *o)
{
	char self[64];
	int rc = -EEXIST;

	snprintf(self, sizeof(self), "/proc/self/fd/%d", o->fd);
	for (unsigned int try = 0; rc == -EEXIST && try < 100 && name_temp(o, try); try++)
		rc = linkat(AT_FDCWD, self, AT_FDCWD, o->temp, AT_SYMLINK_FOLLOW) ? -errno : 0;
	if (rc)
		o->temp[0] = '\0';
	return rc;
}

/* Somebody else's name is left alone: another container may have our pid. */
static int open_temp(struct ut_out *o)
{
	int fd, rc = -ENAMETOOLONG;

	fd = open_unnamed(o);
	if (fd >= 0 && access("/proc/self/fd", F_OK) == 0) {
		o->unnamed = true;
		return fd;
	}
	if (fd >= 0)
		close(fd);
	for (unsigned int try = 0; try < 100 && name_temp(o, try); try++) {
		fd = open(o->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd >= 0)
			return fd;
		rc = -errno;
		if (rc != -EEXIST)
			break;
	}
	o->temp[0] = '\0';
	return rc;
}

static int open_path(struct ut_out *o)
{
	struct stat st;
	int fd;

	if (!strcmp(o->path, "-")) {
		o->borrowed = true;
		return STDOUT_FILENO;
	}
	if (stat(o->path, &st))
		return errno == ENOENT ? open_temp(o) : -errno;
	if (S_ISREG(st.st_mode))
		return o->flags & UT_OUT_OVERWRITE || o->wanted ? open_temp(o) : -EEXIST;
	fd = open(o->path, O_WRONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static void out_start(struct ut_out *o, const char *path)
{
	int rc;

	if (snprintf(o->path, sizeof(o->path), "%s", path) >= (int)sizeof(o->path)) {
		out_fail(o, -ENAMETOOLONG);
		return;
	}
	rc = ut_pack_new(&o->pack, ut_pack_by_name(path));
	if (!rc)
		rc = open_path(o);
	if (rc == -ENOTSUP)
		ut_err_set(&o->err, rc, "%s: built without this compression", path);
	else if (rc < 0)
		out_fail(o, rc);
	else
		o->fd = rc;
	if (o->unnamed || o->temp[0]) { /* a file of ours, not a pipe or device */
		struct ut_disk_space space;

		o->until_checked = SPACE_FIRST;
		if (ut_disk_space_fd(o->fd, &space))
			o->keep_free = ut_out_kept_free(&space);
	}
}

struct ut_out *ut_out_open(const char *path, unsigned int flags)
{
	struct ut_out *o = new_out();

	o->flags = flags;
	out_start(o, path);
	return o;
}

struct ut_out *ut_out_open_numbered(const char *path, const char *wanted)
{
	struct ut_out *o = new_out();

	o->wanted = wanted;
	out_start(o, path);
	return o;
}

struct ut_out *ut_out_open_memory(void)
{
	struct ut_out *o = new_out();

	o->memory = true;
	return o;
}

const char *ut_out_data(const struct ut_out *o, size_t *len)
{
	*len = o->buf.len;
	o->buf.data[o->buf.len] = '\0';
	return o->buf.data;
}

char *ut_out_take(struct ut_out *o, size_t *len)
{
	char *data = o->buf.data;

	*len = o->buf.len;
	o->buf = (struct ut_buf){ 0 };
	ut_out_abandon(o);
	return data;
}

void ut_out_clear(struct ut_out *o)
{
	o->buf.len = 0;
}

static void check_space(struct ut_out *o, size_t len)
{
	struct ut_disk_space space;
	char size[32];

	if (o->until_checked > len) {
		o->until_checked -= len;
		return;
	}
	o->until_checked = SPACE_STEP;
	if (ut_disk_space_fd(o->fd, &space) && space.free < o->keep_free + SPACE_STEP)
		ut_err_set(&o->err, -ENOSPC,
			   "%s: not written: less than %s would be left on the disk; choose "
			   "another place, compress it (.json.zst), or give --disk-reserve",
			   title(o), ut_size_text(size, sizeof(size), o->keep_free));
}

static void out_put(struct ut_out *o, const char *data, size_t len, bool last)
{
	int rc = 0;

	if (o->fd >= 0 && o->keep_free && !o->err.code)
		check_space(o, len);
	if (o->fd >= 0 && !o->err.code)
		rc = ut_pack_write(o->pack, o->fd, data, len, last);
	if (rc)
		out_fail(o, rc);
}

static void out_drain(struct ut_out *o, bool last)
{
	out_put(o, o->buf.data, o->buf.len, last);
	o->buf.len = 0;
}

char *ut_out_reserve(struct ut_out *o, size_t n)
{
	if (o->buf.cap - o->buf.len <= n) { /* a buffer has room for its NUL */
		if (!o->memory)
			out_drain(o, false);
		ut_buf_reserve(&o->buf, n);
	}
	return o->buf.data + o->buf.len;
}

void ut_out_advance(struct ut_out *o, const char *end)
{
	o->buf.len = (size_t)(end - o->buf.data);
}

struct ut_buf *ut_out_buffer(struct ut_out *o)
{
	if (o->buf.len > BUFFER_BYTES / 2 && !o->memory)
		out_drain(o, false);
	return &o->buf;
}

/* Claims path for the temporary file: rename() would silently replace what is there. */
static int move_new(const char *temp, const char *path)
{
	int fd;

	if (!renameat2(AT_FDCWD, temp, AT_FDCWD, path, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	/* A file system without that flag: whoever makes the empty file owns the name. */
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0)
		return -errno;
	close(fd);
	return rename(temp, path) ? -errno : 0;
}

/* Its name, or the first free one of WANTED-2, WANTED-3, ..., which o->path becomes. */
static int move_numbered(struct ut_out *o)
{
	struct ut_arena a = { 0 };
	const char *name = o->path;
	int rc = move_new(o->temp, name);

	for (unsigned int i = 2; rc == -EEXIST && i < MOST_NUMBERS; i++) {
		name = ut_path_insert(&a, o->wanted, ut_str_fmt(&a, "-%u", i));
		rc = move_new(o->temp, name);
	}
	if (!rc && name != o->path)
		snprintf(o->path, sizeof(o->path), "%s", name);
	ut_arena_release(&a);
	return rc;
}

static struct {
	pthread_mutex_t lock;
	size_t count;
	char path[PATH_MAX]; /* the first */
} replaced = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void note_replaced(const char *path)
{
	pthread_mutex_lock(&replaced.lock);
	/* Threads write in no order of theirs: the first by name is told. */
	if (!replaced.count++ || strcmp(path, replaced.path) < 0)
		snprintf(replaced.path, sizeof(replaced.path), "%s", path);
	pthread_mutex_unlock(&replaced.lock);
}

size_t ut_out_replaced(char *path, size_t size)
{
	size_t count;

	pthread_mutex_lock(&replaced.lock);
	count = replaced.count;
	snprintf(path, size, "%s", replaced.path);
	pthread_mutex_unlock(&replaced.lock);
	return count;
}

static int move_over(const struct ut_out *o)
{
	bool is_new = !(o->flags & UT_OUT_RENEW) && access(o->path, F_OK) == 0;

	if (rename(o->temp, o->path))
		return -errno;
	if (is_new)
		note_replaced(o->path);
	return 0;
}

static int move_in_place(struct ut_out *o)
{
	int rc;

	if (o->flags & UT_OUT_OVERWRITE)
		rc = move_over(o);
	else if (o->wanted)
		rc = move_numbered(o);
	else
		rc = move_new(o->temp, o->path);
	if (!rc)
		o->temp[0] = '\0';
	return rc;
}

const char *ut_out_file(struct ut_out *o)
{
	int rc;

	if (o->err.code)
		return NULL;
	if (o->fd < 0 || o->borrowed || ut_pack_by_name(o->path) || (!o->unnamed && !o->temp[0])) {
		ut_err_set(&o->err, -EINVAL, "%s: this format needs a plain file; give one with -o",
			   title(o));
		return NULL;
	}
	rc = o->unnamed ? give_name(o) : 0;
	if (rc) {
		out_fail(o, rc);
		return NULL;
	}
	o->unnamed = false;
	close(o->fd); /* a second descriptor would drop the locks of the writer's own */
	o->fd = -1;
	return o->temp;
}

void ut_out_fail(struct ut_out *o, int code, const char *text)
{
	ut_err_set(&o->err, code, "%s: %s", title(o), text);
}

int ut_out_error(const struct ut_out *o, struct ut_err *err)
{
	return o->err.code ? ut_err_set(err, o->err.code, "%s", o->err.text) : 0;
}

/* Everything that commit does, but for freeing o. */
static int complete(struct ut_out *o, struct ut_err *err)
{
	int rc;

	if (!o->memory)
		out_drain(o, true);
	if (o->unnamed && !o->err.code) {
		rc = give_name(o);
		if (rc)
			out_fail(o, rc);
	}
	/* A full quota or a network file system may fail only now. */
	if (o->fd >= 0 && !o->borrowed) {
		if (close(o->fd) && !o->err.code)
			out_fail(o, -errno);
		o->fd = -1;
	}
	if (o->temp[0] && !o->err.code) {
		rc = move_in_place(o);
		if (rc)
			out_fail(o, rc);
	}
	return ut_out_error(o, err);
}

int ut_out_commit(struct ut_out *o, struct ut_err *err)
{
	int rc = complete(o, err);

	ut_out_abandon(o);
	return rc;
}

int ut_out_commit_as(struct ut_out *o, struct ut_arena *a, const char **path, struct ut_err *err)
{
	int rc = complete(o, err);

	if (!rc)
		*path = ut_arena_copy(a, o->path, strlen(o->path));
	ut_out_abandon(o);
	return rc;
}

void ut_out_abandon(struct ut_out *o)
{
	if (!o)
		return;
	if (o->fd >= 0 && !o->borrowed)
		close(o->fd);
	if (o->temp[0])
		unlink(o->temp);
	ut_pack_free(o->pack);
	ut_buf_release(&o->buf);
	free(o);
}

void ut_out_write(struct ut_out *o, const void *data, size_t len)
{
	if (!len) /* then data may be NULL, which memcpy() must not get */
		return;
	/* Past the buffer, which a huge string would make huge. */
	if (len > BUFFER_BYTES / 2 && !o->memory) {
		out_drain(o, false);
		out_put(o, data, len, false);
		return;
	}
	memcpy(ut_out_reserve(o, len), data, len);
	o->buf.len += len;
}

void ut_out_text(struct ut_out *o, const char *s)
{
	ut_out_write(o, s, strlen(s));
}

void ut_out_one_line(struct ut_out *o, const struct ut_out *json)
{
	size_t len;
	const char *from = ut_out_data(json, &len), *end = from + len;

	while (from < end) {
		const char *next = memchr(from, '\n', (size_t)(end - from));

		ut_out_write(o, from, (size_t)((next ? next : end) - from));
		ut_out_text(o, next ? " " : "");
		from = next ? next + 1 : end;
	}
}

void ut_out_fmt(struct ut_out *o, const char *fmt, ...)
{
	size_t room = 256;
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(ut_out_reserve(o, room), room, fmt, ap);
	va_end(ap);
	if (len >= (int)room) {
		room = (size_t)len + 1;
		va_start(ap, fmt);
		len = vsnprintf(ut_out_reserve(o, room), room, fmt, ap);
		va_end(ap);
	}
	o->buf.len += len > 0 ? (size_t)len : 0;
}

void ut_out_u64(struct ut_out *o, uint64_t value)
{
	ut_out_advance(o, ut_digits_u64(ut_out_reserve(o, UT_DIGITS_ROOM), value));
}

void ut_out_i64(struct ut_out *o, int64_t value)
{
	if (value < 0)
		ut_out_text(o, "-");
	ut_out_u64(o, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void ut_out_us(struct ut_out *o, uint64_t ns)
{
	ut_out_advance(o, ut_digits_us(ut_out_reserve(o, UT_DIGITS_ROOM), ns));
}
