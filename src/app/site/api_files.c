/* api_files.c - files of results: in by upload or by path, out one by one or all together. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/grow.h"
#include "base/path.h"
#include "site/events.h"
#include "site/site_call.h"
#include "text/out.h"
#include "text/tar.h"
#include "workbench/folder.h"
#include "workbench/output_log.h"

#define INCOMING    "incoming"
#define UPLOAD_MOST (UINT64_C(64) << 30)
#define KEPT_FREE   (UINT64_C(256) << 20) /* of the disk: others want to write, too */
#define LOG_MOST    (4u << 20)            /* bytes of a log that are sent at once ... */
#define OUTPUT_MOST (512u << 10)          /* ... and of what a program says */

/* ---- in ------------------------------------------------------------------------------------- */

/* What the disk has room for, and a little less. */
static uint64_t free_bytes(const struct ut_site *site)
{
	struct statvfs fs;
	uint64_t bytes;

	if (fstatvfs(site->data_dir.top, &fs))
		return 0;
	bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
	bytes = bytes > KEPT_FREE ? bytes - KEPT_FREE : 0;
	return bytes < UPLOAD_MOST ? bytes : UPLOAD_MOST;
}

int ut_files_begin_upload(struct ut_site *site, const struct ut_request *request,
			  struct ut_body *body)
{
	uint64_t left = ut_storage_left(&site->storage);
	struct ut_err err = { 0 };
	int at;

