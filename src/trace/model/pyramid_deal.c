#include "model/pyramid_deal.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "model/counter.h"
#include "model/deferred_free.h"
#include "model/nesting.h"

/* ---- arrays -------------------------------------------------------------------------------- */

/*
 * Like ut_grow(), but new items are not cleared: what is never used is never touched. What others
 * look at does not move away under them.
 */
static void *more(struct ut_deferred_free *deferred, void *items, uint64_t *cap, size_t size)
{
	uint64_t wanted = *cap ? *cap + (deferred ? *cap : *cap / 2) : 16;
	void *moved =
		deferred ? malloc((size_t)wanted * size) : realloc(items, (size_t)wanted * size);

	if (!moved)
		abort(); /* the tool may die when memory is gone */
	if (deferred && items) {
		memcpy(moved, items, (size_t)*cap * size);
		ut_deferred_free_add(deferred, items);
	}
	*cap = wanted;
	return moved;
}

/* Gives back what was not used. */
static void *fitted(void *items, uint64_t count, size_t size)
{
	void *less = count ? realloc(items, (size_t)count * size) : NULL;

	return less ? less : items;
}

/* ---- a lane while it is filled ------------------------------------------------------------- */

static void push_node(struct ut_deferred_free *deferred, struct ut_node_list *level,
		      const struct ut_node *node)
{
	if (level->count == level->cap)
		level->nodes = more(deferred, level->nodes, &level->cap, sizeof(*level->nodes));
	level->nodes[level->count++] = *node;
}

static void close_node(struct ut_filling *f, bool counter)
{
	if (!counter)
		f->open.longest = (float)f->longest;
	push_node(f->deferred, &f->finest, &f->open);
	f->in_open = 0;
}

static inline void fill_span(struct ut_filling *f, uint64_t ts, uint64_t end, uint32_t type)
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

static void fill_sample(struct ut_filling *f, uint64_t ts, double value)
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

/* ---- the first lane that is free ----------------------------------------------------------- */

static void busy_push(struct ut_fit *f, struct ut_busy_lane b)
{
	size_t at = f->busy_count++;

	f->busy = ut_grow(f->busy, f->busy_count, &f->busy_cap, sizeof(*f->busy));
	for (; at && f->busy[(at - 1) / 2].end > b.end; at = (at - 1) / 2)
		f->busy[at] = f->busy[(at - 1) / 2];
	f->busy[at] = b;
}

