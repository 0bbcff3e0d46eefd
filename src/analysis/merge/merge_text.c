/*
 * merge_text.c - Chrome JSON into Chrome JSON, event by event as text.
 *
 * Two looks at each file: the first finds what is in it (facts.c), out of which comes the
 * plan (plan.h); the second copies. Large files are copied at once, if what is in them can be
 * guessed from their ends (merge_once.c). Memory does not depend on the size of the files, and
 * not on their number: beyond FILES_MOST of them, groups are merged into temporary files first.
 * Since merging is associative, the bytes are the same.
 */
#include "merge/merge_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/grow.h"
#include "merge/spill.h"
#include "mpijob/mpijob.h"
#include "mpijob/share.h"
#include "text/out.h"

#define FILES_MOST  64  /* files that are open at once: 1 MiB of buffers each */
#define FILES_OTHER 12  /* that are open beside them */
#define SPILLS_MOST 256 /* streams of a temporary file: 200 KiB of buffers each */

/* ---- streams --------------------------------------------------------------------------------- */

struct file_stream {
	struct ut_stream stream; /* first */
	const struct ut_merge_file *file;
	struct ut_progress *progress;
	struct ut_rewrite rewrite;
	struct ut_facts *seen; /* NULL: the facts are known */
	bool open;
	uint64_t reported; /* bytes, to progress */
};

static int next_of_file(struct ut_stream *stream, struct ut_frame *frame, struct ut_err *err)
{
	struct file_stream *s = (struct file_stream *)stream;
	const struct ut_merge_file *f = s->file;
	int rc = 0;

	if (!s->open)
		rc = ut_rewrite_open(&s->rewrite, f->path, &f->facts, &f->plan, err);
	if (rc)
		return rc;
	if (!s->open && s->seen) {
		ut_facts_start(s->seen);
		s->rewrite.seen = s->seen;
	}
	s->open = true;
	rc = ut_rewrite_next(&s->rewrite, frame, err);
	/* a look that is the only one counts for two */
	ut_progress_add(s->progress,
			(s->rewrite.walk.source.taken - s->reported) * (s->seen ? 2 : 1));
	s->reported = s->rewrite.walk.source.taken;
	return rc;
}

static void close_file(struct ut_stream *stream)
{
	struct file_stream *s = (struct file_stream *)stream;

	if (s->open)
		ut_rewrite_close(&s->rewrite);
	free(s);
}

static struct ut_stream *merge_text_open_file(const struct ut_merge *m,
					      const struct ut_merge_file *file,
					      struct ut_facts *seen)
{
	struct file_stream *s = ut_make(sizeof(*s));

	s->stream = (struct ut_stream){ next_of_file, close_file };
	s->file = file;
	s->progress = m->progress;
	s->seen = seen;
	return &s->stream;
}

void ut_streams_add(struct ut_streams *s, struct ut_stream *stream)
{
	s->items = ut_grow(s->items, s->count + 1, &s->cap, sizeof(struct ut_stream *));
	s->items[s->count++] = stream;
}

void ut_streams_add_fd(struct ut_streams *s, int fd)
{
	s->fds = ut_grow(s->fds, s->fd_count + 1, &s->fd_cap, sizeof(*s->fds));
	s->fds[s->fd_count++] = fd;
}

void ut_streams_release(struct ut_streams *s)
{
	for (size_t i = 0; i < s->count; i++) {
		if (s->items[i])
			s->items[i]->close(s->items[i]);
	}
	for (size_t i = 0; i < s->fd_count; i++)
		close(s->fds[i]);
	free(s->items);
	free(s->fds);
	*s = (struct ut_streams){ 0 };
}

/* As many as the system lets us have: select(), which minds, is not used anywhere. */
static void allow_open_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/* How many files may be open at once, beside what is open anyway. */
static size_t most_open(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= FILES_MOST + FILES_OTHER)
		return FILES_MOST;
	return limit.rlim_cur > FILES_OTHER + 2 ? limit.rlim_cur - FILES_OTHER : 2;
}

/* One stream out of some, behind what is in the file of to already. */
static int merge_group(const struct ut_merge *m, struct ut_stream *const *streams, size_t count,
		       struct ut_streams *to, uint64_t *size, struct ut_err *err)
{
	struct ut_spill spill;
	int fd = to->fds[0], rc, finished;

	ut_spill_start(&spill, fd, *size, m->output);
	rc = ut_streams_merge(streams, count, m->threads, &spill.runs, err);
	finished = ut_spill_finish(&spill, err);
	*size = spill.size;
	ut_streams_add(to, ut_spill_open_part(fd, m->output, ut_spill_begin(&spill),
					      ut_spill_end(&spill)));
	ut_spill_release(&spill);
	return rc ? rc : finished;
}

/* The streams in groups of at most most, and one stream for each of them. */
static int merge_groups(const struct ut_merge *m, struct ut_streams *s, size_t most,
			struct ut_err *err)
{
	struct ut_streams fewer = { 0 };
	uint64_t size = 0;
	int rc = 0, fd = ut_spill_unnamed(m->output);

