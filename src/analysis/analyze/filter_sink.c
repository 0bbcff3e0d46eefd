#include "analyze/filter_sink.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/idmap.h"
#include "model/counter.h"
#include "model/nesting.h"

/* What is known of a flow's number: which of its ends stay. */
enum flow_end {
	FLOW_LEAVES = 1u << 0,
	FLOW_ARRIVES = 1u << 1,
};

/* Deciding about one track. */
struct marker {
	const struct ut_filter_view *view;
	const struct ut_rows *rows;
	uint64_t *keep;
	struct ut_arena arena;
	struct ut_nesting async; /* what is the row */
	struct ut_idmap before;  /* name of a counter -> its row that holds at the window, + 1 */
};

static bool get_bit(const uint64_t *bits, uint64_t i)
{
	return bits[i / 64] >> i % 64 & 1;
}

static void set_bit(uint64_t *bits, uint64_t i, bool on)
{
	bits[i / 64] = (bits[i / 64] & ~(UINT64_C(1) << i % 64)) | (uint64_t)on << i % 64;
}

/* ---- kinds --------------------------------------------------------------------------------- */

/* An async span is decided upon when it ends; one that never does stays if it began in time. */
static bool begin_async(struct marker *m, const struct ut_event *e, uint64_t row, bool wanted)
{
	ut_nesting_begin(&m->async, e->val,
			 (struct ut_begun){ .ts = e->ts, .what = row, .name = e->name });
	return wanted && e->ts < m->view->to;
}

static bool filter_sink_end_async(struct marker *m, const struct ut_event *e, bool wanted)
{
	uint32_t left = ut_nesting_end(&m->async, e->val, e->name);
	bool kept = wanted && ut_filter_wants_timestamp(m->view, e->ts);

	for (; left; left--) {
		struct ut_begun b = ut_nesting_take(&m->async, e->val);

		kept = get_bit(m->keep, b.what) && ut_filter_wants_span(m->view, b.ts, e->ts);
		set_bit(m->keep, b.what, kept);
	}
	return kept;
}

static bool mark_counter(struct marker *m, const struct ut_event *e, uint64_t row)
{
	if (m->view->from && e->ts <= m->view->from && row < UINT32_MAX) {
		if (ut_counter_ends(e->val, e->flags))
			ut_idmap_take(&m->before, e->name);
		else
			ut_idmap_put(&m->before, e->name, (uint32_t)row + 1);
	}
	return ut_filter_wants_timestamp(m->view, e->ts);
}

static bool mark_row(struct marker *m, const struct ut_event *e, uint32_t type, uint64_t row)
{
	bool wanted = ut_filter_wants(m->view, e->track, type);

	if (e->kind == UT_KIND_ASYNC_BEGIN)
		return begin_async(m, e, row, wanted);
	if (e->kind == UT_KIND_ASYNC_END)
		return filter_sink_end_async(m, e, wanted);
	if (!wanted || ut_is_flow(e->kind)) /* flows are decided upon when all spans are */
		return false;
	if (e->kind == UT_KIND_SPAN)
		return ut_filter_wants_span(m->view, e->ts, ut_event_end(e));
	if (e->kind == UT_KIND_COUNTER)
		return mark_counter(m, e, row);
	return ut_filter_wants_timestamp(m->view, e->ts);
}

static void keep_earlier_counters(struct marker *m)
{
	for (size_t i = 0; m->before.count && i <= m->before.mask; i++) {
		if (m->before.slots[i].value)
			set_bit(m->keep, m->before.slots[i].value - UINT64_C(1), true);
	}
}

/* ---- a store ------------------------------------------------------------------------------- */

static void mark_track(struct ut_filter_sink *f, uint32_t track)
{
	const struct ut_store *s = f->view->store;
	struct marker m = { .view = f->view, .rows = &s->rows[track] };
	uint64_t row = 0;

	f->keep[track] = m.keep = ut_make((m.rows->count / 64 + 1) * sizeof(*m.keep));
	if (f->view->filter && !(f->view->tracks[track] & UT_FILTER_TRACK))
		return;
	ut_idmap_init(&m.before, &m.arena);
	for (size_t n = 0; n < ut_rows_blocks(m.rows); n++) {
		const struct ut_block *b = &m.rows->blocks[n];

		for (uint32_t i = 0; i < b->count; i++, row++) {
			struct ut_event e = ut_block_event(s, track, b, i);

			if (mark_row(&m, &e, b->type[i], row))
				set_bit(m.keep, row, true);
		}
	}
	keep_earlier_counters(&m);
	ut_nesting_release(&m.async);
	ut_arena_release(&m.arena);
}

/* A flow belongs to its span; without one, only time and track decide. */
static bool keeps_end(const struct ut_filter_sink *f, const struct ut_arrow_end *e)
{
	if (!ut_filter_wants(f->view, e->track, e->type))
		return false;
	if (e->slice != UT_NO_SLICE)
		return get_bit(f->keep[e->track], e->slice);
	return !f->view->by_span && ut_filter_wants_timestamp(f->view, e->ts);
}

