/*
 * merge_text.c - Chrome JSON into Chrome JSON, event by event as text.
 *
 * Two looks at each file: the first finds what is in it (merge_facts.c), out of which comes the
 * plan (merge_plan.h); the second copies. Memory does not depend on the size of the files, and
 * not on their number: beyond FAN_IN of them, groups are merged into temporary files first. The
 * ranks of a parallel job do that, too, each with its share, and rank 0 merges the results. Since
 * merging is associative, the bytes are the same.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/log.h"
#include "base/path.h"
#include "cmd/merge.h"
#include "cmd/merge_spill.h"
#include "cmd/merge_streams.h"
#include "export/out.h"
#include "spread/share.h"
#include "spread/spread.h"

#define FAN_IN 64 /* files that are open at once: 1 MiB of buffers each */

/* ---- streams --------------------------------------------------------------------------------- */

struct file_stream {
	struct ut_stream stream; /* first */
	const struct ut_merge_file *file;
	struct ut_progress *progress;
	struct ut_rewrite rewrite;
	bool open;
	uint64_t told; /* bytes, to progress */
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
	s->open = true;
	rc = ut_rewrite_next(&s->rewrite, frame, err);
	ut_progress_add(s->progress, s->rewrite.walk.source.taken - s->told);
	s->told = s->rewrite.walk.source.taken;
	return rc;
}

static void close_file(struct ut_stream *stream)
{
	struct file_stream *s = (struct file_stream *)stream;

	if (s->open)
		ut_rewrite_close(&s->rewrite);
	free(s);
}

static struct ut_stream *open_file(const struct ut_merge *m, const struct ut_merge_file *file)
{
	struct file_stream *s = ut_make(sizeof(*s));

	s->stream = (struct ut_stream){ next_of_file, close_file };
	s->file = file;
	s->progress = m->progress;
	return &s->stream;
}

struct streams {
	struct ut_stream **items;
	size_t count, cap;
};

static void add_stream(struct streams *s, struct ut_stream *stream)
{
	s->items = ut_grow(s->items, s->count + 1, &s->cap, sizeof(struct ut_stream *));
	s->items[s->count++] = stream;
}

static void release_streams(struct streams *s)
{
	for (size_t i = 0; i < s->count; i++)
		s->items[i]->close(s->items[i]);
	free(s->items);
	*s = (struct streams){ 0 };
}

/* Groups of streams become streams of temporary files, until there are few enough. */
static int narrow(const struct ut_merge *m, struct streams *s, struct ut_err *err)
{
	int rc = 0;

	while (!rc && s->count > FAN_IN) {
		struct streams fewer = { 0 };

		for (size_t i = 0; !rc && i < s->count; i += FAN_IN) {
			size_t n = s->count - i < FAN_IN ? s->count - i : FAN_IN;
			int fd = ut_spill_unnamed(m->output);
			struct ut_spill spill;
			int finished;

			if (fd < 0) {
				rc = ut_err_set(err, fd, "%s: no temporary file beside it: %s",
						m->output, strerror(-fd));
				break;
			}
			ut_spill_start(&spill, fd, m->output);
			rc = ut_streams_merge(s->items + i, n, m->threads, &spill.runs, err);
			finished = ut_spill_finish(&spill, err);
			rc = rc ? rc : finished;
			lseek(fd, 0, SEEK_SET);
			add_stream(&fewer, ut_spill_open(fd, m->output));
		}
		release_streams(s);
		*s = fewer;
	}
	return rc;
}

/* ---- the result ------------------------------------------------------------------------------ */

struct result {
	struct ut_runs runs; /* first */
	struct ut_out *out;
	uint64_t events;
};

static int put_result(struct ut_runs *runs, const struct ut_frame *f, uint32_t from, uint32_t to,
		      struct ut_err *err)
{
	struct result *r = (struct result *)runs;
	uint64_t start = from ? f->ends[from - 1] : 0;

	(void)err;           /* errors stick to the out */
	start += !r->events; /* no comma in front of the first */
	ut_out_write(r->out, f->text + start, f->ends[to - 1] - start);
	r->events += to - from;
	return 0;
}

