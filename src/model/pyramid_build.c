/*
 * pyramid_build.c - deals the rows of a track onto lanes and sums them up, in one pass.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/crew.h"
#include "base/grow.h"
#include "model/nesting.h"
#include "model/pyramid_lane.h"

/* ---- arrays -------------------------------------------------------------------------------- */

/* Like ut_grow(), but new items are not cleared: what is never used is never touched. */
static void *more(void *items, uint64_t *cap, size_t size)
{
	uint64_t wanted = *cap ? *cap + *cap / 2 : 16;

	items = realloc(items, (size_t)wanted * size);
	if (!items)
		abort(); /* the tool may die when memory is gone */
	*cap = wanted;
	return items;
}

/* Gives back what was not used. */
static void *fitted(void *items, uint64_t count, size_t size)
{
	void *less = count ? realloc(items, (size_t)count * size) : NULL;

	return less ? less : items;
}

/* ---- a lane while it is filled ------------------------------------------------------------- */

struct filling {
	struct ut_node open; /* sums up the entries since the last node */
	uint64_t longest;    /* of open, exactly */
	uint32_t in_open;
	uint64_t count;
	uint32_t *rows;
	uint64_t row_cap;
	uint64_t *ends;
	uint64_t end_cap;
	struct ut_node *nodes;
	uint64_t node_count, node_cap;
};

static void close_node(struct filling *f, bool counter)
{
	if (!counter)
		f->open.longest = (float)f->longest;
	if (f->node_count == f->node_cap)
		f->nodes = more(f->nodes, &f->node_cap, sizeof(*f->nodes));
	f->nodes[f->node_count++] = f->open;
	f->in_open = 0;
}

static inline void fill_span(struct filling *f, uint64_t ts, uint64_t end, uint32_t type)
{
	uint64_t length = end - ts;

	if (!f->in_open) {
		f->open = (struct ut_node){ .first = ts, .type = type };
		f->longest = 0;
	}
	f->open.end = end;
	f->open.busy += length;
	if (length > f->longest) {
		f->longest = length;
		f->open.type = type;
	}
	f->count++;
	if (++f->in_open == UT_LANE_LEAF)
		close_node(f, false);
}

static void widen_range(struct ut_node *node, double min, double max, double last)
{
	/* What is not a number gives way to what is. */
	if (min < node->min || node->min != node->min)
		node->min = min;
	if (max > node->max || node->max != node->max)
		node->max = max;
	node->last = last;
}

static void fill_sample(struct filling *f, uint64_t ts, double value)
{
	if (!f->in_open)
		f->open = (struct ut_node){ .first = ts, .min = value, .max = value };
	widen_range(&f->open, value, value, value);
	f->count++;
	if (++f->in_open == UT_LANE_LEAF)
		close_node(f, true);
}

static void join_nodes(struct ut_node *to, const struct ut_node *from, bool counter)
{
	if (counter) {
		widen_range(to, from->min, from->max, from->last);
		return;
	}
	to->end = from->end > to->end ? from->end : to->end;
	to->busy += from->busy;
	if (from->longest > to->longest) {
		to->longest = from->longest;
		to->type = from->type;
	}
}

/* The levels above the finest, and the lane is done. */
static struct ut_lane finish(struct filling *f, enum ut_lane_kind kind)
{
	bool counter = kind == UT_LANE_COUNTER;
	uint64_t level = 0, end, all = ut_lane_nodes(f->count);

	if (f->in_open)
		close_node(f, counter);
	end = f->node_count;
	f->nodes = fitted(f->nodes, all, sizeof(*f->nodes));
	while (end - level > 1) {
		uint64_t next = end;

		for (uint64_t i = level; i < end; i++) {
			if ((i - level) % UT_LANE_FAN == 0)
				f->nodes[next++] = f->nodes[i];
			else
				join_nodes(&f->nodes[next - 1], &f->nodes[i], counter);
		}
		level = end;
		end = next;
	}
	return (struct ut_lane){
		.count = f->count,
		.nodes = f->nodes,
		.rows = f->rows ? fitted(f->rows, f->count, sizeof(*f->rows)) : NULL,
		.ends = f->ends ? fitted(f->ends, f->count, sizeof(*f->ends)) : NULL,
		.kind = (uint8_t)kind
	};
}

