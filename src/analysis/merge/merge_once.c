/*
 * merge_once.c - merges large files of Chrome JSON in one look at each of them.
 *
 * What has to be changed in a file follows from what is in all of them, and that is known when all
 * have been read. But files of one program's processes tell it at their ends: who they are in the
 * first events, when they were recorded behind the last. So the plan is made from the two ends of
 * each file, and files are copied by it while the facts are collected. If the plan that follows
 * from these is the same, that was it. Otherwise the result is thrown away, and everything is done
 * in two looks: the bytes are those of two looks, always.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"
#include "merge/merge_text.h"
#include "mpijob/mpijob.h"

#define END_BYTES  (128u << 10) /* of each end that is looked at */
#define LEAST_FILE (8u * END_BYTES)
#define MOST_FILES 64u

/* ---- the ends of a file -------------------------------------------------------------------- */

/* The first and the last line that begins with an event: there a text can be cut. */
static const char *first_cut(const char *text, size_t len)
{
	return memmem(text, len, "\n{", 2);
}

static const char *last_cut(const char *text, size_t len)
{
	const char *found = NULL, *p = text;

	while ((p = memmem(p, len - (size_t)(p - text), ",\n{", 3)))
		found = ++p;
	return found;
}

/* Both ends as one trace, which lies in memory. Returns its descriptor, or -1. */
static int join_ends(int fd, off_t size)
{
	char *text = ut_make(2 * (size_t)END_BYTES + 1);
	const char *head = NULL, *tail = NULL;
	int to = -1;
	size_t len;

	if (pread(fd, text, END_BYTES, 0) == END_BYTES &&
	    pread(fd, text + END_BYTES, END_BYTES, size - END_BYTES) == END_BYTES) {
		head = last_cut(text, END_BYTES);
		tail = first_cut(text + END_BYTES, END_BYTES);
	}
	if (head && tail)
		to = memfd_create("unitrace-ends", MFD_CLOEXEC);
	len = tail ? END_BYTES - (size_t)(tail - (text + END_BYTES)) : 0;
	if (to >= 0 && (write(to, text, (size_t)(head - text)) != head - text ||
			write(to, tail, len) != (ssize_t)len)) {
		close(to);
		to = -1;
	}
	free(text);
	return to;
}

/* What is in the file, as far as its ends tell. */
static bool guess(struct ut_merge_file *f)
{
	const struct ut_facts_opts opts = { 0 };
	struct ut_err err = { 0 };
	char path[64];
	struct stat st;
	int fd = open(f->path, O_RDONLY | O_CLOEXEC), ends = -1;
	bool ok;

	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size >= LEAST_FILE)
		ends = join_ends(fd, st.st_size);
	if (fd >= 0)
		close(fd);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", ends);
	ok = ends >= 0 && !ut_facts_read(&f->facts, path, &opts, &err);
	if (ends >= 0)
		close(ends);
	if (!ok)
		return false;
	f->facts.size = (uint64_t)st.st_size;
	f->facts.mtime = (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec;
	ok = f->facts.clean && !f->facts.samples;
	f->facts.clean = false; /* that is yet to be seen */
	return ok;
}

/* ---- is it worth a guess? ------------------------------------------------------------------ */

/* A result that cannot be taken back is no place for guesses. */
static bool can_take_back(const struct ut_merge *m)
{
	struct stat st;

	return strcmp(m->output, "-") != 0 && (stat(m->output, &st) || S_ISREG(st.st_mode));
}

/* Numbers that pair events get ranges which depend on all of them. */
static bool has_ids(const struct ut_merge *m)
{
	size_t count = 0;

	for (size_t i = 0; i < m->count; i++) {
		const struct ut_facts *f = &m->files[i].facts;

		count += f->id_first <= f->id_last || f->id_texts;
	}
	return count > 1 && m->rules.ids != UT_MERGE_KEEP;
}

static bool guess_all(struct ut_merge *m)
{
	bool ok = m->job->ranks == 1 && m->count > 1 && m->count <= MOST_FILES && can_take_back(m);

	for (size_t i = 0; ok && i < m->count; i++)
		ok = m->sizes[i] >= LEAST_FILE && guess(&m->files[i]);
	/* Clocks of several hosts are found by what is in the files. */
	return ok && !has_ids(m) && (m->rules.no_align || ut_merge_place(m->files, m->count) < 2);
}