static uint32_t busy_pop(struct ut_fit *f)
{
	uint32_t lane = f->busy[0].lane;
	struct ut_busy_lane b = f->busy[--f->busy_count];
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

static void idle_push(struct ut_fit *f, uint32_t lane)
{
	size_t at = f->idle_count++;

	f->idle = ut_grow(f->idle, f->idle_count, &f->idle_cap, sizeof(*f->idle));
	for (; at && f->idle[(at - 1) / 2] > lane; at = (at - 1) / 2)
		f->idle[at] = f->idle[(at - 1) / 2];
	f->idle[at] = lane;
}

static uint32_t idle_pop(struct ut_fit *f)
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
static uint32_t first_fit(struct ut_fit *f, uint64_t ts, uint64_t end)
{
	uint32_t lane;

	while (f->busy_count && f->busy[0].end <= ts)
		idle_push(f, busy_pop(f));
	lane = f->idle_count ? idle_pop(f) : (uint32_t)f->busy_count;
	busy_push(f, (struct ut_busy_lane){ end, lane });
	return lane;
}

/* ---- a track ------------------------------------------------------------------------------- */

static void list_rows(struct ut_filling *f, uint64_t rows)
{
	for (uint64_t i = 0; i < rows; i++) {
		if (i == f->row_cap)
			f->rows = more(f->deferred, f->rows, &f->row_cap, sizeof(*f->rows));
		f->rows[i] = (uint32_t)i;
	}
}

/* A row on no lane, or on another one than those before: from now on rows are listed. */
static void part_ways(struct ut_dealer *d, uint64_t row)
{
	if (d->only)
		list_rows(d->only, row);
	d->only = NULL;
	d->several = true;
}

/* Room on a lane for a row. */
static inline struct ut_filling *lane_for(struct ut_dealer *d, enum ut_lane_kind kind, size_t lane,
					  uint64_t row)
{
	struct ut_lane_group *g = &d->groups[kind];
	struct ut_filling *f;

	if (lane >= g->count) {
		if (!d->several && row)
			part_ways(d, row);
		g->lanes = ut_grow(g->lanes, lane + 1, &g->cap, sizeof(*g->lanes));
		g->count = lane + 1;
		g->lanes[lane].deferred = d->deferred;
		if (!d->several)
			d->only = &g->lanes[lane];
	}
	f = &g->lanes[lane];
	if (d->several) {
		if (f->count == f->row_cap)
			f->rows = more(f->deferred, f->rows, &f->row_cap, sizeof(*f->rows));
		f->rows[f->count] = (uint32_t)row;
	}
	return f;
}

/* It is there, and is summed up when its end is known. */
static void leave_unended(struct ut_filling *f, uint64_t row)
{
	f->is_unended = true;
	f->unended = (uint32_t)row;
	f->count++;
}

static inline void deal_span(struct ut_dealer *d, uint64_t row, const struct ut_block *b,
			     uint32_t i)
{
	uint64_t ts = b->ts[i], end = ut_add_ns(ts, b->val[i]);
	struct ut_filling *f;

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
	if (b->val[i] == UT_UNENDED && d->deferred)
		leave_unended(f, row);
	else
		fill_span(f, ts, end, b->type[i]);
}

static void deal_async(struct ut_dealer *d, uint64_t row, const struct ut_block *b, uint32_t i)
{
	const struct ut_rows *rows = &d->store->rows[d->track];
	uint64_t ts = b->ts[i], end;
	struct ut_filling *f;

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
		f->ends = more(f->deferred, f->ends, &f->end_cap, sizeof(*f->ends));
	f->ends[f->count] = end;
	fill_span(f, ts, end, b->type[i]);
}

static void deal_row(struct ut_dealer *d, uint64_t row, const struct ut_block *b, uint32_t i)
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

void ut_deal_rows(struct ut_dealer *d)
{
	const struct ut_rows *rows = &d->store->rows[d->track];
	uint64_t row = d->dealt;

	for (size_t n = (size_t)(row / UT_BLOCK_ROWS); n < ut_rows_blocks(rows); n++) {
		const struct ut_block *b = &rows->blocks[n];

		if (n * (uint64_t)UT_BLOCK_ROWS + b->count > UINT32_MAX)
			break;
		for (uint32_t i = (uint32_t)(row % UT_BLOCK_ROWS); i < b->count; i++)
			deal_row(d, row++, b, i);
	}
	d->dealt = row;
}

uint8_t ut_deal_kind(uint8_t kind)
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
	return UT_LANE_KINDS;
}

/* ---- at once -------------------------------------------------------------------------------- */

/* The levels above the finest, and the lane is done. */
static struct ut_lane pyramid_deal_finish(struct ut_filling *f, enum ut_lane_kind kind)
{
	bool counter = kind == UT_LANE_COUNTER;
	uint64_t level = 0, end, all = ut_lane_nodes(f->count);
	struct ut_node *nodes;

	if (f->in_open)
		close_node(f, counter);
	end = f->finest.count;
	nodes = fitted(f->finest.nodes, all, sizeof(*nodes));
	while (end - level > 1) {
		uint64_t next = end;

		for (uint64_t i = level; i < end; i++) {
			if ((i - level) % UT_LANE_FAN == 0)
				nodes[next++] = nodes[i];
			else
				join_nodes(&nodes[next - 1], &nodes[i], counter);
		}
		level = end;
		end = next;
	}
	return (struct ut_lane){
		.count = f->count,
		.nodes = nodes,
		.rows = f->rows ? fitted(f->rows, f->count, sizeof(*f->rows)) : NULL,
		.ends = f->ends ? fitted(f->ends, f->count, sizeof(*f->ends)) : NULL,
		.kind = (uint8_t)kind
	};
}

static void pyramid_deal_release(struct ut_dealer *d)
{
	for (unsigned int kind = 0; kind < UT_LANE_KINDS; kind++) {
		free(d->groups[kind].lanes);
		free(d->groups[kind].fit.busy);
		free(d->groups[kind].fit.idle);
	}
	free(d->open);
	free(d->async_ends);
}

