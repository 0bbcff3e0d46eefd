#include "merge/spill.h"

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

static int spill_write_all(const struct ut_spill *s, const void *data, size_t len,
			   struct ut_err *err)
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

/* Twice as far apart, half as many. */
static void thin_marks(struct ut_spill *s)
{
	s->mark_count /= 2;
	for (size_t i = 1; i < s->mark_count; i++)
		s->marks[i] = s->marks[2 * i];
	s->step *= 2;
}

static void mark_frame(struct ut_spill *s)
{
	if (s->frames++ % s->step)
		return;
	if (s->mark_count == UT_SPILL_MARKS) {
		thin_marks(s);
		if ((s->frames - 1) % s->step)
			return;
	}
	s->marks[s->mark_count++] = (struct ut_spill_mark){ s->frame.keys[0], s->size, s->text };
}

static uint64_t frame_size(const struct head *h)
{
	return sizeof(*h) + h->count * (sizeof(int64_t) + sizeof(uint64_t)) + h->len;
}

static int spill_flush(struct ut_spill *s, struct ut_err *err)
{
	struct ut_frame *f = &s->frame;
	struct head head = { MAGIC, f->count, f->len };
	int rc;

	if (!f->count)
		return 0;
	mark_frame(s);
	rc = spill_write_all(s, &head, sizeof(head), err);
	if (!rc)
		rc = spill_write_all(s, f->keys, f->count * sizeof(*f->keys), err);
	if (!rc)
		rc = spill_write_all(s, f->ends, f->count * sizeof(*f->ends), err);
	if (!rc)
		rc = spill_write_all(s, f->text, f->len, err);
	s->size += frame_size(&head);
	s->text += f->len;
	f->count = 0;
	f->len = 0;
	return rc;
}

static int spill_put(struct ut_runs *runs, const struct ut_frame *from, uint32_t first,
		     uint32_t end, struct ut_err *err)
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
	return f->len >= UT_FRAME_BYTES ? spill_flush(s, err) : 0;
}

void ut_spill_start(struct ut_spill *s, int fd, uint64_t start, const char *path)
{
	*s = (struct ut_spill){ .runs.put = spill_put, .fd = fd, .path = path, .step = 1 };
	s->start = s->size = start;
	s->marks = ut_make(UT_SPILL_MARKS * sizeof(*s->marks));
}

int ut_spill_finish(struct ut_spill *s, struct ut_err *err)
{
	return spill_flush(s, err);
}

void ut_spill_release(struct ut_spill *s)
{
	ut_frame_release(&s->frame);
	free(s->marks);
	s->marks = NULL;
}

/* ---- reading --------------------------------------------------------------------------------- */

struct reader {
	struct ut_stream stream; /* first */
	int fd;
	const char *path;
	uint64_t at; /* in the file */
	struct ut_spill_cut from, to;
};

static int damaged(const struct reader *r, struct ut_err *err)
{
	return ut_err_set(err, -EPROTO, "%s: the temporary file is damaged", r->path);
}

