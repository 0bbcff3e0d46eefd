/*
 * stats_add.c - deals the tracks of a store out to threads.
 *
 * A track is walked from its start, because spans that began long ago decide whose time it is. To
 * share a long track all the same, it is cut into parts, and what is open at each cut is found
 * first: one pass that compares ends with one time, ten times as fast as the walk itself.
 */
#include "analyze/stats.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "analyze/stats_walk.h"
#include "base/grow.h"
#include "base/thread_pool.h"

#define PART_BLOCKS 64u   /* a million rows: some tens of milliseconds */
#define MOST_OPEN   4096u /* a track that is nested deeper where it would be cut stays whole */

struct flag {
	_Atomic uint8_t is_set;
};

struct job {
	const struct ut_store *store;
	const struct ut_filter_view *view;
	struct ut_stats_walk *walks; /* one per thread */
	size_t threads;
	struct ut_stats_walk_part *parts;
	size_t part_count, part_cap;
	struct flag *later;  /* per track: needs ut_stats_walk_odd() */
	_Atomic size_t next; /* the next piece of work */
	_Atomic size_t id;   /* the next thread's number */
	void (*work)(struct job *job, struct ut_stats_walk *walk);
};

static void run_thread(void *ctx)
{
	struct job *job = ctx;

	job->work(job, &job->walks[atomic_fetch_add(&job->id, 1)]);
}

/* Everybody does work() until there is none. */
static void stats_add_run(struct job *job,
			  void (*work)(struct job *job, struct ut_stats_walk *walk))
{
	job->work = work;
	job->next = 0;
	job->id = 0;
	ut_thread_pool_run(job->threads, run_thread, job);
}

/* ---- cutting ------------------------------------------------------------------------------- */

static bool same_track(const struct job *job, size_t i, size_t k)
{
	return k < job->part_count && job->parts[i].track == job->parts[k].track;
}

static uint64_t part_start(const struct job *job, size_t i)
{
	const struct ut_stats_walk_part *p = &job->parts[i];

	return job->store->rows[p->track].blocks[p->first].ts[0];
}

static void push_hidden(struct ut_stats_walk_part *p, struct ut_stats_walk_open span)
{
	p->hidden = ut_grow(p->hidden, p->hidden_count + 1, &p->hidden_cap, sizeof(*p->hidden));
	p->hidden[p->hidden_count++] = span;
}

/* Ends grow smaller towards the top: see stats_walk.c. */
static void push_open(struct ut_stats_walk_part *p, struct ut_stats_walk_open span)
{
	while (p->open_count && p->open[p->open_count - 1].end <= span.end)
		push_hidden(p, p->open[--p->open_count]);
	p->open = ut_grow(p->open, p->open_count + 1, &p->open_cap, sizeof(*p->open));
	p->open[p->open_count++] = span;
}

static bool is_counted(const struct ut_type *type)
{
	return type->kind == UT_KIND_SPAN && !(type->flags & UT_EV_NOT_WORK);
}

static void note_open(struct ut_stats_walk_part *p, const struct ut_type *type,
		      struct ut_stats_walk_open span)
{
	if (type->flags & UT_EV_ASIDE)
		push_hidden(p, span);
	else
		push_open(p, span);
}

static void free_open(struct ut_stats_walk_part *p)
{
	free(p->open);
	free(p->hidden);
	p->open = p->hidden = NULL;
	p->open_count = p->hidden_count = 0;
}

/* The spans of part i that go on when the next part begins, noted there. */
static void find_open(struct job *job, size_t i)
{
	const struct ut_stats_walk_part *p = &job->parts[i];
	uint64_t cut = part_start(job, i + 1);

	for (size_t n = p->first; n < p->last; n++) {
		const struct ut_block *b = &job->store->rows[p->track].blocks[n];

		for (uint32_t k = 0; k < b->count; k++) {
			uint64_t ts = b->ts[k], end = ts + b->val[k];
			uint32_t type = b->type[k] < job->store->types.count ? b->type[k] : 0;

			if (ts > cut || b->val[k] <= cut - ts ||
			    !is_counted(ut_store_type(job->store, type)))
				continue;
			end = end < ts ? UINT64_MAX : end;
			note_open(&job->parts[i + 1], ut_store_type(job->store, type),
				  (struct ut_stats_walk_open){ ts, end, type });
		}
	}
}

static void find_open_parts(struct job *job, struct ut_stats_walk *walk)
{
	size_t i;

	(void)walk;
	while ((i = atomic_fetch_add(&job->next, 1)) < job->part_count) {
		if (same_track(job, i, i + 1))
			find_open(job, i);
	}
}

/* What was open at the start of part i and still is when the next part begins lies below. */
static void carry_open(struct job *job, size_t i)
{
	struct ut_stats_walk_part *p = &job->parts[i], *next = p + 1;
	struct ut_stats_walk_part both = { 0 };
	uint64_t cut = part_start(job, i + 1);

	for (size_t k = 0; k < p->open_count; k++) {
		if (p->open[k].end > cut)
			push_open(&both, p->open[k]);
	}
	for (size_t k = 0; k < p->hidden_count; k++) {
		if (p->hidden[k].end > cut)
			push_hidden(&both, p->hidden[k]);
	}
	for (size_t k = 0; k < next->open_count; k++)
		push_open(&both, next->open[k]);
	for (size_t k = 0; k < next->hidden_count; k++)
		push_hidden(&both, next->hidden[k]);
	free_open(next);
	both.track = next->track;
	both.first = next->first;
	both.last = next->last;
	*next = both;
}