static void make_lanes(const struct ut_dealer *d, struct ut_lanes *out)
{
	*out = (struct ut_lanes){ 0 };
	for (unsigned int kind = 0; kind < UT_LANE_KINDS; kind++)
		out->count += (uint32_t)d->groups[kind].count;
	out->lanes = ut_make((out->count + 1u) * sizeof(*out->lanes));
}

void ut_deal_finish(struct ut_dealer *d, struct ut_lanes *out)
{
	uint32_t n = 0;

	make_lanes(d, out);
	for (unsigned int kind = 0; kind < UT_LANE_KINDS; kind++) {
		struct ut_lane_group *g = &d->groups[kind];

		for (size_t i = 0; i < g->count; i++)
			out->lanes[n++] =
				pyramid_deal_finish(&g->lanes[i], (enum ut_lane_kind)kind);
	}
	pyramid_deal_release(d);
}

/* ---- lanes that grow ------------------------------------------------------------------------ */

/* A lane that is taken until the end of time is free at end. */
static void end_fit(struct ut_fit *fit, uint32_t lane, uint64_t end)
{
	size_t at = 0;

	while (at < fit->busy_count && fit->busy[at].lane != lane)
		at++;
	if (at == fit->busy_count)
		return;
	/* earlier than before: it can only move up */
	for (; at && fit->busy[(at - 1) / 2].end > end; at = (at - 1) / 2)
		fit->busy[at] = fit->busy[(at - 1) / 2];
	fit->busy[at] = (struct ut_busy_lane){ end, lane };
}

static bool is_on(const struct ut_filling *f, uint64_t row)
{
	return f->is_unended && f->unended == row;
}

/*
 * A span has ended. Does something not lie inside of it that was dealt as if it did: because it
 * goes on, or began when the span ended?
 */
static bool reaches_out(const struct ut_dealer *d, size_t lane, uint64_t row, uint64_t end)
{
	const struct ut_rows *rows = &d->store->rows[d->track];
	const struct ut_lane_group *g = &d->groups[UT_LANE_SPANS];
	const struct ut_filling *f;
	uint32_t last;

	for (size_t i = lane + 1; i < g->count; i++) {
		if (g->lanes[i].is_unended && g->lanes[i].unended > row)
			return true;
	}
	f = lane + 1 < g->count ? &g->lanes[lane + 1] : NULL;
	if (!f || !f->count || !f->rows)
		return false;
	last = f->rows[f->count - 1];
	return last > row && rows->blocks[last / UT_BLOCK_ROWS].ts[last % UT_BLOCK_ROWS] >= end;
}

bool ut_deal_end(struct ut_dealer *d, uint64_t row, uint64_t ts, uint64_t end, uint32_t type)
{
	struct ut_lane_group *g = &d->groups[UT_LANE_SPANS];
	struct ut_filling *f;
	size_t lane = 0;

	if (row >= d->dealt)
		return true; /* it will be dealt as it is now */
	while (lane < g->count && !is_on(&g->lanes[lane], row))
		lane++;
	if (lane < g->count) {
		if (lane >= d->depth || reaches_out(d, lane, row, end))
			return false;
		d->open[lane] = end;
	} else {
		g = &d->groups[UT_LANE_OVERLAP];
		for (lane = 0; lane < g->count && !is_on(&g->lanes[lane], row);)
			lane++;
		if (lane == g->count)
			return false;
		end_fit(&g->fit, (uint32_t)lane, end);
	}
	f = &g->lanes[lane];
	f->is_unended = false;
	f->count--;
	fill_span(f, ts, end, type);
	return true;
}

/* All nodes of higher levels whose parts are complete. */
static void raise_levels(struct ut_filling *f, bool counter)
{
	const struct ut_node_list *below = &f->finest;

	if (!f->above)
		f->above = ut_make(UT_GROWTH_LEVELS * sizeof(*f->above));
	for (unsigned int n = 0; n + 1 < UT_GROWTH_LEVELS && below->count >= UT_LANE_FAN; n++) {
		struct ut_node_list *level = &f->above[n];

		while ((level->count + 1) * UT_LANE_FAN <= below->count) {
			const struct ut_node *parts = &below->nodes[level->count * UT_LANE_FAN];
			struct ut_node node = parts[0];

			for (unsigned int i = 1; i < UT_LANE_FAN; i++)
				join_nodes(&node, &parts[i], counter);
			push_node(f->deferred, level, &node);
		}
		below = level;
	}
}

