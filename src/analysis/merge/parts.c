#include "merge/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "merge/merge_text.h"
#include "mpijob/mpijob.h"

#define SAMPLES 256u /* that each rank gives, to find cuts that make parts of equal size */
#define BUFFER  (256u << 10)

int ut_merge_open_share(const char *path, struct ut_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return ut_err_set(err, -errno,
				  "%s: %s; the ranks need a directory that all of them see", path,
				  strerror(errno));
	return fd;
}

/* ---- where to cut ---------------------------------------------------------------------------- */

/* So many bytes of events have this key, or a bit more. */
struct sample {
	int64_t key;
	uint64_t text;
};

static size_t take_samples(const struct ut_spill *s, struct sample *samples)
{
	size_t step = s->mark_count / SAMPLES + 1, n = 0;

	for (size_t i = 0; i < s->mark_count; i += step) {
		size_t next = i + step;
		uint64_t end = next < s->mark_count ? s->marks[next].text : s->text;

		samples[n++] = (struct sample){ s->marks[i].key, end - s->marks[i].text };
	}
	return n;
}

static int parts_by_key(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	return (x->key > y->key) - (x->key < y->key);
}

/* The lowest key of each part but the first. */
static void choose_keys(struct sample *samples, size_t count, size_t parts, int64_t *keys)
{
	uint64_t total = 0, before = 0;
	size_t i = 0;

	qsort(samples, count, sizeof(*samples), parts_by_key);
	for (size_t k = 0; k < count; k++)
		total += samples[k].text;
	for (size_t part = 1; part < parts; part++) {
		while (i < count && before < total / parts * part)
			before += samples[i++].text;
		keys[part - 1] = i < count ? samples[i].key : INT64_MAX;
	}
}

/* The same on all ranks; free() them. */
static int64_t *agree_on_keys(struct ut_merge *m, const struct ut_spill *mine)
{
	struct sample *samples = ut_make((SAMPLES + 1) * sizeof(*samples));
	size_t count = take_samples(mine, samples), parts = (size_t)m->job->ranks;
	size_t bytes = (parts - 1) * sizeof(int64_t);
	int64_t *keys = ut_make(bytes + 1), *agreed;
	struct ut_gathered all;

	ut_mpijob_gather(m->job, samples, count * sizeof(*samples), &all);
	if (all.count)
		choose_keys((struct sample *)(void *)all.data,
			    (size_t)all.starts[all.count] / sizeof(*samples), parts, keys);
	ut_gathered_release(&all);
	agreed = ut_mpijob_bcast(m->job, keys, &bytes);
	free(keys);
	free(samples);
	return agreed;
}

int ut_merge_cut(struct ut_merge *m, struct ut_merge_parts *p, struct ut_err *err)
{
	size_t ranks = (size_t)m->job->ranks, len;
	struct ut_spill_cut *cuts = ut_make((ranks + 1) * sizeof(*cuts));
	int64_t *keys = agree_on_keys(m, p->mine);
	int rc = 0;

	for (size_t r = 1; !rc && r < ranks; r++)
		rc = ut_spill_find(p->mine, keys[r - 1], &cuts[r], err);
	cuts[ranks] = ut_spill_end(p->mine);
	p->cuts = ut_mpijob_share(m->job, cuts, (ranks + 1) * sizeof(*cuts), &len);
	free(keys);
	free(cuts);
	return ut_mpijob_agree(m->job, rc, err);
}