/* ---- the first lane that is free ----------------------------------------------------------- */

struct busy_lane {
	uint64_t end;
	uint32_t lane;
};

struct fit {
	struct busy_lane *busy; /* heap, the first end on top */
	size_t busy_count, busy_cap;
	uint32_t *idle; /* heap, the first lane on top */
	size_t idle_count, idle_cap;
};

static void busy_push(struct fit *f, struct busy_lane b)
{
	size_t at = f->busy_count++;

	f->busy = ut_grow(f->busy, f->busy_count, &f->busy_cap, sizeof(*f->busy));
	for (; at && f->busy[(at - 1) / 2].end > b.end; at = (at - 1) / 2)
		f->busy[at] = f->busy[(at - 1) / 2];
	f->busy[at] = b;
}

static uint32_t busy_pop(struct fit *f)
{
	uint32_t lane = f->busy[0].lane;
	struct busy_lane b = f->busy[--f->busy_count];
	size_t at = 0, child;

	while ((child = 2 * at + 1) < f->busy_count) {
		child += child + 1 < f->busy_count && f->busy[child + 1].end < f->busy[child].end;
		if (f->busy[child].end >= b.end)
			break;
		f->busy[at] = f->busy[child];
		at = child;
	}
	f->busy[at] = b;
	return lane;
}

static void idle_push(struct fit *f, uint32_t lane)
{
	size_t at = f->idle_count++;

	f->idle = ut_grow(f->idle, f->idle_count, &f->idle_cap, sizeof(*f->idle));
	for (; at && f->idle[(at - 1) / 2] > lane; at = (at - 1) / 2)
		f->idle[at] = f->idle[(at - 1) / 2];
	f->idle[at] = lane;
}

static uint32_t idle_pop(struct fit *f)
{
	uint32_t first = f->idle[0], lane = f->idle[--f->idle_count];
	size_t at = 0, child;

	while ((child = 2 * at + 1) < f->idle_count) {
		child += child + 1 < f->idle_count && f->idle[child + 1] < f->idle[child];
		if (f->idle[child] >= lane)
			break;
		f->idle[at] = f->idle[child];
		at = child;
	}
	f->idle[at] = lane;
	return first;
}

/* The first lane that is free at ts, taken until end; a new one if need be. */
static uint32_t first_fit(struct fit *f, uint64_t ts, uint64_t end)
{
	uint32_t lane;

	while (f->busy_count && f->busy[0].end <= ts)
		idle_push(f, busy_pop(f));
	lane = f->idle_count ? idle_pop(f) : (uint32_t)f->busy_count;
	busy_push(f, (struct busy_lane){ end, lane });
	return lane;
}

/* ---- a track ------------------------------------------------------------------------------- */

struct group {
	struct filling *lanes;
	size_t count, cap;
	struct fit fit;
};

struct dealer {
	const struct ut_store *store;
	const uint8_t *kinds; /* lane kind of each type; LANELESS: on no lane */
	uint32_t track;
	struct group groups[UT_LANE_KINDS];
	uint64_t *open; /* ends of the spans that are open, the outermost first */
	size_t depth, open_cap;
	uint64_t *async_ends; /* by row; made when the first async span is met */
	struct filling *only; /* all rows so far are on this lane, so it needs no list of them */
	bool several;         /* no more */
};

#define LANELESS UT_LANE_KINDS

static void list_rows(struct filling *f, uint64_t rows)
{
	for (uint64_t i = 0; i < rows; i++) {
		if (i == f->row_cap)
			f->rows = more(f->rows, &f->row_cap, sizeof(*f->rows));
		f->rows[i] = (uint32_t)i;
	}
}

/* A row on no lane, or on another one than those before: from now on rows are listed. */
static void part_ways(struct dealer *d, uint64_t row)
{
	if (d->only)
		list_rows(d->only, row);
	d->only = NULL;
	d->several = true;
}