	(void)request;
	body->most = free_bytes(site);
	if (left < body->most) {
		body->most = left;
		if (ut_storage_check(&site->storage, left + 1, &err)) /* what is said if it is */
			snprintf(body->why, sizeof(body->why), "%.239s", err.text);
	}
	at = ut_folder_open(site->data_dir.own, INCOMING, true, NULL);
	if (at < 0 || !body->most) {
		if (at >= 0)
			close(at);
		return 507;
	}
	/* without a name: what is not complete goes with the connection */
	body->fd = openat(at, ".", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
	close(at);
	return body->fd < 0 ? 507 : 0;
}

/* What the file is called in its result: the last part of what the client calls it. */
static const char *file_name(const char *given)
{
	const char *base = given ? ut_path_base(given) : "";

	return ut_folder_name_fits(base) ? base : NULL;
}

/* Without the suffix that says what kind of file it is. */
static const char *result_name(struct ut_arena *a, const char *file)
{
	const char *suffix = ut_path_suffix(file);

	return suffix > file ? ut_arena_copy(a, file, (size_t)(suffix - file)) : file;
}

static int write_asked(int at, const char *file, const char *from, struct ut_err *err)
{
	struct ut_buf text = { 0 };
	struct ut_json_writer w = { .to = &text };
	int rc;

	ut_write_open(&w, NULL, '{');
	ut_write_text(&w, "kind", "import");
	ut_write_i64(&w, "made", (int64_t)time(NULL));
	ut_write_text(&w, "file", file);
	if (from)
		ut_write_text(&w, "from", from);
	ut_write_close(&w, '}');
	ut_buf_char(&text, '\n');
	rc = ut_folder_write(at, UT_RESULT_FILE, (struct ut_str){ text.data, text.len }, err);
	ut_buf_release(&text);
	return rc;
}

/* The bytes of fd under that name, copied unless they have no name yet. */
static int place_file(int at, int fd, bool is_nameless, const char *name, struct ut_err *err)
{
	char link[32];
	ssize_t got = 1;
	int to, rc = 0;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (is_nameless && !linkat(AT_FDCWD, link, at, name, AT_SYMLINK_FOLLOW))
		return 0;
	to = openat(at, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (to < 0)
		return ut_err_set(err, -errno, "%s: %s", name, strerror(errno));
	if (is_nameless && lseek(fd, 0, SEEK_SET)) /* its place is behind what was written */
		got = -1;
	while (got > 0) {
		got = copy_file_range(fd, NULL, to, NULL, 1 << 24, 0);
		if (got < 0 &&
		    (errno == EXDEV || errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP))
			got = sendfile(to, fd, NULL, 1 << 24);
		if (got < 0 && errno == EINTR)
			got = 1;
	}
	if (got < 0)
		rc = ut_err_set(err, -errno, "%s: %s", name, strerror(errno));
	if (close(to) && !rc)
		rc = ut_err_set(err, -errno, "%s: %s", name, strerror(errno));
	return rc;
}

/* Makes the result and answers with its name. */
static int import(struct ut_call *c, int fd, bool is_nameless, const char *file, const char *from,
		  struct ut_err *err)
{
	const char *name = ut_request_argument(c->request, "result"), *got;
	struct ut_data_dir *s = &c->site->data_dir;
	struct stat st;
	int at, in, rc;

	/* others may have come meanwhile: what has no name yet is counted when it gets one */
	if (fstat(fd, &st))
		return ut_err_set(err, -errno, "%s: %s", file, strerror(errno));
	rc = ut_storage_check(&c->site->storage, (uint64_t)st.st_size, err);
	if (rc)
		return rc;
	if (c->site->opts.check_trace)
		rc = c->site->opts.check_trace(fd, file, err);
	if (rc)
		return rc;
	if (!name)
		name = ut_doc_text(c->body, "result");
	at = ut_data_dir_add_result(s, c->arena, c->args[0],
				    name ? name : result_name(c->arena, file), &got, err);
	if (at < 0)
		return at;
	/* in a folder of its own: whatever it is called, it is none of our files */
	in = ut_folder_open(at, UT_UPLOADS, true, err);
	rc = in < 0 ? in : place_file(in, fd, is_nameless, file, err);
	if (in >= 0)
		close(in);
	if (!rc)
		rc = write_asked(at, file, from, err);
	close(at);
	if (rc) { /* half a result is none */
		in = ut_data_dir_open_project(s, c->args[0], NULL);

		if (in >= 0 && ut_folder_remove(in, got, NULL))
			rc = rc ? rc : -EIO;
		if (in >= 0)
			close(in);
		return rc;
	}
	ut_write_open(&c->out, NULL, '{');
	ut_write_text(&c->out, "project", c->args[0]);
	ut_write_text(&c->out, "result", got);
	ut_write_close(&c->out, '}');
	ut_events_changed(c->site->events);
	return 0;
}

/* Below the data directory; elsewhere only where programs may be started, which may read anything.
 */
static int open_path(struct ut_call *c, const char *path, struct ut_err *err)
{
	const struct ut_site *s = c->site;
	char *real = realpath(path, NULL);
	size_t len = strlen(s->data_dir.path);
	bool inside = real && !strncmp(real, s->data_dir.path, len) && real[len] == '/' &&
		      strncmp(real + len, "/.unitrace", 10) != 0;
	struct stat st;
	int fd;

	if (path[0] != '/')
		fd = ut_err_set(err, -EINVAL, "a path on the server begins with a slash");
	else if (!inside && !s->opts.profiling)
		fd = ut_err_set(
			err, -EACCES,
			"only files below the data directory: the server was started without "
			"--enable-server-profiling");
	else if (!real)
		fd = ut_err_set(err, -errno, "%s: %s", path, strerror(errno));
	else
		fd = open(real, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 && real && (!err || !err->code))
		fd = ut_err_set(err, -errno, "%s: %s", path, strerror(errno));
	free(real);
	if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode))) {
		close(fd);
		return ut_err_set(err, -EINVAL, "%s: is no file", path);
	}
	return fd;
}

static int import_path(struct ut_call *c, struct ut_err *err)
{
	const char *path, *file;
	int fd, rc = ut_call_text(c, "path", &path, err);

	if (rc)
		return rc;
	file = file_name(path);
	if (!file)
		return ut_err_set(err, -EINVAL, "%s: a name that does not fit", path);
	fd = open_path(c, path, err);
	if (fd < 0)
		return fd;
	rc = import(c, fd, false, file, path, err);
	close(fd);
	return rc;
}

int ut_api_import(struct ut_call *c, struct ut_err *err)
{
	const char *file = file_name(ut_request_argument(c->request, "file"));

	if (c->request->body_fd < 0)
		return import_path(c, err);
	if (!file)
		return ut_err_set(err, -EINVAL,
				  "?file=NAME is missing, or is a name that does not fit");
	if (!c->request->body_bytes)
		return ut_err_set(err, -EINVAL, "%s: is empty", file);
	return import(c, c->request->body_fd, true, file, NULL, err);
}