static int write_result(struct ut_merge *m, const struct ut_merge_plan *plan, struct streams *s,
			struct ut_err *err)
{
	struct result r = { .runs.put = put_result };
	struct ut_buf tail = { 0 };
	int rc = narrow(m, s, err);

	if (rc)
		return rc;
	r.out = ut_out_open(m->output, m->out_flags);
	ut_out_text(r.out, "{\"traceEvents\":[");
	rc = ut_streams_merge(s->items, s->count, m->threads, &r.runs, err);
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

static void open_files(const struct ut_merge *m, size_t first, size_t count, struct streams *s)
{
	for (size_t i = first; i < first + count; i++) {
		if (!m->files[i].left_out)
			add_stream(s, open_file(m, &m->files[i]));
	}
}

static int merge_alone(struct ut_merge *m, const struct ut_merge_plan *plan, struct ut_err *err)
{
	struct streams s = { 0 };
	int rc;

	open_files(m, 0, m->count, &s);
	rc = write_result(m, plan, &s, err);
	release_streams(&s);
	return rc;
}

/* ---- with others ----------------------------------------------------------------------------- */

/* Everybody gets the facts of all files: those of the ranks, one after the other, are in order. */
static int exchange_facts(struct ut_merge *m, size_t first, size_t count, struct ut_err *err)
{
	struct ut_buf mine = { 0 };
	struct ut_gathered all;
	const char *at, *end;
	char *data;
	size_t len;
	int rc = 0;

	for (size_t i = first; i < first + count; i++) {
		ut_buf_char(&mine, m->files[i].left_out);
		if (!m->files[i].left_out)
			ut_facts_pack(&m->files[i].facts, &mine);
		ut_facts_release(&m->files[i].facts);
	}
	ut_spread_gather(m->spread, mine.data, mine.len, &all);
	ut_buf_release(&mine);
	len = all.count ? (size_t)all.starts[all.count] : 0;
	data = ut_spread_bcast(m->spread, all.data, &len);
	ut_gathered_release(&all);
	at = data;
	end = data + len;
	for (size_t i = 0; !rc && i < m->count; i++) {
		m->files[i].left_out = at < end && *at++;
		if (!m->files[i].left_out)
			rc = ut_facts_unpack(&m->files[i].facts, &at, end);
	}
	free(data);
	if (rc)
		ut_err_set(err, rc, "the ranks of this job do not understand each other");
	return ut_spread_agree(m->spread, rc, err);
}

/* A name that no other merge uses; the same on all ranks but for the rank. */
static char *spill_name(const struct ut_merge *m, struct ut_arena *a, long token, int rank)
{
	bool plain = strcmp(m->output, "-") != 0;
	char *dir = ut_path_dir(a, plain ? m->output : "-");

	return ut_str_fmt(a, "%s/.%.150s.%ld.%d.tmp", dir,
			  plain ? ut_path_base(m->output) : "unitrace-merge", token, rank);
}

/* This rank's files, merged, into a file that rank 0 can open. */
static int merge_share(struct ut_merge *m, size_t first, size_t count, const char *path,
		       struct ut_err *err)
{
	struct streams s = { 0 };
	struct ut_spill spill;
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	int rc, finished;

	if (fd < 0)
		return ut_err_set(err, -errno, "%s: %s", path, strerror(errno));
	open_files(m, first, count, &s);
	rc = narrow(m, &s, err);
	ut_spill_start(&spill, fd, path);
	if (!rc)
		rc = ut_streams_merge(s.items, s.count, m->threads, &spill.runs, err);
	finished = ut_spill_finish(&spill, err);
	rc = rc ? rc : finished;
	if (close(fd) && !rc)
		rc = ut_err_set(err, -errno, "%s: %s", path, strerror(errno));
	release_streams(&s);
	return rc;
}

/* Rank 0, when all ranks have their part ready. */
static int merge_shares(struct ut_merge *m, const struct ut_merge_plan *plan, char **paths,
			struct ut_err *err)
{
	struct streams s = { 0 };
	int rc = 0;