/* Room on a lane for a row. */
static inline struct filling *lane_for(struct dealer *d, enum ut_lane_kind kind, size_t lane,
				       uint64_t row)
{
	struct group *g = &d->groups[kind];
	struct filling *f;

	if (lane >= g->count) {
		if (!d->several && row)
			part_ways(d, row);
		g->lanes = ut_grow(g->lanes, lane + 1, &g->cap, sizeof(*g->lanes));
		g->count = lane + 1;
		if (!d->several)
			d->only = &g->lanes[lane];
	}
	f = &g->lanes[lane];
	if (d->several) {
		if (f->count == f->row_cap)
			f->rows = more(f->rows, &f->row_cap, sizeof(*f->rows));
		f->rows[f->count] = (uint32_t)row;
	}
	return f;
}

static inline void deal_span(struct dealer *d, uint64_t row, const struct ut_block *b, uint32_t i)
{
	uint64_t ts = b->ts[i], end = ut_add_ns(ts, b->val[i]);
	struct filling *f;

	while (d->depth && d->open[d->depth - 1] <= ts)
		d->depth--;
	if (d->depth && end > d->open[d->depth - 1]) {
		size_t lane = first_fit(&d->groups[UT_LANE_OVERLAP].fit, ts, end);

		f = lane_for(d, UT_LANE_OVERLAP, lane, row);
	} else {
		f = lane_for(d, UT_LANE_SPANS, d->depth, row);
		if (d->depth == d->open_cap)
			d->open = ut_grow(d->open, d->depth + 1, &d->open_cap, sizeof(*d->open));
		d->open[d->depth++] = end;
	}
	fill_span(f, ts, end, b->type[i]);
}

static void deal_async(struct dealer *d, uint64_t row, const struct ut_block *b, uint32_t i)
{
	const struct ut_rows *rows = &d->store->rows[d->track];
	uint64_t ts = b->ts[i], end;
	struct filling *f;

	if (ut_store_type(d->store, b->type[i])->kind != UT_KIND_ASYNC_BEGIN) {
		if (!d->several)
			part_ways(d, row);
		return;
	}
	if (!d->async_ends) {
		d->async_ends = ut_make((size_t)rows->count * sizeof(*d->async_ends));
		ut_nesting_until(d->store, d->track, d->async_ends);
	}
	end = d->async_ends[row] < ts ? ts : d->async_ends[row];
	f = lane_for(d, UT_LANE_ASYNC, first_fit(&d->groups[UT_LANE_ASYNC].fit, ts, end), row);
	if (f->count == f->end_cap)
		f->ends = more(f->ends, &f->end_cap, sizeof(*f->ends));
	f->ends[f->count] = end;
	fill_span(f, ts, end, b->type[i]);
}

static void deal_row(struct dealer *d, uint64_t row, const struct ut_block *b, uint32_t i)
{
	const struct ut_type *type = ut_store_type(d->store, b->type[i]);
	enum ut_lane_kind kind = d->kinds[b->type[i] < d->store->types.count ? b->type[i] : 0];

	switch (kind) {
	case UT_LANE_SPANS:
	case UT_LANE_OVERLAP:
		deal_span(d, row, b, i);
		break;
	case UT_LANE_ASYNC:
		deal_async(d, row, b, i);
		break;
	case UT_LANE_MARKS:
	case UT_LANE_FLOWS:
		fill_span(lane_for(d, kind, 0, row), b->ts[i], b->ts[i], b->type[i]);
		break;
	case UT_LANE_COUNTER:
		fill_sample(lane_for(d, kind, 0, row), b->ts[i],
			    ut_counter_value(b->val[i], type->flags));
		break;
	case UT_LANE_KINDS:
		if (!d->several)
			part_ways(d, row);
		break;
	}
}