/* ---- was it right? ------------------------------------------------------------------------- */

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool same_process(const struct ut_merge_file *x, const struct ut_merge_file *y, uint32_t i)
{
	const struct ut_facts_process *a = &x->facts.processes[i], *b = &y->facts.processes[i];
	const struct ut_rewrite_process *c = &x->plan.processes[i], *d = &y->plan.processes[i];

	return ut_str_eq(ut_facts_span(&x->facts, a->pid), ut_facts_span(&y->facts, b->pid)) &&
	       a->named == b->named && a->sorted == b->sorted && same_text(c->pid, d->pid) &&
	       same_text(c->name, d->name) && c->sorted == d->sorted &&
	       c->sort_index == d->sort_index;
}

/* Is the same done to the file? */
static bool same_plan(const struct ut_merge_file *x, const struct ut_merge_file *y)
{
	const struct ut_rewrite_plan *a = &x->plan, *b = &y->plan;
	bool same = a->shift == b->shift && !a->map && !b->map && a->id_add == b->id_add &&
		    same_text(a->id_prefix, b->id_prefix) && a->id_all == b->id_all &&
		    same_text(a->sf_prefix, b->sf_prefix) &&
		    x->facts.process_count == y->facts.process_count;

	for (uint32_t i = 0; same && i < x->facts.process_count; i++)
		same = same_process(x, y, i);
	return same;
}

struct guessed {
	struct ut_merge_check check; /* first */
	struct ut_merge merge;       /* as it would be */
	struct ut_merge *real;
	struct ut_facts *seen; /* of each file */
	struct ut_merge_plan plan, truth;
};

static int merge_once_check(struct ut_merge_check *c, struct ut_err *err)
{
	struct guessed *g = (struct guessed *)c;
	struct ut_merge *m = g->real;
	bool same = true;
	int rc;

	for (size_t i = 0; i < m->count; i++) {
		m->files[i].facts = g->seen[i];
		g->seen[i] = (struct ut_facts){ 0 };
		same = same && m->files[i].facts.clean;
	}
	if (!same || (!m->rules.no_align && ut_merge_place(m->files, m->count) > 1))
		return ut_err_set(err, -EAGAIN, "what was guessed was wrong");
	rc = ut_merge_plan_make(&g->truth, m->files, m->count, &m->rules, err);
	for (size_t i = 0; !rc && same && i < m->count; i++)
		same = same_plan(&g->merge.files[i], &m->files[i]);
	return rc || same ? rc : ut_err_set(err, -EAGAIN, "what was guessed was wrong");
}

/* ---- all of it ----------------------------------------------------------------------------- */

static struct guessed *merge_once_start(struct ut_merge *m)
{
	struct guessed *g = ut_make(sizeof(*g));

	g->check.fn = merge_once_check;
	g->merge = *m;
	g->real = m;
	g->seen = ut_make((m->count + 1) * sizeof(*g->seen));
	g->merge.files = ut_make((m->count + 1) * sizeof(*g->merge.files));
	for (size_t i = 0; i < m->count; i++) {
		g->merge.files[i].path = m->files[i].path;
		g->merge.files[i].name = m->files[i].name;
	}
	return g;
}

static void merge_once_release(struct guessed *g)
{
	ut_merge_plan_release(&g->plan);
	ut_merge_plan_release(&g->truth);
	for (size_t i = 0; i < g->merge.count; i++) {
		ut_facts_release(&g->seen[i]);
		ut_facts_release(&g->merge.files[i].facts);
	}
	free(g->seen);
	free(g->merge.files);
	free(g);
}

/* Nothing is known about the files any more. */
static void merge_once_forget(struct ut_merge *m)
{
	for (size_t i = 0; i < m->count; i++) {
		ut_facts_release(&m->files[i].facts);
		m->files[i].placed = false;
	}
	atomic_store(&m->progress->done, 0);
}

bool ut_merge_once(struct ut_merge *m)
{
	struct guessed *g = merge_once_start(m);
	struct ut_streams s = { 0 };
	struct ut_err err = { 0 };
	int rc = guess_all(&g->merge) ? 0 : -EAGAIN;

	if (!rc)
		rc = ut_merge_plan_make(&g->plan, g->merge.files, m->count, &m->rules, &err);
	if (!rc) {
		ut_merge_open_files(&g->merge, 0, m->count, g->seen, &s);
		rc = ut_merge_write(m, &g->truth, &s, &g->check, &err);
		ut_streams_release(&s);
	}
	if (!rc && !m->quiet)
		ut_merge_log(&g->truth, m->rules.pids, m->logger);
	merge_once_release(g);
	if (rc)
		merge_once_forget(m);
	return !rc;
}