/* Which sides of the flow of ends [first, end) stay. */
static unsigned int kept_sides(const struct ut_filter_sink *f, const struct ut_arrow_end *first,
			       const struct ut_arrow_end *end)
{
	unsigned int sides = 0;

	for (const struct ut_arrow_end *e = first; e < end; e++) {
		if (e->kind != UT_KIND_FLOW_STEP && keeps_end(f, e))
			sides |= e->kind == UT_KIND_FLOW_OUT ? FLOW_LEAVES : FLOW_ARRIVES;
	}
	return sides;
}

/* Flows of which one side has gone go as well. */
static void mark_flows(struct ut_filter_sink *f)
{
	const struct ut_arrow_end *e, *next, *last;
	struct ut_arrows all;

	ut_arrows_make(&all, f->view->store, NULL);
	last = all.end_count ? all.ends + all.end_count : all.ends;
	for (e = all.ends; e < last; e = next) {
		unsigned int sides;

		for (next = e + 1; next < last && next->number == e->number;)
			next++;
		sides = kept_sides(f, e, next);
		for (; e < next; e++) {
			if ((!f->view->filter || sides == (FLOW_LEAVES | FLOW_ARRIVES)) &&
			    keeps_end(f, e))
				set_bit(f->keep[e->track], e->row, true);
		}
	}
	ut_arrows_release(&all);
}

static uint64_t count_kept(const struct ut_filter_sink *f, uint32_t track)
{
	uint64_t n = 0;

	for (uint64_t i = 0; i <= f->view->store->rows[track].count / 64; i++)
		n += (uint64_t)__builtin_popcountll(f->keep[track][i]);
	return n;
}

/* The trace without the tracks and processes of which nothing is left. */
static void thin_trace(struct ut_filter_sink *f)
{
	const struct ut_trace *t = &f->view->store->trace;
	uint32_t *processes = ut_make((t->process_count + 1) * sizeof(*processes));

	f->trace = *t;
	f->trace.processes = ut_make((t->process_count + 1) * sizeof(*t->processes));
	f->trace.tracks = ut_make((t->track_count + 1) * sizeof(*t->tracks));
	f->trace.process_count = f->trace.track_count = 0;
	for (uint32_t i = 0; i < t->track_count; i++) {
		uint64_t kept = count_kept(f, i);
		uint32_t process = t->tracks[i].process;

		f->kept += kept;
		if (!kept)
			continue;
		if (!processes[process]) {
			f->trace.processes[f->trace.process_count++] = t->processes[process];
			processes[process] = (uint32_t)f->trace.process_count;
		}
		f->tracks[i] = (uint32_t)f->trace.track_count++;
		f->trace.tracks[f->tracks[i]] = t->tracks[i];
		f->trace.tracks[f->tracks[i]].process = processes[process] - 1;
	}
	free(processes);
}

/* With --clip: the part of the event that lies in the window. */
static void clip(const struct ut_filter_view *v, struct ut_event *e)
{
	uint64_t end = ut_event_end(e);

	e->ts = e->ts < v->from ? v->from : e->ts > v->to ? v->to : e->ts;
	end = end < v->from ? v->from : end > v->to ? v->to : end;
	if (e->kind == UT_KIND_SPAN)
		e->val = end - e->ts;
}

static void pass_event(struct ut_sink *sink, const struct ut_trace *trace, const struct ut_event *e)
{
	struct ut_filter_sink *f = (struct ut_filter_sink *)sink;
	struct ut_event copy = *e;

	if (e->track != f->track) {
		f->track = e->track;
		f->row = 0;
	}
	if (!get_bit(f->keep[e->track], f->row++))
		return;
	if (f->view->clip)
		clip(f->view, &copy);
	copy.track = f->tracks[e->track];
	f->trace.args = trace->args; /* they move while the store is sent */
	f->trace.arg_count = trace->arg_count;
	ut_sink_event(f->next, &f->trace, &copy);
}

static void make_arrows(struct ut_filter_sink *f)
{
	ut_arrows_make(&f->arrows, f->view->store, f->keep);
	ut_arrows_attach(&f->arrows);
	for (size_t i = 0; i < f->arrows.attached_count; i++)
		f->arrows.attached[i].track = f->tracks[f->arrows.attached[i].track];
	f->trace.arrows = &f->arrows;
}

void ut_filter_sink_init(struct ut_filter_sink *f, const struct ut_filter_view *view,
			 struct ut_sink *next)
{
	const struct ut_store *s = view->store;

	*f = (struct ut_filter_sink){ .sink.event = pass_event, .next = next, .view = view };
	f->keep = ut_make((s->trace.track_count + 1) * sizeof(*f->keep));
	f->tracks = ut_make((s->trace.track_count + 1) * sizeof(*f->tracks));
	for (uint32_t i = 0; i < s->trace.track_count; i++)
		mark_track(f, i);
	mark_flows(f);
	thin_trace(f);
	if (next->wants_arrows)
		make_arrows(f);
}

void ut_filter_sink_release(struct ut_filter_sink *f)
{
	for (size_t i = 0; f->keep && i < f->view->store->trace.track_count; i++)
		free(f->keep[i]);
	free(f->keep);
	free(f->tracks);
	ut_arrows_release(&f->arrows);
	free(f->trace.processes);
	free(f->trace.tracks);
	*f = (struct ut_filter_sink){ 0 };
}