/* The last node of the finest level. */
static struct ut_node last_leaf(const struct ut_filling *f, const struct ut_rows *rows,
				const struct ut_lane *lane, uint64_t until)
{
	struct ut_filling last = { .open = f->open, .longest = f->longest, .in_open = f->in_open };
	struct ut_entry e;

	if (!f->in_open && !f->is_unended)
		return f->finest.nodes[f->finest.count - 1];
	if (f->is_unended && ut_entry_get(rows, lane, f->count - 1, &e)) {
		if (!last.in_open)
			last.open = (struct ut_node){ .first = e.ts, .type = e.type };
		last.open.end = until > e.ts ? until : e.ts;
		last.open.busy += last.open.end - e.ts;
		if (last.open.end - e.ts > last.longest || !last.in_open) {
			last.longest = last.open.end - e.ts;
			last.open.type = e.type;
		}
	}
	if (lane->kind != UT_LANE_COUNTER)
		last.open.longest = (float)last.longest;
	return last.open;
}

/* The last nodes of the levels above, from those below. */
static void raise_last(struct ut_lane_growth *g, uint64_t leaves, bool counter)
{
	uint64_t below = leaves;

	for (unsigned int level = 1; below > 1 && level < UT_GROWTH_LEVELS; level++) {
		uint64_t count = (below + UT_LANE_FAN - 1) / UT_LANE_FAN;
		uint64_t i = (count - 1) * UT_LANE_FAN;
		struct ut_node *last = &g->last[level];

		*last = i + 1 < below ? g->nodes[level - 1][i] : g->last[level - 1];
		for (i++; i < below; i++)
			join_nodes(last,
				   i + 1 < below ? &g->nodes[level - 1][i] : &g->last[level - 1],
				   counter);
		below = count;
	}
}

static struct ut_lane show_lane(struct ut_filling *f, enum ut_lane_kind kind,
				const struct ut_rows *shown, uint64_t until, struct ut_arena *arena)
{
	struct ut_lane lane = { f->count, NULL, NULL, f->rows, f->ends, (uint8_t)kind };
	struct ut_lane_growth *g = UT_NEW(arena, struct ut_lane_growth);
	bool counter = kind == UT_LANE_COUNTER;

	lane.growth = g;
	if (!f->count)
		return lane;
	raise_levels(f, counter);
	g->nodes[0] = f->finest.nodes;
	for (unsigned int i = 1; i < UT_GROWTH_LEVELS; i++)
		g->nodes[i] = f->above[i - 1].nodes;
	g->last[0] = last_leaf(f, shown, &lane, until);
	raise_last(g, (f->count + UT_LANE_LEAF - 1) / UT_LANE_LEAF, counter);
	return lane;
}

void ut_deal_show(struct ut_dealer *d, const struct ut_rows *shown, uint64_t until,
		  struct ut_arena *arena, struct ut_lanes *out)
{
	uint32_t n = 0;

	make_lanes(d, out);
	for (unsigned int kind = 0; kind < UT_LANE_KINDS; kind++) {
		struct ut_lane_group *g = &d->groups[kind];

		for (size_t i = 0; i < g->count; i++)
			out->lanes[n++] = show_lane(&g->lanes[i], (enum ut_lane_kind)kind, shown,
						    until, arena);
	}
}

static void clear_lane(struct ut_filling *f)
{
	ut_deferred_free_add(f->deferred, f->rows);
	ut_deferred_free_add(f->deferred, f->ends);
	ut_deferred_free_add(f->deferred, f->finest.nodes);
	for (unsigned int i = 0; f->above && i < UT_GROWTH_LEVELS; i++)
		ut_deferred_free_add(f->deferred, f->above[i].nodes);
	free(f->above);
}

void ut_deal_clear(struct ut_dealer *d)
{
	for (unsigned int kind = 0; kind < UT_LANE_KINDS; kind++) {
		for (size_t i = 0; i < d->groups[kind].count; i++)
			clear_lane(&d->groups[kind].lanes[i]);
	}
	pyramid_deal_release(d);
	*d = (struct ut_dealer){
		.store = d->store, .kinds = d->kinds, .track = d->track, .deferred = d->deferred
	};
}
