#include "workbench/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/path.h"
#include "base/utf8.h"
#include "text/json_doc.h"

#define LEVELS 8u /* of folders in a result */

/* ---- names ---------------------------------------------------------------------------------- */

/* Letters that turn text around, or cannot be seen at all. */
static bool is_unseen(uint32_t c)
{
	return c < 0x20 || c == 0x7f || (c >= 0x80 && c < 0xa0) || c == 0xad || c == 0x61c ||
	       (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2060 && c <= 0x206f) || c == 0xfeff || (c >= 0xfff0 && c <= 0xfffb);
}

/* Of the bytes of one character. */
static uint32_t letter(const char *s, size_t len)
{
	static const unsigned char first[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	uint32_t c = (unsigned char)s[0] & first[len];

	for (size_t i = 1; i < len; i++)
		c = c << 6 | ((unsigned char)s[i] & 63);
	return c;
}

bool ut_folder_name_fits(const char *name)
{
	size_t len = name ? strlen(name) : 0;

	if (!len || len > UT_NAME_MOST || strchr(". -", name[0]) || name[len - 1] == ' ')
		return false;
	for (size_t at = 0, step; at < len; at += step) {
		bool ok;
		uint32_t c;

		step = ut_utf8_step(name + at, len - at, &ok);
		c = ok ? letter(name + at, step) : '/';
		if (c == '/' || c == '\\' || is_unseen(c))
			return false;
	}
	return true;
}

/* Our own files may begin with a dot; nothing else is allowed to them. */
static bool is_component(const char *name)
{
	return name[0] && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && !strchr(name, '/');
}

/* ---- folders -------------------------------------------------------------------------------- */

int ut_folder_open(int at, const char *name, bool make, struct ut_err *err)
{
	int fd;

	if (!is_component(name))
		return ut_err_set(err, -EINVAL, "'%s' is no name of a folder", name);
	if (make && mkdirat(at, name, 0700) && errno != EEXIST)
		return ut_err_set(err, -errno, "%s: cannot be made: %s", name, strerror(errno));
	fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0)
		return fd;
	if (errno == ELOOP || errno == ENOTDIR)
		return ut_err_set(err, -ENOENT, "%s: is no folder", name);
	return ut_err_set(err, -errno, "%s: %s", name, strerror(errno));
}

int ut_folder_open_top(const char *path, struct ut_err *err)
{
	struct ut_arena arena = { 0 };
	int rc = 0, fd;

	/* a new one is for its owner alone; the folders above it are like any others */
	if (mkdir(path, 0700) && errno == ENOENT) {
		rc = ut_path_mkdirs(ut_path_dir(&arena, path), err);
		if (!rc && mkdir(path, 0700) && errno != EEXIST)
			rc = ut_err_set(err, -errno, "%s: %s", path, strerror(errno));
		ut_arena_release(&arena);
	}
	if (rc)
		return rc;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return ut_err_set(err, -errno, "%s: %s", path, strerror(errno));
	return fd;
}

static unsigned char folder_type_of(int at, const struct dirent *e)
{
	struct stat st;

	if (e->d_type != DT_UNKNOWN)
		return e->d_type;
	if (fstatat(at, e->d_name, &st, AT_SYMLINK_NOFOLLOW))
		return DT_UNKNOWN;
	return IFTODT(st.st_mode);
}

/* A stream of its own: the caller's descriptor stays where it is. */
static DIR *open_stream(int at)
{
	int fd = openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;

	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

int ut_folder_each(int at, ut_folder_fn fn, void *ctx, struct ut_err *err)
{
	DIR *dir = open_stream(at);
	struct dirent *e;
	bool more = true;

	if (!dir)
		return ut_err_set(err, -errno, "cannot be listed: %s", strerror(errno));
	while (more && (e = readdir(dir))) {
		if (e->d_name[0] != '.')
			more = fn(ctx, at, e->d_name, folder_type_of(at, e));
	}
	closedir(dir);
	return 0;
}

struct sum {
	uint64_t bytes;
	unsigned int level;
};

static bool add_bytes(void *ctx, int at, const char *name, unsigned char type)
{
	struct sum *s = ctx;
	struct stat st;
	int fd;

	if (type == DT_REG && !fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW))
		s->bytes += (uint64_t)st.st_blocks * 512 < (uint64_t)st.st_size
				    ? (uint64_t)st.st_blocks * 512
				    : (uint64_t)st.st_size;
	if (type != DT_DIR || s->level == LEVELS)
		return true;
	fd = ut_folder_open(at, name, false, NULL);
	if (fd < 0)
		return true;
	s->level++;
	if (ut_folder_each(fd, add_bytes, s, NULL))
		s->bytes += 0; /* what may not be listed is not counted */
	s->level--;
	close(fd);
	return true;
}

uint64_t ut_folder_bytes(int at)
{
	struct sum s = { 0 };

	return ut_folder_each(at, add_bytes, &s, NULL) ? 0 : s.bytes;
}

/* ---- files ---------------------------------------------------------------------------------- */

