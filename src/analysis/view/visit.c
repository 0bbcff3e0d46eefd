#include "view/visit.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/sort.h"
#include "base/thread_pool.h"

static uint64_t visit_least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* ---- scopes --------------------------------------------------------------------------------- */

uint64_t ut_scope_inside(const struct ut_ask_scope *scope, uint64_t from, uint64_t to)
{
	uint64_t sum = 0;

	if (!scope->has_ranges)
		return to > from ? to - from : 0;
	for (size_t i = 0; i < scope->range_count && scope->ranges[i].from < to; i++) {
		uint64_t a = most(from, scope->ranges[i].from),
			 b = visit_least(to, scope->ranges[i].to);

		sum += b > a ? b - a : 0;
	}
	return sum;
}

bool ut_scope_touches(const struct ut_ask_scope *scope, uint64_t from, uint64_t to)
{
	if (!scope->has_ranges)
		return true;
	for (size_t i = 0; i < scope->range_count; i++) {
		const struct ut_ask_range *r = &scope->ranges[i];

		if (from < r->to && (to > r->from || from >= r->from))
			return true;
	}
	return false;
}

uint64_t ut_scope_span(const struct ut_view *v, const struct ut_ask_scope *scope)
{
	uint64_t sum = 0;

	if (!scope->has_ranges)
		return v->span;
	for (size_t i = 0; i < scope->range_count; i++)
		sum += scope->ranges[i].to - scope->ranges[i].from;
	return sum;
}

/* ---- the walk ------------------------------------------------------------------------------- */

struct until {
	uint64_t time;
	uint32_t track; /* plus 1: of another track it says nothing */
};

struct walk {
	struct ut_view *view;
	const struct ut_ask_scope *scope;
	const struct ut_search_query *query;
	ut_visit_fn visit;
	void *ctx;
	const struct ut_view_track *track;
	const struct ut_async_end *ends;
	struct until *until; /* by name: so far it goes on */
	uint64_t covered;    /* so far the track has something going on */
	bool queue;          /* of a device: only work is */
	struct ut_visit_open *open;
	size_t depth, cap;
};

/* Lies it on a queue without being work of the device? */
static bool is_quiet(const struct walk *w, const struct ut_view_row *row)
{
	return w->queue && (w->view->traits[row->type] & UT_TRAIT_QUIET);
}

static void visit_report(struct walk *w, struct ut_visit *v)
{
	if (w->query->by_self && !ut_search_query_self(w->query, v->self))
		return;
	w->visit(w->ctx, v);
}

static void close_top(struct walk *w)
{
	const struct ut_visit_open *o = &w->open[--w->depth];
	struct ut_visit v = { .row = &o->row,
			      .total = o->total,
			      .self = o->self,
			      .fresh = o->fresh,
			      .alone = o->alone,
			      .quiet = is_quiet(w, &o->row),
			      .path = w->open,
			      .depth = w->depth };

	if (o->query)
		visit_report(w, &v);
}

/* Spans come in order of their start, so it is enough to know until when a name goes on. */
static uint64_t take_fresh(struct walk *w, const struct ut_view_row *row)
{
	struct until *u = &w->until[w->view->name_of[row->type]];
	uint32_t track = (uint32_t)(w->track - w->view->tracks) + 1;
	uint64_t from = row->start;

	if (u->track == track && u->time > from)
		from = visit_least(u->time, row->end);
	u->time = u->track == track ? most(u->time, row->end) : row->end;
	u->track = track;
	return ut_scope_inside(w->scope, from, row->end);
}

static uint64_t take_alone(struct walk *w, const struct ut_view_row *row)
{
	uint64_t from = most(row->start, visit_least(w->covered, row->end));

	if (is_quiet(w, row))
		return 0;
	w->covered = most(w->covered, row->end);
	return ut_scope_inside(w->scope, from, row->end);
}

static bool visit_is_wanted(const struct walk *w, const struct ut_view_row *row)
{
	return w->query->types[row->type] &&
	       (!w->query->by_event || ut_search_query_row(w->query, row));
}

/*
 * Ends never grow towards the top, so the time from a new span's start on belongs to the top until
 * that ends, then to the one below, and so on; the new one takes it from all of them. Those that it
 * outlasts are done.
 */
static void open_span(struct walk *w, const struct ut_view_row *row)
{
	uint64_t from = row->start;
	struct ut_visit_open *o;

	while (w->depth && w->open[w->depth - 1].row.end <= row->start)
		close_top(w);
	while (w->depth && w->open[w->depth - 1].row.end < row->end) {
		o = &w->open[w->depth - 1];
		o->self -= ut_scope_inside(w->scope, from, o->row.end);
		from = o->row.end;
		close_top(w);
	}
	if (w->depth)
		w->open[w->depth - 1].self -= ut_scope_inside(w->scope, from, row->end);
	w->open = ut_grow(w->open, w->depth + 1, &w->cap, sizeof(*w->open));
	o = &w->open[w->depth++];
	o->row = *row;
	o->total = o->self = ut_scope_inside(w->scope, row->start, row->end);
	o->query = visit_is_wanted(w, row);
	o->fresh = o->query ? take_fresh(w, row) : 0;
	o->alone = o->query ? take_alone(w, row) : 0;
}