static void take_lanes(struct dealer *d, struct ut_lanes *out)
{
	uint32_t n = 0;

	for (unsigned int kind = 0; kind < UT_LANE_KINDS; kind++)
		out->count += (uint32_t)d->groups[kind].count;
	out->lanes = ut_make((out->count + 1u) * sizeof(*out->lanes));
	for (unsigned int kind = 0; kind < UT_LANE_KINDS; kind++) {
		struct group *g = &d->groups[kind];

		for (size_t i = 0; i < g->count; i++)
			out->lanes[n++] = finish(&g->lanes[i], (enum ut_lane_kind)kind);
		free(g->lanes);
		free(g->fit.busy);
		free(g->fit.idle);
	}
	free(d->open);
	free(d->async_ends);
}

static void build_track(const struct ut_store *s, const uint8_t *kinds, uint32_t track,
			struct ut_lanes *out)
{
	const struct ut_rows *rows = &s->rows[track];
	struct dealer d = { .store = s, .kinds = kinds, .track = track };
	uint64_t row = 0;

	for (size_t n = 0; n < ut_rows_blocks(rows); n++) {
		const struct ut_block *b = &rows->blocks[n];

		if (row + b->count > UINT32_MAX)
			break;
		for (uint32_t i = 0; i < b->count; i++)
			deal_row(&d, row++, b, i);
	}
	take_lanes(&d, out);
}

/* ---- all tracks ---------------------------------------------------------------------------- */

struct job {
	const struct ut_store *store;
	struct ut_pyramid *pyramid;
	const uint8_t *kinds;
	const uint32_t *order; /* tracks, the longest first */
	_Atomic size_t next;
};

static void work(void *ctx)
{
	struct job *job = ctx;
	size_t i;

	while ((i = atomic_fetch_add(&job->next, 1)) < job->pyramid->track_count) {
		uint32_t track = job->order[i];

		build_track(job->store, job->kinds, track, &job->pyramid->tracks[track]);
	}
}

static uint8_t lane_kind(uint8_t kind)
{
	switch ((enum ut_kind)kind) {
	case UT_KIND_SPAN:
		return UT_LANE_SPANS;
	case UT_KIND_ASYNC_BEGIN:
	case UT_KIND_ASYNC_END:
		return UT_LANE_ASYNC;
	case UT_KIND_INSTANT:
	case UT_KIND_ASYNC_INSTANT:
	case UT_KIND_OBJECT_NEW:
	case UT_KIND_OBJECT_STATE:
	case UT_KIND_OBJECT_GONE:
	case UT_KIND_SAMPLE:
		return UT_LANE_MARKS;
	case UT_KIND_FLOW_OUT:
	case UT_KIND_FLOW_IN:
	case UT_KIND_FLOW_STEP:
		return UT_LANE_FLOWS;
	case UT_KIND_COUNTER:
		return UT_LANE_COUNTER;
	case UT_KIND_COUNT:
		break;
	}
	return LANELESS;
}

static int by_length(const void *a, const void *b, void *store)
{
	const struct ut_rows *rows = ((const struct ut_store *)store)->rows;
	uint64_t x = rows[*(const uint32_t *)a].count, y = rows[*(const uint32_t *)b].count;

	return x > y ? -1 : x < y;
}

void ut_pyramid_build(struct ut_store *s, unsigned int threads)
{
	size_t tracks = s->trace.track_count;
	struct ut_pyramid *p;
	uint32_t *order;
	uint8_t *kinds;

	if (s->pyramid)
		return;
	p = ut_make(sizeof(*p));
	p->tracks = ut_make((tracks + 1) * sizeof(*p->tracks));
	p->track_count = tracks;
	kinds = ut_make((size_t)s->types.count + 1);
	for (uint32_t i = 0; i < s->types.count; i++)
		kinds[i] = lane_kind(s->types.items[i].kind);
	order = ut_make((tracks + 1) * sizeof(*order));
	for (uint32_t i = 0; i < tracks; i++)
		order[i] = i;
	qsort_r(order, tracks, sizeof(*order), by_length, s);
	ut_crew_run(ut_crew_size(threads, tracks), work,
		    &(struct job){ .store = s, .pyramid = p, .kinds = kinds, .order = order });
	free(order);
	free(kinds);
	s->pyramid = p;
}