static void stats_add_add_part(struct job *job, uint32_t track, size_t first, size_t last)
{
	job->parts = ut_grow(job->parts, job->part_count + 1, &job->part_cap, sizeof(*job->parts));
	job->parts[job->part_count++] =
		(struct ut_stats_walk_part){ .track = track, .first = first, .last = last };
}

/* From first on, all parts of the track in one. */
static void make_whole(struct job *job, size_t first)
{
	struct ut_stats_walk_part *p = &job->parts[first];

	for (size_t i = first + 1; same_track(job, first, i); i++) {
		p->last = job->parts[i].last;
		free_open(&job->parts[i]);
		job->parts[i].first = job->parts[i].last; /* nothing left to do */
	}
}

static void cut_tracks(struct job *job)
{
	stats_add_run(job, find_open_parts);
	for (size_t i = 0; i + 1 < job->part_count; i++) {
		if (!same_track(job, i, i + 1) || job->parts[i].first == job->parts[i].last)
			continue;
		carry_open(job, i);
		if (job->parts[i + 1].open_count + job->parts[i + 1].hidden_count > MOST_OPEN)
			make_whole(job, i);
	}
}

static bool stats_add_is_wanted(const struct job *job, uint32_t track)
{
	return job->store->rows[track].count &&
	       (!job->view->filter || job->view->tracks[track] & UT_FILTER_TRACK);
}

static void list_parts(struct job *job)
{
	size_t step = job->threads > 1 ? PART_BLOCKS : SIZE_MAX / 2;

	for (uint32_t t = 0; t < job->store->trace.track_count; t++) {
		size_t blocks = ut_rows_blocks(&job->store->rows[t]);

		if (!stats_add_is_wanted(job, t))
			continue;
		for (size_t i = 0; i < blocks; i += step)
			stats_add_add_part(job, t, i, blocks - i < step ? blocks : i + step);
	}
	if (step == PART_BLOCKS)
		cut_tracks(job);
}

/* ---- counting ------------------------------------------------------------------------------ */

static void walk_parts(struct job *job, struct ut_stats_walk *walk)
{
	size_t i;

	while ((i = atomic_fetch_add(&job->next, 1)) < job->part_count) {
		const struct ut_stats_walk_part *p = &job->parts[i];

		ut_stats_walk_spans(walk, p);
		if (walk->later)
			atomic_store_explicit(&job->later[p->track].is_set, 1,
					      memory_order_relaxed);
	}
}

static void walk_odd(struct job *job, struct ut_stats_walk *walk)
{
	size_t i;

	while ((i = atomic_fetch_add(&job->next, 1)) < job->store->trace.track_count) {
		if (atomic_load_explicit(&job->later[i].is_set, memory_order_relaxed))
			ut_stats_walk_odd(walk, (uint32_t)i);
	}
}

static void count_tracks(struct ut_stats *s, const struct job *job)
{
	const struct ut_trace *t = &job->store->trace;
	uint8_t *seen = ut_make(t->process_count + 1);

	for (uint32_t i = 0; i < t->track_count; i++) {
		if (!stats_add_is_wanted(job, i))
			continue;
		s->tracks++;
		s->rows += job->store->rows[i].count;
		s->processes += !seen[t->tracks[i].process];
		seen[t->tracks[i].process] = 1;
	}
	s->traces++;
	free(seen);
}

void ut_stats_add(struct ut_stats *s, const struct ut_store *store, const struct ut_filter *filter,
		  unsigned int threads)
{
	struct ut_filter_view view;
	struct job job = { .store = store, .view = &view };

	ut_filter_view_init(&view, filter, store);
	job.threads = ut_thread_pool_size(threads ? threads : 1, SIZE_MAX);
	job.later = ut_make((store->trace.track_count + 1) * sizeof(*job.later));
	job.walks = ut_make(job.threads * sizeof(*job.walks));
	list_parts(&job);
	if (job.part_count < job.threads)
		job.threads = job.part_count ? job.part_count : 1;
	for (size_t i = 0; i < job.threads; i++)
		ut_stats_walk_init(&job.walks[i], store, &view, s->by);
	stats_add_run(&job, walk_parts);
	stats_add_run(&job, walk_odd);
	for (size_t i = 0; i < job.threads; i++) {
		ut_stats_walk_finalize(&job.walks[i]);
		ut_stats_merge(s, &job.walks[i].stats);
		ut_stats_walk_release(&job.walks[i]);
	}
	count_tracks(s, &job);
	for (size_t i = 0; i < job.part_count; i++)
		free_open(&job.parts[i]);
	free(job.parts);
	free(job.walks);
	free(job.later);
	ut_filter_view_release(&view);
}