/* 1, 0 at the end of the file, or what is wrong. */
static int spill_read_all(struct reader *r, void *to, size_t len, struct ut_err *err)
{
	size_t have = 0;

	while (have < len) {
		ssize_t n = pread(r->fd, (char *)to + have, len - have, (off_t)r->at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return ut_err_set(err, -errno, "%s: %s", r->path, strerror(errno));
		if (!n)
			return have ? damaged(r, err) : 0;
		have += (size_t)n;
		r->at += (uint64_t)n;
	}
	return 1;
}

/* The head of the next frame, and its keys. As spill_read_all(). */
static int spill_read_head(struct reader *r, struct head *head, struct ut_frame *f,
			   struct ut_err *err)
{
	int rc = spill_read_all(r, head, sizeof(*head), err);

	if (rc <= 0)
		return rc;
	if (head->magic != MAGIC || !head->count || head->len > MOST_TEXT)
		return damaged(r, err);
	f->keys = ut_grow(f->keys, head->count, &f->key_cap, sizeof(*f->keys));
	f->ends = ut_grow(f->ends, head->count, &f->end_cap, sizeof(*f->ends));
	rc = spill_read_all(r, f->keys, head->count * sizeof(*f->keys), err);
	if (rc == 1)
		rc = spill_read_all(r, f->ends, head->count * sizeof(*f->ends), err);
	if (rc == 0 || (rc == 1 && f->ends[head->count - 1] != head->len))
		return damaged(r, err);
	return rc;
}

static void drop_first(struct ut_frame *f, uint32_t n)
{
	uint64_t start = n ? f->ends[n - 1] : 0;

	f->len -= start;
	f->count -= n;
	memmove(f->text, f->text + start, f->len);
	memmove(f->keys, f->keys + n, f->count * sizeof(*f->keys));
	for (uint32_t i = 0; i < f->count; i++)
		f->ends[i] = f->ends[i + n] - start;
}

static int spill_next(struct ut_stream *stream, struct ut_frame *f, struct ut_err *err)
{
	struct reader *r = (struct reader *)stream;
	uint64_t start = r->at;
	struct head head;
	int rc;

	f->count = 0;
	f->len = 0;
	if (start > r->to.frame || (start == r->to.frame && !r->to.event))
		return 0;
	rc = spill_read_head(r, &head, f, err);
	if (rc <= 0)
		return rc;
	f->text = ut_grow(f->text, head.len, &f->cap, 1);
	rc = spill_read_all(r, f->text, head.len, err);
	if (rc <= 0)
		return rc ? rc : damaged(r, err);
	f->count = head.count;
	if (start == r->to.frame && r->to.event < head.count)
		f->count = (uint32_t)r->to.event;
	f->len = f->ends[f->count - 1];
	if (start == r->from.frame && r->from.event)
		drop_first(f, r->from.event < f->count ? (uint32_t)r->from.event : f->count);
	return f->count ? 1 : spill_next(stream, f, err);
}

static void close_reader(struct ut_stream *stream)
{
	free(stream);
}

struct ut_stream *ut_spill_open_part(int fd, const char *path, struct ut_spill_cut from,
				     struct ut_spill_cut to)
{
	struct reader *r = ut_make(sizeof(*r));

	*r = (struct reader){ { spill_next, close_reader }, fd, path, from.frame, from, to };
	posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	return &r->stream;
}

struct ut_stream *ut_spill_open(int fd, const char *path)
{
	struct ut_spill_cut start = { 0 }, end = { .frame = UINT64_MAX };

	return ut_spill_open_part(fd, path, start, end);
}

/* ---- finding --------------------------------------------------------------------------------- */

/* The last mark in front of which all keys are lower. */
static struct ut_spill_mark mark_before(const struct ut_spill *s, int64_t key)
{
	size_t low = 0, high = s->mark_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->marks[middle].key < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? s->marks[low - 1] : (struct ut_spill_mark){ .frame = s->start };
}

static uint32_t first_from(const struct ut_frame *f, uint32_t count, int64_t key)
{
	uint32_t low = 0, high = count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (f->keys[middle] < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct ut_spill_cut ut_spill_begin(const struct ut_spill *s)
{
	return (struct ut_spill_cut){ .frame = s->start };
}

struct ut_spill_cut ut_spill_end(const struct ut_spill *s)
{
	return (struct ut_spill_cut){ .frame = s->size, .text = s->text };
}

int ut_spill_find(const struct ut_spill *s, int64_t key, struct ut_spill_cut *cut,
		  struct ut_err *err)
{
	struct ut_spill_mark mark = mark_before(s, key);
	struct reader r = { .fd = s->fd, .path = s->path, .at = mark.frame };
	struct ut_frame f = { 0 };
	struct head head;
	int rc = 1;

	*cut = ut_spill_end(s);
	while (r.at < s->size && (rc = spill_read_head(&r, &head, &f, err)) == 1) {
		uint32_t event = first_from(&f, head.count, key);

		if (event < head.count) {
			*cut = (struct ut_spill_cut){ mark.frame, event,
						      mark.text + (event ? f.ends[event - 1] : 0) };
			break;
		}
		mark.frame += frame_size(&head);
		mark.text += head.len;
		r.at = mark.frame;
	}
	ut_frame_release(&f);
	return rc < 0 ? rc : 0;
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
