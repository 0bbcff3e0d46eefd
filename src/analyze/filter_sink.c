#include "analyze/filter_sink.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "model/idmap.h"

/* What is known of a flow's number: which of its ends stay. */
enum flow_end {
	FLOW_LEAVES = 1u << 0,
	FLOW_ARRIVES = 1u << 1,
};

/* A span that goes on, and whether it stays. */
struct frame {
	uint64_t ts, end;
	bool kept;
};

/* A flow that leads to the span that starts next. */
struct waiting {
	uint64_t row, number;
};

/* Deciding about one track. */
struct marker {
	const struct ut_filter_view *view;
	const struct ut_rows *rows;
	uint64_t *keep;
	struct frame *frames;
	size_t depth, frame_cap;
	struct waiting *waiting;
	size_t waiting_count, waiting_cap;
	struct ut_arena arena;
	struct ut_idmap async;  /* number -> row of the begin that is open, plus one */
	struct ut_idmap before; /* type of a counter -> its last row before the window, plus one */
	struct ut_idmap *flows; /* of the whole store: number -> enum flow_end */
};

static bool get_bit(const uint64_t *bits, uint64_t i)
{
	return bits[i / 64] >> i % 64 & 1;
}

static void set_bit(uint64_t *bits, uint64_t i, bool on)
{
	bits[i / 64] = (bits[i / 64] & ~(UINT64_C(1) << i % 64)) | (uint64_t)on << i % 64;
}

static bool is_flow(uint8_t kind)
{
	return kind == UT_KIND_FLOW_OUT || kind == UT_KIND_FLOW_IN || kind == UT_KIND_FLOW_STEP;
}

/* ---- flows --------------------------------------------------------------------------------- */

static void note_flow(struct marker *m, uint64_t number, enum flow_end end)
{
	ut_idmap_put(m->flows, number, ut_idmap_get(m->flows, number) | end);
}

static void leave_ended(struct marker *m, uint64_t ts)
{
	while (m->depth && m->frames[m->depth - 1].end < ts)
		m->depth--;
}

/* A flow belongs to the span around it; without one, only time and track decide. */
static bool mark_flow(struct marker *m, const struct ut_event *e, uint64_t row)
{
	bool next = e->kind == UT_KIND_FLOW_IN && e->flags & UT_EV_BIND_NEXT;
	const struct frame *top;
	bool kept;

	leave_ended(m, e->ts);
	top = m->depth ? &m->frames[m->depth - 1] : NULL;
	if (next && (!top || top->ts < e->ts)) {
		m->waiting = ut_grow(m->waiting, m->waiting_count + 1, &m->waiting_cap,
				     sizeof(*m->waiting));
		m->waiting[m->waiting_count++] = (struct waiting){ row, e->val };
		return false;
	}
	kept = top ? top->kept : !m->view->by_span && ut_filter_wants_moment(m->view, e->ts);
	if (kept && e->kind != UT_KIND_FLOW_STEP)
		note_flow(m, e->val, e->kind == UT_KIND_FLOW_OUT ? FLOW_LEAVES : FLOW_ARRIVES);
	return kept;
}

static bool mark_span(struct marker *m, const struct ut_event *e, bool wanted)
{
	uint64_t end = ut_event_end(e);
	bool kept = wanted && ut_filter_wants_span(m->view, e->ts, end);

	leave_ended(m, e->ts);
	m->frames = ut_grow(m->frames, m->depth + 1, &m->frame_cap, sizeof(*m->frames));
	m->frames[m->depth++] = (struct frame){ e->ts, end, kept };
	for (size_t i = 0; kept && i < m->waiting_count; i++) {
		set_bit(m->keep, m->waiting[i].row, true);
		note_flow(m, m->waiting[i].number, FLOW_ARRIVES);
	}
	m->waiting_count = 0;
	return kept;
}

/* ---- the other kinds ----------------------------------------------------------------------- */

/* An async span is decided upon when it ends; one that never does stays if it began in time. */
static bool begin_async(struct marker *m, const struct ut_event *e, uint64_t row)
{
	if (row < UINT32_MAX)
		ut_idmap_put(&m->async, e->val, (uint32_t)row + 1);
	return e->ts < m->view->to;
}