/* Bytes of events in front of a part, in the files of all ranks. */
static uint64_t text_before(const struct ut_merge_parts *p, size_t ranks, size_t part)
{
	uint64_t text = 0;

	for (size_t r = 0; r < ranks; r++)
		text += p->cuts[r * (ranks + 1) + part].text;
	return text;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Bytes that go to a place in the result. */
struct place {
	struct ut_runs runs; /* first */
	int fd;
	const char *path;
	uint64_t at;
	uint64_t events;
	bool no_comma; /* in front of the next event */
	size_t len;
	char *buf; /* of BUFFER bytes */
};

static int parts_put_bytes(struct place *p, const char *data, size_t len, struct ut_err *err)
{
	while (len) {
		ssize_t n = pwrite(p->fd, data, len, (off_t)p->at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return ut_err_set(err, -errno, "%s: %s", p->path, strerror(errno));
		data += n;
		len -= (size_t)n;
		p->at += (uint64_t)n;
	}
	return 0;
}

static int parts_drain(struct place *p, struct ut_err *err)
{
	int rc = parts_put_bytes(p, p->buf, p->len, err);

	p->len = 0;
	return rc;
}

static int put_run(struct ut_runs *runs, const struct ut_frame *f, uint32_t from, uint32_t to,
		   struct ut_err *err)
{
	struct place *p = (struct place *)runs;
	uint64_t start = (from ? f->ends[from - 1] : 0) + p->no_comma;
	size_t len = f->ends[to - 1] - start;
	int rc = 0;

	p->no_comma = false;
	p->events += to - from;
	if (len > BUFFER - p->len)
		rc = parts_drain(p, err);
	if (!rc && len > BUFFER)
		return parts_put_bytes(p, f->text + start, len, err);
	memcpy(p->buf + p->len, f->text + start, rc ? 0 : len);
	p->len += rc ? 0 : len;
	return rc;
}

static int parts_open_parts(const struct ut_merge *m, const struct ut_merge_parts *p,
			    struct ut_streams *s, struct ut_err *err)
{
	size_t ranks = (size_t)m->job->ranks;

	for (size_t r = 0; r < ranks; r++) {
		const struct ut_spill_cut *cut = &p->cuts[r * (ranks + 1) + (size_t)m->job->rank];
		int fd;

		if (cut[0].text == cut[1].text)
			continue;
		fd = ut_merge_open_share(p->paths[r], err);
		if (fd < 0)
			return fd;
		ut_streams_add_fd(s, fd);
		ut_streams_add(s, ut_spill_open_part(fd, p->paths[r], cut[0], cut[1]));
	}
	return 0;
}

/* What stands in front of the events, and behind them. */
static int write_frame(struct place *p, const struct ut_merge_plan *plan, uint64_t text,
		       struct ut_err *err)
{
	size_t head = strlen(UT_MERGE_HEAD);
	struct ut_buf tail = { 0 };
	int rc;

	p->at = 0;
	rc = parts_put_bytes(p, UT_MERGE_HEAD, head, err);
	ut_merge_plan_tail(plan, &tail);
	p->at = head + text - (text > 0);
	if (!rc)
		rc = parts_put_bytes(p, tail.data, tail.len, err);
	ut_buf_release(&tail);
	return rc;
}

static int write_events(struct ut_merge *m, const struct ut_merge_parts *p, struct place *place,
			struct ut_err *err)
{
	uint64_t text = text_before(p, (size_t)m->job->ranks, (size_t)m->job->rank);
	struct ut_streams s = { 0 };
	int rc;

	/* The comma in front of the first event of all is not written. */
	place->no_comma = !text;
	place->at = strlen(UT_MERGE_HEAD) + text - !place->no_comma;
	rc = parts_open_parts(m, p, &s, err);
	if (!rc)
		rc = ut_merge_narrow(m, &s, err);
	if (!rc)
		rc = ut_streams_merge(s.items, s.count, m->threads, &place->runs, err);
	if (!rc)
		rc = parts_drain(place, err);
	ut_streams_release(&s);
	return rc;
}

/* On rank 0 the events of all ranks. */
static void count_events(struct ut_merge *m, uint64_t mine)
{
	struct ut_gathered all;

	ut_mpijob_gather(m->job, &mine, sizeof(mine), &all);
	for (size_t r = 0; r < all.count; r++) {
		memcpy(&mine, all.data + r * sizeof(mine), sizeof(mine));
		m->events += mine;
	}
	ut_gathered_release(&all);
}

int ut_merge_write_part(struct ut_merge *m, const struct ut_merge_plan *plan,
			const struct ut_merge_parts *p, struct ut_err *err)
{
	size_t ranks = (size_t)m->job->ranks;
	struct place place = { .runs.put = put_run, .path = m->output };
	int rc = 0;

	place.fd = open(p->result, O_WRONLY | O_CLOEXEC);
	if (place.fd < 0)
		rc = ut_err_set(err, -errno,
				"%s: %s; the ranks need a directory that all of them see",
				p->result, strerror(errno));
	place.buf = ut_make(BUFFER);
	if (!rc)
		rc = write_events(m, p, &place, err);
	if (!rc && !m->job->rank)
		rc = write_frame(&place, plan, text_before(p, ranks, ranks), err);
	/* A full quota or a network file system may fail only now. */
	if (place.fd >= 0 && close(place.fd) && !rc)
		rc = ut_err_set(err, -errno, "%s: %s", m->output, strerror(errno));
	count_events(m, place.events);
	free(place.buf);
	return rc;
}