	if (fd < 0)
		return ut_err_set(err, fd, "%s: no temporary file beside it: %s", m->output,
				  strerror(-fd));
	ut_streams_add_fd(&fewer, fd);
	for (size_t i = 0; !rc && i < s->count; i += most) {
		size_t n = s->count - i < most ? s->count - i : most;

		rc = merge_group(m, s->items + i, n, &fewer, &size, err);
		for (size_t k = i; k < i + n; k++) { /* their files are no longer needed */
			s->items[k]->close(s->items[k]);
			s->items[k] = NULL;
		}
	}
	ut_streams_release(s);
	*s = fewer;
	return rc;
}

int ut_merge_narrow(const struct ut_merge *m, struct ut_streams *s, struct ut_err *err)
{
	/* those that have brought their descriptors read from files that are open already */
	size_t most = s->fd_count ? SPILLS_MOST : most_open();
	int rc = 0;

	for (; !rc && s->count > most; most = SPILLS_MOST)
		rc = merge_groups(m, s, most, err);
	return rc;
}

/* ---- the result ------------------------------------------------------------------------------ */

struct result {
	struct ut_runs runs; /* first */
	struct ut_out *out;
	uint64_t events;
};

static int merge_text_put_result(struct ut_runs *runs, const struct ut_frame *f, uint32_t from,
				 uint32_t to, struct ut_err *err)
{
	struct result *r = (struct result *)runs;
	uint64_t start = from ? f->ends[from - 1] : 0;

	(void)err;           /* errors stick to the out */
	start += !r->events; /* no comma in front of the first */
	ut_out_write(r->out, f->text + start, f->ends[to - 1] - start);
	r->events += to - from;
	return 0;
}

int ut_merge_write(struct ut_merge *m, const struct ut_merge_plan *plan, struct ut_streams *s,
		   struct ut_merge_check *check, struct ut_err *err)
{
	struct result r = { .runs.put = merge_text_put_result };
	struct ut_buf tail = { 0 };
	int rc = ut_merge_narrow(m, s, err);

	if (rc)
		return rc;
	r.out = ut_out_open(m->output, m->out_flags);
	ut_out_text(r.out, UT_MERGE_HEAD);
	rc = ut_streams_merge(s->items, s->count, m->threads, &r.runs, err);
	if (!rc && check)
		rc = check->fn(check, err);
	if (rc) {
		ut_out_abandon(r.out);
		return rc;
	}
	ut_merge_plan_tail(plan, &tail);
	ut_out_write(r.out, tail.data, tail.len);
	ut_buf_release(&tail);
	m->events = r.events;
	return ut_out_commit(r.out, err);
}

/* ---- alone ----------------------------------------------------------------------------------- */

void ut_merge_open_files(const struct ut_merge *m, size_t first, size_t count,
			 struct ut_facts *seen, struct ut_streams *s)
{
	for (size_t i = first; i < first + count; i++) {
		if (!m->files[i].left_out)
			ut_streams_add(
				s, merge_text_open_file(m, &m->files[i], seen ? &seen[i] : NULL));
	}
}

static int merge_alone(struct ut_merge *m, const struct ut_merge_plan *plan, struct ut_err *err)
{
	struct ut_streams s = { 0 };
	int rc;

	ut_merge_open_files(m, 0, m->count, NULL, &s);
	rc = ut_merge_write(m, plan, &s, NULL, err);
	ut_streams_release(&s);
	return rc;
}

/* ---- files with samples -----------------------------------------------------------------------
 */

static bool any_samples(const struct ut_merge *m)
{
	for (size_t i = 0; i < m->count; i++) {
		if (!m->files[i].left_out && m->files[i].facts.samples)
			return true;
	}
	return false;
}

/* Their stacks are numbered anew: the model knows how. */
static int merge_samples(struct ut_merge *m, struct ut_err *err)
{
	for (size_t i = 0; i < m->count; i++) {
		ut_facts_release(&m->files[i].facts);
		m->files[i].facts = (struct ut_facts){ 0 };
	}
	return ut_merge_model(m, err);
}

/* ---- all of it ------------------------------------------------------------------------------- */

int ut_merge_text(struct ut_merge *m, struct ut_err *err)
{
	struct ut_merge_plan plan = { 0 };
	size_t first, count, valid = 0;
	int rc;

	allow_open_files();
	if (ut_merge_once(m))
		return 0;
	ut_share(m->sizes, m->count, (unsigned int)m->job->ranks, (unsigned int)m->job->rank,
		 &first, &count);
	rc = ut_merge_read_facts(m, first, count, err);
	rc = ut_mpijob_agree(m->job, rc, err);
	if (!rc && m->job->ranks > 1)
		rc = ut_merge_exchange(m, first, count, err);
	for (size_t i = 0; i < m->count; i++)
		valid += !m->files[i].left_out;
	if (!rc && any_samples(m))
		return merge_samples(m, err);
	if (!rc && !valid)
		rc = ut_merge_empty_result(m, err);
	if (!rc)
		rc = ut_merge_find_clocks(m, first, count, &plan.clocks, err);
	if (!rc)
		rc = ut_merge_plan_make(&plan, m->files, m->count, &m->rules, err);
	if (rc)
		return rc;
	if (!m->job->rank && !m->quiet)
		ut_merge_log(&plan, m->rules.pids, m->logger);
	rc = m->job->ranks > 1 ? ut_merge_together(m, &plan, first, count, err)
			       : merge_alone(m, &plan, err);
	ut_merge_plan_release(&plan);
	return rc;
}