/* ---- out ------------------------------------------------------------------------------------ */

/* An upload, or a file of ours or of an older import. */
static int api_files_open_file(int at, const char *name, struct ut_err *err)
{
	int in = ut_folder_open(at, UT_UPLOADS, false, NULL), fd;

	fd = in < 0 ? in : ut_folder_open_file(in, name, NULL, NULL);
	if (in >= 0)
		close(in);
	return fd < 0 ? ut_folder_open_file(at, name, NULL, err) : fd;
}

int ut_api_file(struct ut_call *c, struct ut_err *err)
{
	int at = ut_data_dir_open_result(&c->site->data_dir, c->args[0], c->args[1], err), fd;

	if (at < 0)
		return at;
	fd = c->args[2][0] == '.' ? ut_err_set(err, -ENOENT, "there is no such file")
				  : api_files_open_file(at, c->args[2], err);
	close(at);
	if (fd < 0)
		return fd;
	c->reply->fd = fd;
	c->reply->status = 200;
	c->reply->type = "application/octet-stream"; /* whatever it is, it is not run here */
	c->reply->save_as = c->args[2];
	return 0;
}

/* A tarball that is made while it is sent. */
struct tarball {
	int at, uploads; /* the folder, and the one in it; < 0 = there is none */
	char **names;    /* first those of the folder */
	size_t own;      /* so many of them are */
	size_t count, cap, next;
	char *prefix;
	int fd;        /* of the file that is being sent; -1 = none */
	uint64_t left; /* bytes of it */
	uint64_t size;
	struct ut_out *head; /* what goes before or behind files */
	size_t sent;         /* of it */
	bool is_over;
};

static bool api_files_add_name(void *ctx, int at, const char *name, unsigned char type)
{
	struct tarball *t = ctx;
	size_t size = strlen(name) + 1;

	(void)at;
	if (type != DT_REG)
		return true;
	t->names = ut_grow(t->names, t->count + 1, &t->cap, sizeof(*t->names));
	t->names[t->count++] = memcpy(ut_make(size), name, size);
	return true;
}

static void close_tarball(void *ctx)
{
	struct tarball *t = ctx;

	for (size_t i = 0; i < t->count; i++)
		free(t->names[i]);
	free(t->names);
	free(t->prefix);
	ut_out_abandon(t->head);
	if (t->uploads >= 0)
		close(t->uploads);
	if (t->fd >= 0)
		close(t->fd);
	close(t->at);
	free(t);
}

/* The next file's header, or the end of the tarball. */
static void next_entry(struct tarball *t)
{
	struct ut_buf name = { 0 };
	struct stat st;

	ut_out_clear(t->head);
	t->sent = 0;
	while (t->fd < 0 && t->next < t->count) {
		t->fd = ut_folder_open_file(t->next < t->own ? t->at : t->uploads,
					    t->names[t->next], &t->size, NULL);
		t->next++;
		if (t->fd >= 0 && fstat(t->fd, &st)) {
			close(t->fd);
			t->fd = -1;
		}
	}
	if (t->fd < 0) {
		ut_tar_end(t->head);
		t->is_over = true;
		return;
	}
	t->left = t->size;
	ut_buf_fmt(&name, "%s/%s%s", t->prefix, t->next - 1 < t->own ? "" : UT_UPLOADS "/",
		   t->names[t->next - 1]);
	ut_tar_head(t->head, name.data, t->size, st.st_mtime);
	ut_buf_release(&name);
}

/* What a file that has become shorter lacks are zeros: the header has told its size. */
static ssize_t read_content(struct tarball *t, char *to, size_t room)
{
	size_t want = room < t->left ? room : (size_t)t->left;
	ssize_t got = read(t->fd, to, want);

	if (got <= 0) {
		memset(to, 0, want);
		got = (ssize_t)want;
	}
	t->left -= (uint64_t)got;
	if (!t->left) {
		close(t->fd);
		t->fd = -1;
		ut_out_clear(t->head);
		t->sent = 0;
		ut_tar_fill(t->head, t->size);
	}
	return got;
}