static void report_aside(struct walk *w, const struct ut_view_row *row, enum ut_view_class class)
{
	struct ut_visit v = { .row = row,
			      .mark = class == UT_CLASS_MARK,
			      .quiet = is_quiet(w, row),
			      .aside = class != UT_CLASS_MARK };

	if (!visit_is_wanted(w, row))
		return;
	v.total = ut_scope_inside(w->scope, row->start, row->end);
	/* async spans of a name are added up though they overlap, as stats does */
	v.fresh = class == UT_CLASS_ASIDE ? take_fresh(w, row) : v.total;
	v.alone = v.mark ? 0 : take_alone(w, row);
	visit_report(w, &v);
}

static void visit_row(struct walk *w, uint64_t number)
{
	const struct ut_view_track *t = w->track;
	const struct ut_block *b = &t->rows->blocks[number / UT_BLOCK_ROWS];
	uint32_t i = (uint32_t)(number % UT_BLOCK_ROWS), type = ut_view_type(t, b->type[i]);
	enum ut_view_class class = (enum ut_view_class)w->view->classes[type];
	uint64_t ts = b->ts[i], end = ts;
	struct ut_view_row row;

	if (class == UT_CLASS_NONE || class == UT_CLASS_NOT_WORK || class == UT_CLASS_SAMPLE)
		return;
	if (class == UT_CLASS_ASYNC) {
		if (!w->ends)
			w->ends = ut_view_ends(w->view, t);
		end = most(ts, w->ends[number].ts);
	} else if (class != UT_CLASS_MARK) {
		end = ts + b->val[i] < ts ? UINT64_MAX : ts + b->val[i];
	}
	row = (struct ut_view_row){ .track = t,
				    .row = number,
				    .start = ut_view_time(t, ts),
				    .end = ut_view_time(t, end),
				    .type = type,
				    .args = b->args[i] };
	if (!ut_scope_touches(w->scope, row.start, row.end))
		return;
	if (class == UT_CLASS_WORK)
		open_span(w, &row);
	else
		report_aside(w, &row, class);
}

/* ---- ranges --------------------------------------------------------------------------------- */

static int visit_by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* What is going on at ts and has begun since: at most one entry of every lane. */
static void visit_going_on(struct walk *w, uint64_t since, uint64_t ts)
{
	const struct ut_view_track *t = w->track;
	uint64_t *rows = NULL;
	size_t count = 0, cap = 0;

	for (uint32_t lane = 0; lane < t->lanes->count; lane++) {
		struct ut_entry e;
		uint64_t at;

		if (t->lanes->lanes[lane].kind > UT_LANE_ASYNC)
			continue;
		at = ut_lane_seek(t->trace->store, t->local, lane, ts);
		if (!ut_lane_entry(t->trace->store, t->local, lane, at, &e) || e.ts >= ts ||
		    e.ts < since)
			continue;
		rows = ut_grow(rows, count + 1, &cap, sizeof(*rows));
		rows[count++] = e.row;
	}
	ut_sort(rows, count, sizeof(*rows), visit_by_number);
	for (size_t i = 0; i < count; i++)
		visit_row(w, rows[i]);
	free(rows);
}

static void visit_rows(struct walk *w, uint64_t from, uint64_t to)
{
	for (uint64_t row = from; row < to; row++)
		visit_row(w, row);
}

static void walk_track(struct walk *w)
{
	const struct ut_view_track *t = w->track;
	uint64_t since = 0;

	w->ends = NULL;
	w->covered = 0;
	w->queue = t->place != UT_NO_PLACE && w->view->places[t->place].kind == UT_PLACE_QUEUE;
	if (!w->scope->has_ranges)
		visit_rows(w, 0, t->rows->count);
	for (size_t i = 0; i < w->scope->range_count; i++) {
		uint64_t from = ut_view_ts(t, w->scope->ranges[i].from);
		uint64_t to = ut_view_ts(t, w->scope->ranges[i].to);

		visit_going_on(w, since, from);
		visit_rows(w, ut_rows_find(t->rows, from), ut_rows_find(t->rows, to));
		since = to;
	}
	while (w->depth)
		close_top(w);
}

/* A walk that several share: who is free takes the next track. */
struct shared {
	struct ut_view *view;
	const struct ut_ask_scope *scope;
	const struct ut_search_query *query;
	ut_visit_fn visit;
	void **ctxs;
	_Atomic uint32_t next_track;
	_Atomic size_t next_worker;
};

static void walk_some(void *ctx)
{
	struct shared *s = ctx;
	struct walk walk = { .view = s->view,
			     .scope = s->scope,
			     .query = s->query,
			     .visit = s->visit,
			     .ctx = s->ctxs[s->next_worker++] };
	uint32_t i;

	walk.until = ut_make(((size_t)s->view->name_count + 1) * sizeof(*walk.until));
	while ((i = s->next_track++) < s->view->track_count && !s->view->stopped) {
		walk.track = &s->view->tracks[i];
		if (s->query->tracks[i] && walk.track->rows->count)
			walk_track(&walk);
	}
	free(walk.until);
	free(walk.open);
}

void ut_view_walk_shared(struct ut_view *v, const struct ut_ask_scope *scope,
			 const struct ut_search_query *w, ut_visit_fn visit, void **ctxs,
			 size_t workers)
{
	struct shared s = { .view = v, .scope = scope, .query = w, .visit = visit, .ctxs = ctxs };

	ut_thread_pool_run(workers, walk_some, &s);
}

void ut_view_walk(struct ut_view *v, const struct ut_ask_scope *scope,
		  const struct ut_search_query *w, ut_visit_fn visit, void *ctx)
{
	ut_view_walk_shared(v, scope, w, visit, &ctx, 1);
}