static bool end_async(struct marker *m, const struct ut_event *e)
{
	uint64_t row = ut_idmap_take(&m->async, e->val), begin;
	bool kept;

	if (!row--)
		return ut_filter_wants_moment(m->view, e->ts);
	begin = m->rows->blocks[row / UT_BLOCK_ROWS].ts[row % UT_BLOCK_ROWS];
	kept = get_bit(m->keep, row) && ut_filter_wants_span(m->view, begin, e->ts);
	set_bit(m->keep, row, kept);
	return kept;
}

static bool mark_counter(struct marker *m, uint32_t type, uint64_t ts, uint64_t row)
{
	if (m->view->from && ts <= m->view->from && row < UINT32_MAX)
		ut_idmap_put(&m->before, type, (uint32_t)row + 1);
	return ut_filter_wants_moment(m->view, ts);
}

static bool mark_row(struct marker *m, const struct ut_event *e, uint32_t type, uint64_t row)
{
	bool wanted = ut_filter_wants(m->view, e->track, type);

	if (e->kind == UT_KIND_SPAN)
		return mark_span(m, e, wanted);
	if (!wanted)
		return false;
	if (is_flow(e->kind))
		return mark_flow(m, e, row);
	if (e->kind == UT_KIND_ASYNC_BEGIN)
		return begin_async(m, e, row);
	if (e->kind == UT_KIND_ASYNC_END)
		return end_async(m, e);
	if (e->kind == UT_KIND_COUNTER)
		return mark_counter(m, type, e->ts, row);
	return ut_filter_wants_moment(m->view, e->ts);
}

static void keep_earlier_counters(struct marker *m)
{
	for (size_t i = 0; i <= m->before.mask; i++) {
		if (m->before.values[i])
			set_bit(m->keep, m->before.values[i] - UINT64_C(1), true);
	}
}

/* ---- a store ------------------------------------------------------------------------------- */

static void mark_track(struct ut_filter_sink *f, uint32_t track, struct ut_idmap *flows)
{
	const struct ut_store *s = f->view->store;
	struct marker m = { .view = f->view, .rows = &s->rows[track], .flows = flows };
	uint64_t row = 0;

	f->keep[track] = m.keep = ut_make((m.rows->count / 64 + 1) * sizeof(*m.keep));
	if (f->view->filter && !(f->view->tracks[track] & UT_FILTER_TRACK))
		return;
	ut_idmap_init(&m.async, &m.arena);
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
	free(m.frames);
	free(m.waiting);
	ut_arena_release(&m.arena);
}

/* Flows of which one end has gone go as well. */
static void drop_half_flows(struct ut_filter_sink *f, uint32_t track, const struct ut_idmap *flows)
{
	const struct ut_store *s = f->view->store;
	uint64_t row = 0;

	for (size_t n = 0; n < ut_rows_blocks(&s->rows[track]); n++) {
		const struct ut_block *b = &s->rows[track].blocks[n];

		for (uint32_t i = 0; i < b->count; i++, row++) {
			if (is_flow(ut_store_type(s, b->type[i])->kind) &&
			    ut_idmap_get(flows, b->val[i]) != (FLOW_LEAVES | FLOW_ARRIVES))
				set_bit(f->keep[track], row, false);
		}
	}
}

static bool has_flows(const struct ut_store *s)
{
	for (uint32_t i = 0; i < s->types.count; i++) {
		if (is_flow(s->types.items[i].kind))
			return true;
	}
	return false;
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

void ut_filter_sink_init(struct ut_filter_sink *f, const struct ut_filter_view *view,
			 struct ut_sink *next)
{
	const struct ut_store *s = view->store;
	struct ut_arena arena = { 0 };
	struct ut_idmap flows;

	*f = (struct ut_filter_sink){ .sink = { pass_event }, .next = next, .view = view };
	f->keep = ut_make((s->trace.track_count + 1) * sizeof(*f->keep));
	f->tracks = ut_make((s->trace.track_count + 1) * sizeof(*f->tracks));
	ut_idmap_init(&flows, &arena);
	for (uint32_t i = 0; i < s->trace.track_count; i++)
		mark_track(f, i, &flows);
	for (uint32_t i = 0; has_flows(s) && i < s->trace.track_count; i++)
		drop_half_flows(f, i, &flows);
	thin_trace(f);
	ut_arena_release(&arena);
}

void ut_filter_sink_release(struct ut_filter_sink *f)
{
	for (size_t i = 0; f->keep && i < f->view->store->trace.track_count; i++)
		free(f->keep[i]);
	free(f->keep);
	free(f->tracks);
	free(f->trace.processes);
	free(f->trace.tracks);
	*f = (struct ut_filter_sink){ 0 };
}