static ssize_t read_tarball(void *ctx, char *to, size_t room)
{
	struct tarball *t = ctx;

	for (;;) {
		size_t len;
		const char *text = ut_out_data(t->head, &len);

		if (t->sent < len) {
			size_t some = len - t->sent < room ? len - t->sent : room;

			memcpy(to, text + t->sent, some);
			t->sent += some;
			return (ssize_t)some;
		}
		if (t->fd >= 0 && t->left)
			return read_content(t, to, room);
		if (t->fd >= 0) { /* an empty one */
			close(t->fd);
			t->fd = -1;
		}
		if (t->is_over)
			return -1;
		next_entry(t);
	}
}

int ut_api_download(struct ut_call *c, struct ut_err *err)
{
	int at = ut_data_dir_open_result(&c->site->data_dir, c->args[0], c->args[1], err), rc;
	struct tarball *t;

	if (at < 0)
		return at;
	t = ut_make(sizeof(*t));
	*t = (struct tarball){ .at = at, .fd = -1, .head = ut_out_open_memory() };
	t->uploads = ut_folder_open(at, UT_UPLOADS, false, NULL);
	t->prefix = memcpy(ut_make(strlen(c->args[1]) + 1), c->args[1], strlen(c->args[1]));
	rc = ut_folder_each(at, api_files_add_name, t, err);
	t->own = t->count;
	if (!rc && t->uploads >= 0)
		rc = ut_folder_each(t->uploads, api_files_add_name, t, err);
	if (rc) {
		close_tarball(t);
		return rc;
	}
	c->reply->status = 200;
	c->reply->type = "application/x-tar";
	c->reply->save_as = ut_str_fmt(c->arena, "%s.tar", c->args[1]);
	c->reply->stream = (struct ut_reply_stream){ read_tarball, close_tarball, t };
	return 0;
}

/* ---- what was said -------------------------------------------------------------------------- */

/* The log from a place on; of a very long one its end. */
int ut_api_log(struct ut_call *c, struct ut_err *err)
{
	const char *from = ut_request_argument(c->request, "from");
	int at = ut_data_dir_open_result(&c->site->data_dir, c->args[0], c->args[1], err), fd;
	uint64_t bytes = 0, start = from ? strtoull(from, NULL, 10) : 0;
	char *text;
	ssize_t got;

	if (at < 0)
		return at;
	fd = ut_folder_open_file(at, UT_LOG_FILE, &bytes, NULL);
	close(at);
	if (start > bytes)
		start = bytes;
	if (bytes - start > LOG_MOST)
		start = bytes - LOG_MOST;
	text = ut_make((size_t)(bytes - start) + 1);
	got = fd < 0 ? 0 : pread(fd, text, (size_t)(bytes - start), (off_t)start);
	if (fd >= 0)
		close(fd);
	ut_write_open(&c->out, NULL, '{');
	ut_write_u64(&c->out, "from", start);
	ut_write_u64(&c->out, "next", start + (got > 0 ? (uint64_t)got : 0));
	ut_write_bytes(&c->out, "text", text, got > 0 ? (size_t)got : 0);
	ut_write_close(&c->out, '}');
	free(text);
	return 0;
}

int ut_api_output(struct ut_call *c, struct ut_err *err)
{
	const char *place = ut_request_argument(c->request, "from");
	uint64_t from = place ? strtoull(place, NULL, 10) : 0, next = from;
	int at = ut_data_dir_open_result(&c->site->data_dir, c->args[0], c->args[1], err);
	struct ut_buf text = { 0 };

	if (at < 0)
		return at;
	if (ut_output_log_read(at, &from, OUTPUT_MOST, &text, &next, NULL))
		from = next = 0; /* nothing was said */
	close(at);
	ut_write_open(&c->out, NULL, '{');
	ut_write_u64(&c->out, "from", from);
	ut_write_u64(&c->out, "next", next);
	ut_write_bytes(&c->out, "text", text.len ? text.data : "", text.len);
	ut_write_close(&c->out, '}');
	ut_buf_release(&text);
	return 0;
}