	for (int r = 0; !rc && r < m->spread->ranks; r++) {
		int fd = open(paths[r], O_RDONLY | O_CLOEXEC);

		if (fd < 0)
			rc = ut_err_set(err, -errno,
					"%s: %s; the ranks need a directory that all of them see",
					paths[r], strerror(errno));
		else
			add_stream(&s, ut_spill_open(fd, paths[r]));
	}
	if (!rc)
		rc = write_result(m, plan, &s, err);
	release_streams(&s);
	return rc;
}

static int merge_together(struct ut_merge *m, const struct ut_merge_plan *plan, size_t first,
			  size_t count, struct ut_err *err)
{
	struct ut_arena arena = { 0 };
	int ranks = m->spread->ranks;
	char **paths = UT_NEW_N(&arena, char *, (size_t)ranks);
	size_t len = sizeof(long);
	long *token;
	int rc;

	token = ut_spread_bcast(m->spread, &(long){ getpid() }, &len);
	for (int r = 0; r < ranks; r++)
		paths[r] = spill_name(m, &arena, *token, r);
	free(token);
	rc = merge_share(m, first, count, paths[m->spread->rank], err);
	rc = ut_spread_agree(m->spread, rc, err);
	if (!rc && !m->spread->rank)
		rc = merge_shares(m, plan, paths, err);
	rc = ut_spread_agree(m->spread, rc, err);
	unlink(paths[m->spread->rank]);
	ut_arena_release(&arena);
	return rc;
}

/* ---- what is told ---------------------------------------------------------------------------- */

/* The names of files that one line is about: "a.json, b.json and 3 more". */
static void name_files(const struct ut_merge_plan *p, bool (*about)(const struct ut_merge_file *),
		       struct ut_buf *out)
{
	size_t named = 0, more = 0;

	for (size_t i = 0; i < p->count; i++) {
		if (p->files[i].left_out || !about(&p->files[i]))
			continue;
		if (named == 3)
			more++;
		else
			ut_buf_fmt(out, "%s%s", named++ ? ", " : "", p->files[i].name);
	}
	if (more)
		ut_buf_fmt(out, " and %zu more", more);
}

static bool is_unplaced(const struct ut_merge_file *f)
{
	return !f->placed;
}

static void tell_plan(const struct ut_merge *m, const struct ut_merge_plan *p)
{
	struct ut_buf names = { 0 };

	if (m->quiet)
		return;
	if (p->aligned > 1)
		ut_log(UT_INFO, "clocks: %zu files aligned to that of %s", p->aligned,
		       p->files[p->reference].name);
	if (p->placed && p->unplaced) {
		name_files(p, is_unplaced, &names);
		ut_log(UT_WARN,
		       "clocks: not aligned, because they do not say when they started: %s "
		       "(--offset FILE=NS moves them)",
		       names.data);
		ut_buf_release(&names);
	}
	if (p->new_pids && m->rules.pids == UT_MERGE_AUTO)
		ut_log(UT_INFO,
		       "pids: %zu changed, because an earlier file uses the same "
		       "(--pids keep prevents that)",
		       p->new_pids);
}

int ut_merge_text(struct ut_merge *m, struct ut_err *err)
{
	struct ut_merge_plan plan = { 0 };
	size_t first, count, valid = 0;
	int rc;

	ut_share(m->sizes, m->count, (unsigned int)m->spread->ranks, (unsigned int)m->spread->rank,
		 &first, &count);
	rc = ut_merge_read_facts(m, first, count, err);
	rc = ut_spread_agree(m->spread, rc, err);
	if (!rc && m->spread->ranks > 1)
		rc = exchange_facts(m, first, count, err);
	for (size_t i = 0; i < m->count; i++)
		valid += !m->files[i].left_out;
	if (!rc && !valid)
		rc = ut_err_set(err, -ENODATA, "none of the %zu files is a trace", m->count);
	if (!rc)
		rc = ut_merge_plan_make(&plan, m->files, m->count, &m->rules, err);
	if (rc)
		return rc;
	if (!m->spread->rank)
		tell_plan(m, &plan);
	rc = m->spread->ranks > 1 ? merge_together(m, &plan, first, count, err)
				  : merge_alone(m, &plan, err);
	ut_merge_plan_release(&plan);
	return rc;
}
