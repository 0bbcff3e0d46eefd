/*
 * counters.c - the table of an area's counters, and what tables call a place.
 */
#include <math.h>

#include "model/counter.h"
#include "model/pyramid_lane.h"
#include "text/out.h"
#include "view/area.h"
#include "view/ask.h"
#include "view/search_query.h"
#include "view/sheet.h"
#include "view/view_parts.h"

void ut_area_put_path(struct ut_sheet *s, const struct ut_view *v, uint32_t place)
{
	struct ut_buf b = { 0 };

	ut_view_path_name(v, place, &b);
	ut_sheet_text(s, (struct ut_str){ b.data, b.len });
	ut_buf_release(&b);
}

static const struct ut_sheet_column counter_columns[] = {
	{ .key = "name", .title = "Counter", .type = "text" },
	{ .key = "unit", .title = "Unit", .type = "text" },
	{ .key = "samples", .title = "Samples", .type = "count", .wide = true },
	{ .key = "min", .title = "Min", .type = "number" },
	{ .key = "mean",
	  .title = "Mean",
	  .type = "number",
	  .hint = "each value weighted by how long it held" },
	{ .key = "max", .title = "Max", .type = "number" },
	{ .key = "last", .title = "Last", .type = "number", .wide = true },
	{ .key = "track", .title = "Track number", .type = "number" },
};

struct counted {
	uint64_t samples;
	double min, max, last, area, time;
	bool any;
};

/* A value that holds from one time to another; what is no number says nothing. */
static void counters_hold(struct counted *c, double value, uint64_t from, uint64_t to)
{
	if (!isfinite(value))
		return;
	c->min = !c->any || value < c->min ? value : c->min;
	c->max = !c->any || value > c->max ? value : c->max;
	c->last = value;
	c->area += value * (double)(to - from);
	c->time += (double)(to - from);
	c->any = true;
}

/* Sample i of a counter's lane: its time, and its value. */
static bool sample_at(const struct ut_view_track *t, const struct ut_lane *l, uint64_t i,
		      uint64_t *time, double *value)
{
	const struct ut_block *b;
	struct ut_entry e;

	if (i >= l->count || !ut_entry_get(t->rows, l, i, &e))
		return false;
	b = &t->rows->blocks[e.row / UT_BLOCK_ROWS];
	*time = ut_view_time(t, e.ts);
	*value = ut_counter_value(b->val[e.row % UT_BLOCK_ROWS],
				  ut_store_type(t->trace->store, e.type)->flags);
	return true;
}

static uint64_t seek_sample(const struct ut_view_track *t, const struct ut_lane *l, uint64_t time)
{
	uint64_t low = 0, high = l->count;

	while (low < high) {
		uint64_t mid = low + (high - low) / 2, at;
		double value;

		if (sample_at(t, l, mid, &at, &value) && at < time)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void count_range(const struct ut_view_track *t, const struct ut_lane *l,
			struct ut_ask_range r, struct counted *c)
{
	uint64_t i = seek_sample(t, l, r.from), at, next;
	double value, after;
	bool here = i > 0 && sample_at(t, l, i - 1, &at, &value);

	if (here && sample_at(t, l, i, &next, &after) && next == r.from)
		here = false; /* what held before is over */
	if (here) {
		next = sample_at(t, l, i, &next, &after) && next < r.to ? next : r.to;
		counters_hold(c, value, r.from, next);
	}
	for (here = sample_at(t, l, i, &at, &value); here && at < r.to; i++) {
		here = sample_at(t, l, i + 1, &next, &after);
		counters_hold(c, value, at, here && next < r.to ? next : r.to);
		c->samples += !isnan(value);
		if (here) {
			at = next;
			value = after;
		}
	}
}

static void counters_put_counter(struct ut_view *v, const struct ut_ask_scope *scope,
				 uint32_t track, const struct ut_lane *l, struct ut_sheet *s)
{
	const struct ut_view_track *t = &v->tracks[track];
	struct counted c = { 0 };

	if (!scope->has_ranges)
		count_range(t, l, (struct ut_ask_range){ 0, v->span }, &c);
	for (size_t i = 0; i < scope->range_count; i++)
		count_range(t, l, scope->ranges[i], &c);
	if (!c.any)
		return;
	ut_area_put_path(s, v, t->place);
	ut_sheet_text(s, v->places[t->place].unit);
	ut_sheet_u64(s, c.samples);
	ut_sheet_double(s, c.min);
	ut_sheet_double(s, c.time > 0 ? c.area / c.time : c.min);
	ut_sheet_double(s, c.max);
	ut_sheet_double(s, c.last);
	ut_sheet_u64(s, track);
}

void ut_area_counters(struct ut_view *v, const struct ut_ask_scope *scope,
		      const struct ut_search_query *w, struct ut_out *out)
{
	struct ut_sheet s;

	ut_sheet_init(&s, counter_columns, sizeof(counter_columns) / sizeof(counter_columns[0]));
	for (uint32_t i = 0; i < v->track_count; i++) {
		const struct ut_lanes *lanes = v->tracks[i].lanes;
		const struct ut_lane *last = lanes->count ? &lanes->lanes[lanes->count - 1] : NULL;

		if (w->tracks[i] && last && last->kind == UT_LANE_COUNTER)
			counters_put_counter(v, scope, i, last, &s);
	}
	ut_out_text(out, ",\"counters\":");
	ut_sheet_write(&s, 0, out);
}
