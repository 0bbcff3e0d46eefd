#include "cmd/merge_spill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"

#define MAGIC     0x6c697073u /* "spil" */
#define MOST_TEXT (UINT64_C(1) << 36)

/* In front of each frame: its keys, its ends and its text follow. */
struct head {
	uint32_t magic, count;
	uint64_t len;
};

/* ---- writing --------------------------------------------------------------------------------- */

static int write_all(const struct ut_spill *s, const void *data, size_t len, struct ut_err *err)
{
	const char *p = data;

	while (len) {
		ssize_t n = write(s->fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return ut_err_set(err, -errno, "%s: %s", s->path, strerror(errno));
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

static int flush(struct ut_spill *s, struct ut_err *err)
{
	struct ut_frame *f = &s->frame;
	struct head head = { MAGIC, f->count, f->len };
	int rc = 0;

	if (f->count)
		rc = write_all(s, &head, sizeof(head), err);
	if (!rc && f->count)
		rc = write_all(s, f->keys, f->count * sizeof(*f->keys), err);
	if (!rc && f->count)
		rc = write_all(s, f->ends, f->count * sizeof(*f->ends), err);
	if (!rc && f->count)
		rc = write_all(s, f->text, f->len, err);
	f->count = 0;
	f->len = 0;
	return rc;
}

static int put(struct ut_runs *runs, const struct ut_frame *from, uint32_t first, uint32_t end,
	       struct ut_err *err)
{
	struct ut_spill *s = (struct ut_spill *)runs;
	struct ut_frame *f = &s->frame;
	uint64_t start = first ? from->ends[first - 1] : 0, len = from->ends[end - 1] - start;
	uint32_t n = end - first;

	f->text = ut_grow(f->text, f->len + len, &f->cap, 1);
	f->keys = ut_grow(f->keys, f->count + n, &f->key_cap, sizeof(*f->keys));
	f->ends = ut_grow(f->ends, f->count + n, &f->end_cap, sizeof(*f->ends));
	memcpy(f->text + f->len, from->text + start, len);
	memcpy(f->keys + f->count, from->keys + first, n * sizeof(*f->keys));
	for (uint32_t i = 0; i < n; i++)
		f->ends[f->count + i] = f->len + from->ends[first + i] - start;
	f->len += len;
	f->count += n;
	return f->len >= UT_FRAME_BYTES ? flush(s, err) : 0;
}

void ut_spill_start(struct ut_spill *s, int fd, const char *path)
{
	*s = (struct ut_spill){ .runs.put = put, .fd = fd, .path = path };
}

int ut_spill_finish(struct ut_spill *s, struct ut_err *err)
{
	int rc = flush(s, err);

	ut_frame_release(&s->frame);
	return rc;
}

/* ---- reading --------------------------------------------------------------------------------- */

struct reader {
	struct ut_stream stream; /* first */
	int fd;
	const char *path;
};

/* 1, 0 at the end of the file, or what is wrong. */
static int read_all(const struct reader *r, void *to, size_t len, struct ut_err *err)
{
	size_t have = 0;

	while (have < len) {
		ssize_t n = read(r->fd, (char *)to + have, len - have);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return ut_err_set(err, -errno, "%s: %s", r->path, strerror(errno));
		if (!n && !have)
			return 0;
		if (!n)
			return ut_err_set(err, -EPROTO, "%s: the temporary file is incomplete",
					  r->path);
		have += (size_t)n;
	}
	return 1;
}

static int next(struct ut_stream *stream, struct ut_frame *f, struct ut_err *err)
{
	struct reader *r = (struct reader *)stream;
	struct head head;
	int rc = read_all(r, &head, sizeof(head), err);

	f->count = 0;
	f->len = 0;
	if (rc <= 0)
		return rc;
	if (head.magic != MAGIC || !head.count || head.len > MOST_TEXT)
		return ut_err_set(err, -EPROTO, "%s: the temporary file is damaged", r->path);
	f->text = ut_grow(f->text, head.len, &f->cap, 1);
	f->keys = ut_grow(f->keys, head.count, &f->key_cap, sizeof(*f->keys));
	f->ends = ut_grow(f->ends, head.count, &f->end_cap, sizeof(*f->ends));
	rc = read_all(r, f->keys, head.count * sizeof(*f->keys), err);
	if (rc == 1)
		rc = read_all(r, f->ends, head.count * sizeof(*f->ends), err);
	if (rc == 1)
		rc = read_all(r, f->text, head.len, err);
	if (rc == 0 || (rc == 1 && f->ends[head.count - 1] != head.len))
		return ut_err_set(err, -EPROTO, "%s: the temporary file is damaged", r->path);
	f->count = head.count;
	f->len = head.len;
	return rc;
}

static void close_reader(struct ut_stream *stream)
{
	struct reader *r = (struct reader *)stream;

	close(r->fd);
	free(r);
}

struct ut_stream *ut_spill_open(int fd, const char *path)
{
	struct reader *r = ut_make(sizeof(*r));

	*r = (struct reader){ { next, close_reader }, fd, path };
	posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	return &r->stream;
}

int ut_spill_unnamed(const char *beside)
{
	const char *slash = strrchr(beside, '/');
	const char *dir = slash ? beside : "./";
	int len = slash ? (int)(slash + 1 - beside) : 2;
	char path[4096];
	int fd;

	if (snprintf(path, sizeof(path), "%.*s", len, dir) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT))
		return fd < 0 ? -errno : fd;
	/* a file system without such files */
	if (snprintf(path, sizeof(path), "%.*s.unitrace-merge.XXXXXX", len, dir) >=
	    (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	unlink(path);
	return fd;
}