int ut_folder_open_file(int at, const char *name, uint64_t *bytes, struct ut_err *err)
{
	struct stat st;
	int fd;

	if (!is_component(name))
		return ut_err_set(err, -EINVAL, "'%s' is no name of a file", name);
	/* not blocking: somebody may have put a pipe there */
	fd = openat(at, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return ut_err_set(err, errno == ELOOP ? -ENOENT : -errno, "%s: %s", name,
				  errno == ELOOP ? "is a link" : strerror(errno));
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return ut_err_set(err, -ENOENT, "%s: is no file", name);
	}
	if (bytes)
		*bytes = (uint64_t)st.st_size;
	return fd;
}

int ut_folder_read(int at, const char *name, size_t most, struct ut_buf *text, struct ut_err *err)
{
	uint64_t bytes;
	int fd = ut_folder_open_file(at, name, &bytes, err), rc = 0;
	ssize_t got = 1;

	if (fd < 0)
		return fd;
	while (!rc && got > 0) {
		char *to = ut_buf_reserve(text, 4096);

		got = read(fd, to, 4096);
		if (got < 0 && errno == EINTR)
			got = 1;
		else if (got < 0)
			rc = ut_err_set(err, -errno, "%s: %s", name, strerror(errno));
		else if (text->len + (size_t)got > most)
			rc = ut_err_set(err, -EFBIG, "%s: is larger than it should be", name);
		else
			ut_buf_advance(text, to + got);
	}
	close(fd);
	return rc;
}

int ut_folder_read_doc(int at, const char *name, size_t most, struct ut_arena *a,
		       const struct ut_doc **t, struct ut_err *err)
{
	struct ut_buf text = { 0 };
	int rc = ut_folder_read(at, name, most, &text, err);

	*t = NULL;
	if (!rc)
		rc = ut_doc_read(a, (struct ut_str){ text.data ? text.data : "", text.len }, t,
				 err);
	if (rc)
		*t = NULL;
	ut_buf_release(&text);
	return rc;
}

static int folder_write_all(int fd, struct ut_str text)
{
	while (text.len) {
		ssize_t n = write(fd, text.ptr, text.len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		text.ptr += n;
		text.len -= (size_t)n;
	}
	return 0;
}

int ut_folder_write(int at, const char *name, struct ut_str text, struct ut_err *err)
{
	char temporary[UT_NAME_MOST * 2];
	int fd, rc;

	if (!is_component(name) ||
	    snprintf(temporary, sizeof(temporary), ".%s.%d.%lx.new", name, (int)getpid(),
		     (unsigned long)pthread_self()) >= (int)sizeof(temporary))
		return ut_err_set(err, -EINVAL, "'%s' is no name of a file", name);
	fd = openat(at, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return ut_err_set(err, -errno, "%s: cannot be written: %s", name, strerror(errno));
	rc = folder_write_all(fd, text);
	if (!rc && fsync(fd))
		rc = -errno;
	close(fd);
	if (!rc && renameat(at, temporary, at, name))
		rc = -errno;
	if (!rc)
		return 0;
	unlinkat(at, temporary, 0);
	return ut_err_set(err, rc, "%s: cannot be written: %s", name, strerror(-rc));
}

/* ---- moving and removing -------------------------------------------------------------------- */

struct removal {
	unsigned int level;
	int rc;
};

/* Entries with a dot are removed as well, so this walks by itself. */
static void remove_in(struct removal *r, int at, const char *name);

static void remove_folder(struct removal *r, int at, const char *name)
{
	int fd = ut_folder_open(at, name, false, NULL);
	DIR *dir = fd >= 0 ? open_stream(fd) : NULL;
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			remove_in(r, fd, e->d_name);
	}
	if (dir)
		closedir(dir);
	if (fd >= 0)
		close(fd);
	if (unlinkat(at, name, AT_REMOVEDIR) && errno != ENOENT && !r->rc)
		r->rc = -errno;
}

static void remove_in(struct removal *r, int at, const char *name)
{
	if (!unlinkat(at, name, 0) || errno == ENOENT)
		return;
	if (errno != EISDIR && errno != EPERM) {
		r->rc = r->rc ? r->rc : -errno;
		return;
	}
	if (r->level == LEVELS) {
		r->rc = r->rc ? r->rc : -ELOOP;
		return;
	}
	r->level++;
	remove_folder(r, at, name);
	r->level--;
}

int ut_folder_remove(int at, const char *name, struct ut_err *err)
{
	struct removal r = { 0 };

	if (!is_component(name))
		return ut_err_set(err, -EINVAL, "'%s' is no name", name);
	remove_in(&r, at, name);
	return r.rc ? ut_err_set(err, r.rc, "%s: cannot be removed: %s", name, strerror(-r.rc)) : 0;
}

int ut_folder_move(int from, const char *name, int to, const char *as, struct ut_err *err)
{
	if (!is_component(name) || !is_component(as))
		return ut_err_set(err, -EINVAL, "'%s' is no name", as);
	if (!renameat2(from, name, to, as, RENAME_NOREPLACE))
		return 0;
	if (errno == EEXIST)
		return ut_err_set(err, -EEXIST, "there is a '%s' already", as);
	return ut_err_set(err, -errno, "%s: cannot be moved: %s", name, strerror(errno));
}
