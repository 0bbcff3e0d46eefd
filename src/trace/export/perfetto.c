/*
 * perfetto.c - Perfetto's protobuf trace: a list of packets, one packet sequence per trace.
 *
 * Rules that readers of the format depend on:
 *  (1) the clock snapshot and a track's descriptor come before the first event that needs them;
 *  (2) an interned string comes before its first use; its number is our string id;
 *  (3) on each row (a Perfetto track) begins and ends are properly nested and in order of time.
 *
 * For (3) spans are turned into begin and end. The first row of a thread or lane keeps the ends of
 * its open slices and writes them when the next event of the row is later. A span that does not
 * nest there goes to a row that holds one at a time, as async spans do; such rows are used again.
 */
#include "export/exporter.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "export/describe.h"
#include "export/pbuf.h"
#include "export/perfetto_packet.h"
#include "export/perfetto_samples.h"
#include "export/perfetto_track.h"
#include "model/arrows.h"
#include "model/event.h"
#include "model/nesting.h"
#include "model/pairs.h"
#include "model/perfetto_fields.h"
#include "model/perfetto_ours.h"
#include "model/store.h"
#include "model/trace.h"
#include "text/out.h"

/* A flow at the end of a slice. */
struct late {
	uint64_t id;
	uint32_t field;
};

/* The end of a slice, and the flows that are told with it: p->late[first .. first + count). */
struct ending {
	uint64_t ts;
	size_t first, count;
};

/* One Perfetto track. */
struct row {
	uint64_t uuid;
	struct ending *ends; /* of its open slices, the outermost first */
	size_t depth, cap;
	/* rows that hold one span at a time, or async spans of one number, which nest */
	uint64_t busy_until; /* the end of its latest span, its begin while it is open */
	size_t open;         /* async spans that have begun */
};

/* An async span that is open. */
struct async {
	uint32_t row;
	struct ending end; /* its time is not known yet */
};

/* What a track of the model becomes. */
struct lane {
	struct row *rows; /* rows[0] is the track itself, but for async ones */
	size_t count, cap;
	uint32_t *idle; /* rows without an open span; a heap, the first free one on top */
	size_t idle_count, idle_cap;
	/* The latest begin is held back until the track's next event: flows that are bound to it
	 * come after it and are written into it. */
	struct ut_pbuf held;
	uint64_t held_ts;
	struct ending held_end;  /* if it is known already: */
	uint64_t held_uuid;      /* 0 = it is not */
	struct ut_nesting pairs; /* async spans that are open; what is an index into asyncs */
	struct async *asyncs;
	size_t async_count, async_cap;
	uint32_t free_async;  /* index + 1 of one that is not used; they are linked by row */
	uint64_t held_number; /* of the async span that it begins... */
	bool held_async;      /* ... if it is one */
	bool holds;
	bool described;
	uint32_t name; /* as described */
};

struct process {
	uint64_t uuid; /* 0 = not described yet */
	int32_t pid;
	struct ut_process reported; /* what the latest description said */
};

struct perfetto {
	struct ut_sink sink;
	struct ut_perfetto_packets w;
	struct ut_pbuf body; /* scratch */
	struct ut_idmap pids;
	uint64_t next_uuid;
	uint64_t flow_salt; /* added to the numbers of all flows */
	struct ut_pairs flows;

	/* the trace that is being written */
	bool started;
	bool lists;         /* a comma in a category parts two of them, as in Chrome's JSON */
	struct lane *lanes; /* by track */
	size_t lane_cap;
	struct process *processes;
	size_t process_cap;
	size_t next_attached; /* of trace->arrows: what the spans so far have not had */
	struct late *late;    /* flows that are told at the end of their slice */
	size_t late_count, late_cap;
	uint64_t *globals; /* ids of flows that other files may have, too */
	size_t global_count, global_cap;
	struct ut_perfetto_samples samples;
};

static void put_event(struct perfetto *p, struct ut_pbuf *b, const struct ut_trace *t,
		      const struct ut_event *e, enum event_type type, uint64_t uuid)
{
	b->len = 0;
	ut_pbuf_varint(b, EVENT_TYPE, type);
	ut_pbuf_varint(b, EVENT_TRACK_UUID, uuid);
	if (e->name)
		ut_pbuf_varint(b, EVENT_NAME_IID,
			       ut_perfetto_intern(&p->w, t, e->name, UT_PERFETTO_NAMES));
	ut_perfetto_put_categories(&p->w, b, t, e->cat, p->lists);
	ut_perfetto_put_args(&p->w, b, t, e->args);
#define PUT_FLAG(flag, key)                                                                        \
	if (e->flags & UT_EV_##flag)                                                               \
		ut_perfetto_put_flag(b, key);
	UT_SPAN_FLAG_LIST(PUT_FLAG)
#undef PUT_FLAG
}

static void start_end(struct perfetto *p, uint64_t uuid, const struct ending *end)
{
	p->body.len = 0;
	ut_pbuf_varint(&p->body, EVENT_TYPE, TYPE_SLICE_END);
	ut_pbuf_varint(&p->body, EVENT_TRACK_UUID, uuid);
	for (size_t i = 0; i < end->count; i++)
		ut_pbuf_fixed64(&p->body, p->late[end->first + i].field,
				p->late[end->first + i].id);
}

static void write_end(struct perfetto *p, uint64_t uuid, const struct ending *end)
{
	start_end(p, uuid, end);
	ut_perfetto_write_event(&p->w, end->ts, &p->body);
}

static void export_perfetto_start_trace(struct perfetto *p, const struct ut_trace *t, uint64_t ts)
{
	size_t mark;

	p->started = true;
	p->lists = t->file_args; /* it was read from another tool's file */
	p->w.sequence++;
	if (p->w.sequence == 1) {
		p->next_uuid = (ut_perfetto_salt(t) << 16) + 1;
		p->flow_salt = ut_perfetto_salt(t) << 40;
		ut_perfetto_write_clocks(&p->w, t, t->first ? t->first : ts);
	}

	ut_perfetto_start(&p->w, SEQ_STATE_CLEARED);
	mark = ut_pbuf_begin(&p->w.packet, PACKET_DEFAULTS);
	ut_pbuf_varint(&p->w.packet, DEFAULTS_CLOCK_ID, CLOCK_MONO);
	ut_pbuf_end(&p->w.packet, mark);
	ut_pbuf_varint(&p->w.packet, PACKET_FIRST_ON_SEQUENCE, 1);
	ut_perfetto_write(&p->w);
}

static void describe_process(struct perfetto *p, const struct ut_trace *t, uint32_t index)
{
	struct process *process = &p->processes[index];
	struct ut_perfetto_place place = { .uuid = process->uuid, .pid = process->pid };

	process->reported = t->processes[index];
	ut_perfetto_start(&p->w, 0);
	ut_perfetto_put_process(&p->w.packet, t, &t->processes[index], &place);
	ut_perfetto_write(&p->w);
}

static struct process *process_at(struct perfetto *p, const struct ut_trace *t, uint32_t index)
{
	struct process *process;

	p->processes =
		ut_grow(p->processes, (size_t)index + 1, &p->process_cap, sizeof(*p->processes));
	process = &p->processes[index];
	if (!process->uuid) {
		process->uuid = p->next_uuid++;
		process->pid = (int32_t)ut_pids_take(
			&p->pids, t, index, (uint32_t)ut_perfetto_pid(t, &t->processes[index]));
		describe_process(p, t, index);
	}
	return process;
}

/* Rows beside the first hold what does not nest there; they stand below it. */
static void describe_row(struct perfetto *p, const struct ut_trace *t, uint32_t index, size_t row)
{
	const struct process *process = process_at(p, t, t->tracks[index].process);
	const struct lane *lane = &p->lanes[index];
	struct ut_perfetto_place place = {
		.uuid = lane->rows[row].uuid,
		.parent = process->uuid,
		.first = lane->rows[0].uuid,
		.pid = process->pid,
		.index = index,
	};

	if (row && t->tracks[index].type != UT_TRACK_ASYNC) {
		place.parent = lane->rows[0].uuid;
		place.overlap = true;
	}
	ut_perfetto_start(&p->w, 0);
	ut_perfetto_put_track(&p->w.packet, t, &t->tracks[index], &place);
	ut_perfetto_write(&p->w);
}

static uint32_t export_perfetto_add_row(struct perfetto *p, const struct ut_trace *t,
					uint32_t track)
{
	struct lane *lane = &p->lanes[track];

	lane->rows = ut_grow(lane->rows, lane->count + 1, &lane->cap, sizeof(*lane->rows));
	lane->rows[lane->count].uuid = p->next_uuid++;
	describe_row(p, t, track, lane->count);
	return (uint32_t)lane->count++;
}

static struct lane *lane_at(struct perfetto *p, const struct ut_trace *t, uint32_t track)
{
	struct lane *lane;

	p->lanes = ut_grow(p->lanes, (size_t)track + 1, &p->lane_cap, sizeof(*p->lanes));
	lane = &p->lanes[track];
	if (!lane->described) {
		lane->described = true;
		lane->name = t->tracks[track].name;
		if (t->tracks[track].type != UT_TRACK_ASYNC)
			export_perfetto_add_row(p, t, track);
	}
	return lane;
}

static void release_held(struct perfetto *p, struct lane *lane)
{
	if (!lane->holds)
		return;
	lane->holds = false;
	if (lane->held_async)
		ut_pbuf_varint(&p->w.ours, OURS_NUMBER, lane->held_number);
	lane->held_async = false;
	ut_perfetto_write_event(&p->w, lane->held_ts, &lane->held);
	if (lane->held_uuid)
		write_end(p, lane->held_uuid, &lane->held_end);
	lane->held_uuid = 0;
}

static void hold_begin(struct perfetto *p, struct lane *lane, const struct ut_trace *t,
		       const struct ut_event *e, uint64_t uuid)
{
	put_event(p, &lane->held, t, e, TYPE_SLICE_BEGIN, uuid);
	lane->held_ts = e->ts;
	lane->holds = true;
}

static uint64_t idle_since(const struct lane *lane, size_t i)
{
	return lane->rows[lane->idle[i]].busy_until;
}

static void swap_idle(struct lane *lane, size_t a, size_t b)
{
	uint32_t row = lane->idle[a];

	lane->idle[a] = lane->idle[b];
	lane->idle[b] = row;
}

static void add_idle(struct lane *lane, uint32_t row)
{
	size_t i = lane->idle_count++;

	lane->idle = ut_grow(lane->idle, lane->idle_count, &lane->idle_cap, sizeof(*lane->idle));
	lane->idle[i] = row;
	for (; i && idle_since(lane, i) < idle_since(lane, (i - 1) / 2); i = (i - 1) / 2)
		swap_idle(lane, i, (i - 1) / 2);
}

static uint32_t take_idle(struct lane *lane)
{
	uint32_t row = lane->idle[0];
	size_t i = 0, next;

	lane->idle[0] = lane->idle[--lane->idle_count];
	for (; 2 * i + 1 < lane->idle_count; i = next) {
		next = 2 * i + 1;
		if (next + 1 < lane->idle_count &&
		    idle_since(lane, next + 1) < idle_since(lane, next))
			next++;
		if (idle_since(lane, i) <= idle_since(lane, next))
			break;
		swap_idle(lane, i, next);
	}
	return row;
}

/* A row that is free from ts on. For spans in order of their begin this gives the fewest rows. */
static uint32_t free_row(struct perfetto *p, const struct ut_trace *t, uint32_t track, uint64_t ts)
{
	struct lane *lane = &p->lanes[track];

	if (lane->idle_count && idle_since(lane, 0) <= ts)
		return take_idle(lane);
	return export_perfetto_add_row(p, t, track);
}

/* Ends the slices of a row that are over at ts. */
static void unwind(struct perfetto *p, struct row *row, uint64_t ts)
{
	while (row->depth && row->ends[row->depth - 1].ts <= ts)
		write_end(p, row->uuid, &row->ends[--row->depth]);
}

static uint64_t flow_id(struct perfetto *p, uint64_t number)
{
	return p->flow_salt + ut_pairs_number(&p->flows, number);
}

/* A number that all files have in common stays what it is; that it is one is told at the end. */
static uint64_t global_id(struct perfetto *p, uint64_t number)
{
	p->globals = ut_grow(p->globals, p->global_count + 1, &p->global_cap, sizeof(*p->globals));
	p->globals[p->global_count++] = number;
	return number;
}

static uint32_t flow_field(enum ut_attach how)
{
	return how == UT_FLOW_ARRIVES ? EVENT_ENDING_FLOWS : EVENT_FLOWS;
}

/*
 * Writes the flows of the span whose begin is held, of a store that is being sent. Perfetto takes a
 * flow's events in order of time, so an arrow to a span that began earlier than the one it comes
 * from arrives with the end: that gets its id. NULL for end: there is nothing that ends later.
 */
static void put_flows(struct perfetto *p, struct ut_pbuf *to, const struct ut_trace *t,
		      const struct ut_event *e, struct ending *end)
{
	const struct ut_attached *a = t->arrows->attached;
	size_t i = p->next_attached, count = t->arrows->attached_count;

	while (i < count &&
	       (a[i].track < e->track || (a[i].track == e->track && a[i].row < e->row)))
		i++;
	for (; i < count && a[i].track == e->track && (uint32_t)a[i].row == e->row; i++) {
		struct late late = { a[i].global ? global_id(p, a[i].id) : flow_id(p, a[i].id),
				     flow_field(a[i].how) };

		if (!a[i].at_end || !end) {
			ut_pbuf_fixed64(to, late.field, late.id);
			continue;
		}
		p->late = ut_grow(p->late, p->late_count + 1, &p->late_cap, sizeof(*p->late));
		p->late[p->late_count++] = late;
		end->count++;
	}
	p->next_attached = i;
}

/* A span on a row that holds one at a time. */
static void add_span_alone(struct perfetto *p, const struct ut_trace *t, const struct ut_event *e,
			   struct ending end)
{
	struct lane *lane = &p->lanes[e->track];
	uint32_t row = free_row(p, t, e->track, e->ts);

	hold_begin(p, lane, t, e, lane->rows[row].uuid);
	if (t->arrows)
		put_flows(p, &lane->held, t, e, &end);
	lane->held_uuid = lane->rows[row].uuid;
	lane->held_end = end;
	lane->rows[row].busy_until = end.ts;
	add_idle(lane, row);
}

static void export_perfetto_add_span(struct perfetto *p, const struct ut_trace *t,
				     const struct ut_event *e)
{
	struct lane *lane = lane_at(p, t, e->track);
	struct ending end = { .ts = ut_event_end(e), .first = p->late_count };
	struct row *row = lane->rows;

	release_held(p, lane);
	if (t->tracks[e->track].type == UT_TRACK_ASYNC) {
		add_span_alone(p, t, e, end);
		return;
	}
	unwind(p, row, e->ts);
	if (row->depth && row->ends[row->depth - 1].ts < end.ts) {
		add_span_alone(p, t, e, end);
		return;
	}
	hold_begin(p, lane, t, e, row->uuid);
	if (t->arrows)
		put_flows(p, &lane->held, t, e, &end);
	row->ends = ut_grow(row->ends, row->depth + 1, &row->cap, sizeof(*row->ends));
	row->ends[row->depth++] = end;
}

/* Where an event without length goes; uuid 0 is the trace's own track. */
static uint64_t instant_uuid(struct perfetto *p, const struct ut_trace *t, const struct ut_event *e)
{
	struct lane *lane = lane_at(p, t, e->track);

	if (e->flags & UT_EV_SCOPE_GLOBAL)
		return 0;
	if (e->flags & UT_EV_SCOPE_PROCESS || !lane->count)
		return process_at(p, t, t->tracks[e->track].process)->uuid;
	unwind(p, &lane->rows[0], e->ts);
	return lane->rows[0].uuid;
}

/* A row of an overlapping track where nothing is open at ts. */
static uint64_t idle_uuid(struct perfetto *p, const struct ut_trace *t, uint32_t track, uint64_t ts)
{
	struct lane *lane = lane_at(p, t, track);
	uint32_t row = free_row(p, t, track, ts);

	if (lane->rows[row].busy_until < ts)
		lane->rows[row].busy_until = ts;
	add_idle(lane, row);
	return lane->rows[row].uuid;
}

/* The same for what only foreign traces have on overlapping tracks: it stays on its track. */
static uint64_t mark_uuid(struct perfetto *p, const struct ut_trace *t, const struct ut_event *e)
{
	bool scoped = e->flags & (UT_EV_SCOPE_GLOBAL | UT_EV_SCOPE_PROCESS);

	if (t->tracks[e->track].type == UT_TRACK_ASYNC && !scoped)
		return idle_uuid(p, t, e->track, e->ts);
	return instant_uuid(p, t, e);
}

/* What concerns more than its track stands elsewhere; where it was is only for ourselves. */
static void put_own_place(struct perfetto *p, const struct ut_trace *t, uint32_t track,
			  uint64_t uuid)
{
	struct lane *lane = &p->lanes[track];

	if (!lane->count) /* an async track on which nothing happened so far */
		add_idle(lane, export_perfetto_add_row(p, t, track));
	if (lane->rows[0].uuid != uuid)
		ut_pbuf_varint(&p->w.ours, OURS_TRACK, lane->rows[0].uuid);
}

static void add_instant(struct perfetto *p, const struct ut_trace *t, const struct ut_event *e)
{
	uint64_t uuid;

	release_held(p, lane_at(p, t, e->track));
	uuid = mark_uuid(p, t, e);
	put_event(p, &p->body, t, e, TYPE_INSTANT, uuid);
	put_own_place(p, t, e->track, uuid);
	ut_perfetto_write_event(&p->w, e->ts, &p->body);
}

/* The format knows no objects: a moment that tells which one, and what happened to it. */
static void add_object(struct perfetto *p, const struct ut_trace *t, const struct ut_event *e)
{
	const char *key = e->kind == UT_KIND_OBJECT_NEW     ? "object_new"
			  : e->kind == UT_KIND_OBJECT_STATE ? "object_state"
							    : "object_gone";
	uint64_t uuid;

	release_held(p, lane_at(p, t, e->track));
	uuid = mark_uuid(p, t, e);
	put_event(p, &p->body, t, e, TYPE_INSTANT, uuid);
	ut_perfetto_put_number(&p->body, key, e->val);
	put_own_place(p, t, e->track, uuid);
	ut_perfetto_write_event(&p->w, e->ts, &p->body);
}

/* A moment in an async span goes onto its row. */
static void add_async_instant(struct perfetto *p, const struct ut_trace *t,
			      const struct ut_event *e)
{
	struct lane *lane = lane_at(p, t, e->track);
	const struct ut_begun *enclosing = ut_nesting_look(&lane->pairs, e->val);
	uint64_t uuid;

	release_held(p, lane);
	uuid = enclosing ? lane->rows[lane->asyncs[enclosing->what].row].uuid
			 : idle_uuid(p, t, e->track, e->ts);
	put_event(p, &p->body, t, e, TYPE_INSTANT, uuid);
	ut_pbuf_varint(&p->w.ours, OURS_NUMBER, e->val);
	ut_perfetto_write_event(&p->w, e->ts, &p->body);
}

static void export_perfetto_add_counter(struct perfetto *p, const struct ut_trace *t,
					const struct ut_event *e)
{
	struct lane *lane = lane_at(p, t, e->track);
	double value;

	if (!lane->count)
		export_perfetto_add_row(p, t, e->track);
	p->body.len = 0;
	ut_pbuf_varint(&p->body, EVENT_TYPE, TYPE_COUNTER);
	ut_pbuf_varint(&p->body, EVENT_TRACK_UUID, lane->rows[0].uuid);
	ut_perfetto_put_categories(&p->w, &p->body, t, e->cat, p->lists);
	ut_perfetto_put_args(&p->w, &p->body, t, e->args);
	memcpy(&value, &e->val, sizeof(value));
	if (e->flags & UT_EV_DOUBLE) {
		ut_pbuf_double(&p->body, EVENT_DOUBLE_COUNTER, value);
	} else if (e->flags & UT_EV_SIGNED || e->val <= INT64_MAX) {
		ut_pbuf_varint(&p->body, EVENT_COUNTER, e->val);
	} else { /* no field for others has all digits */
		ut_pbuf_double(&p->body, EVENT_DOUBLE_COUNTER, (double)e->val);
		ut_pbuf_varint(&p->w.ours, OURS_NUMBER, e->val);
	}
	ut_perfetto_write_event(&p->w, e->ts, &p->body);
}

static size_t keep_async(struct lane *lane, struct async async)
{
	size_t i = lane->free_async ? lane->free_async - 1 : lane->async_count++;

	lane->asyncs = ut_grow(lane->asyncs, i + 1, &lane->async_cap, sizeof(*lane->asyncs));
	if (lane->free_async)
		lane->free_async = lane->asyncs[i].row;
	lane->asyncs[i] = async;
	return i;
}

static struct async take_async(struct lane *lane, uint64_t number)
{
	size_t i = ut_nesting_take(&lane->pairs, number).what;
	struct async async = lane->asyncs[i];

	lane->asyncs[i].row = lane->free_async;
	lane->free_async = (uint32_t)i + 1;
	return async;
}

/* Async spans of one number nest, and so they share a row. */
static void add_async_begin(struct perfetto *p, const struct ut_trace *t, const struct ut_event *e)
{
	struct lane *lane = lane_at(p, t, e->track);
	const struct ut_begun *enclosing = ut_nesting_look(&lane->pairs, e->val);
	struct async async = { .end.first = p->late_count };
	struct row *row;

	release_held(p, lane);
	async.row = enclosing ? lane->asyncs[enclosing->what].row : free_row(p, t, e->track, e->ts);
	row = &lane->rows[async.row];
	row->busy_until = e->ts;
	row->open++;
	hold_begin(p, lane, t, e, row->uuid);
	lane->held_number = e->val;
	lane->held_async = true;
	if (t->arrows)
		put_flows(p, &lane->held, t, e, &async.end);
	ut_nesting_begin(
		&lane->pairs, e->val,
		(struct ut_begun){ .ts = e->ts, .what = keep_async(lane, async), .name = e->name });
}

/* own: the end is that of this very begin, and its arguments are, too. */
static void export_perfetto_end_async(struct perfetto *p, const struct ut_trace *t,
				      const struct ut_event *e, bool own)
{
	struct lane *lane = &p->lanes[e->track];
	struct async async = take_async(lane, e->val);
	struct row *row = &lane->rows[async.row];

	if (row->busy_until < e->ts)
		row->busy_until = e->ts; /* clocks of two threads: never before its begin */
	start_end(p, row->uuid, &async.end);
	if (own)
		ut_perfetto_put_args(&p->w, &p->body, t, e->args);
	ut_perfetto_write_event(&p->w, row->busy_until, &p->body);
	if (!--row->open)
		add_idle(lane, async.row);
}

static void add_async_end(struct perfetto *p, const struct ut_trace *t, const struct ut_event *e)
{
	struct lane *lane = lane_at(p, t, e->track);

	release_held(p, lane);
	for (uint32_t left = ut_nesting_end(&lane->pairs, e->val, e->name); left; left--)
		export_perfetto_end_async(p, t, e, left == 1);
}

/* When the span ends whose begin is held. */
static uint64_t held_until(const struct lane *lane)
{
	if (lane->held_uuid)
		return lane->held_end.ts;
	return lane->rows[0].depth ? lane->rows[0].ends[lane->rows[0].depth - 1].ts : UINT64_MAX;
}

/* Of a recording: it belongs to the begin before it, or came too late for that. */
static void add_flow(struct perfetto *p, const struct ut_trace *t, const struct ut_event *e)
{
	struct lane *lane = lane_at(p, t, e->track);
	uint32_t field = e->kind == UT_KIND_FLOW_IN ? EVENT_ENDING_FLOWS : EVENT_FLOWS;
	bool global = e->flags & UT_EV_GLOBAL_ID;
	uint64_t id = global ? global_id(p, e->val) : flow_id(p, e->val), uuid;

	if (lane->holds && (!global || held_until(lane) >= e->ts)) {
		ut_pbuf_fixed64(&lane->held, field, id);
		return;
	}
	uuid = mark_uuid(p, t, e);
	put_event(p, &p->body, t, e, TYPE_INSTANT, uuid);
	if (!e->name)
		ut_pbuf_str(&p->body, EVENT_NAME, "flow", 4);
	ut_pbuf_fixed64(&p->body, field, id);
	put_own_place(p, t, e->track, uuid);
	ut_perfetto_write_event(&p->w, e->ts, &p->body);
}

static void export_perfetto_add_sample(struct perfetto *p, const struct ut_trace *t,
				       const struct ut_event *e)
{
	struct lane *lane = lane_at(p, t, e->track);
	int32_t pid = process_at(p, t, t->tracks[e->track].process)->pid;
	struct ut_perfetto_sampled at = { 0, pid, (int32_t)ut_perfetto_tid(t, e->track, pid) };

	release_held(p, lane); /* what came before it stays there */
	if (!lane->count)
		export_perfetto_add_row(p, t, e->track);
	at.uuid = lane->rows[0].uuid;
	ut_perfetto_put_sample(&p->samples, &p->w, t, e, &at);
}

static void perfetto_event(struct ut_sink *sink, const struct ut_trace *t, const struct ut_event *e)
{
	struct perfetto *p = (struct perfetto *)sink;

	if (e->kind >= UT_KIND_COUNT)
		return; /* from a newer collector; the importer has counted it */
	assert(e->track < t->track_count);
	if (!p->started)
		export_perfetto_start_trace(p, t, e->ts);
	switch ((enum ut_kind)e->kind) {
	case UT_KIND_SPAN:
		export_perfetto_add_span(p, t, e);
		break;
	case UT_KIND_INSTANT:
		add_instant(p, t, e);
		break;
	case UT_KIND_COUNTER:
		export_perfetto_add_counter(p, t, e);
		break;
	case UT_KIND_ASYNC_BEGIN:
		add_async_begin(p, t, e);
		break;
	case UT_KIND_ASYNC_END:
		add_async_end(p, t, e);
		break;
	case UT_KIND_FLOW_OUT:
	case UT_KIND_FLOW_IN:
	case UT_KIND_FLOW_STEP:
		/* Those of a store were told with their spans; what has none draws no arrow. */
		if (!t->arrows)
			add_flow(p, t, e);
		break;
	case UT_KIND_ASYNC_INSTANT:
		add_async_instant(p, t, e);
		break;
	case UT_KIND_OBJECT_NEW:
	case UT_KIND_OBJECT_STATE:
	case UT_KIND_OBJECT_GONE:
		add_object(p, t, e);
		break;
	case UT_KIND_SAMPLE:
		export_perfetto_add_sample(p, t, e);
		break;
	case UT_KIND_COUNT:
		break;
	}
}

static void end_lane(struct perfetto *p, const struct ut_trace *t, uint32_t index)
{
	struct lane *lane = &p->lanes[index];

	release_held(p, lane);
	for (size_t i = 0; i < lane->count; i++)
		unwind(p, &lane->rows[i], UINT64_MAX);
	if (lane->described && lane->count && lane->name != t->tracks[index].name)
		describe_row(p, t, index, 0); /* it was named later */
}

/* Losses and what was said about the trace as a whole: an instant of the process, at the end. */
static void write_notes(struct perfetto *p, const struct ut_trace *t)
{
	static const char name[] = "unitrace";

	if (!t->process_count)
		return;
	p->body.len = 0;
	ut_pbuf_varint(&p->body, EVENT_TYPE, TYPE_INSTANT);
	ut_pbuf_varint(&p->body, EVENT_TRACK_UUID, process_at(p, t, 0)->uuid);
	ut_pbuf_str(&p->body, EVENT_NAME, name, strlen(name));
	if (!ut_perfetto_put_losses(&p->body, t) && !t->global_args)
		return;
	ut_perfetto_put_args(&p->w, &p->body, t, t->global_args);
	ut_perfetto_write_event(&p->w, t->last, &p->body);
}

static void release_lane(struct lane *lane)
{
	for (size_t i = 0; i < lane->count; i++)
		free(lane->rows[i].ends);
	free(lane->rows);
	free(lane->idle);
	ut_pbuf_release(&lane->held);
	ut_nesting_release(&lane->pairs);
	free(lane->asyncs);
}

static void forget_trace(struct perfetto *p)
{
	for (size_t i = 0; i < p->lane_cap; i++)
		release_lane(&p->lanes[i]);
	free(p->lanes);
	free(p->processes);
	free(p->late);
	free(p->globals);
	ut_perfetto_forget_samples(&p->samples);
	ut_perfetto_forget(&p->w);
	p->lanes = NULL;
	p->processes = NULL;
	p->late = NULL;
	p->globals = NULL;
	p->global_count = p->global_cap = 0;
	p->lane_cap = p->process_cap = p->late_cap = p->late_count = 0;
	p->next_attached = 0;
	p->started = false;
}

static void perfetto_end_trace(struct ut_sink *sink, const struct ut_trace *t)
{
	struct perfetto *p = (struct perfetto *)sink;

	if (!p->started)
		export_perfetto_start_trace(p, t, t->first);
	ut_pairs_end_trace(&p->flows);
	for (uint32_t i = 0; i < t->process_count; i++) {
		process_at(p, t, i);
		if (memcmp(&p->processes[i].reported, &t->processes[i], sizeof(struct ut_process)))
			describe_process(p, t, i); /* more is known by now */
	}
	for (uint32_t i = 0; i < p->lane_cap && i < t->track_count; i++)
		end_lane(p, t, i);
	for (uint32_t i = 0; i < t->track_count; i++) {
		const struct ut_track *k = &t->tracks[i];

		/* a thread on which nothing happened may have a name, too */
		if (k->type == UT_TRACK_THREAD && (k->name || k->args || k->sort_index))
			lane_at(p, t, i);
	}
	write_notes(p, t);
	ut_perfetto_write_file_facts(&p->w, t);
	ut_perfetto_write_globals(&p->w, p->globals, p->global_count);
	forget_trace(p);
}

static struct ut_sink *perfetto_open(struct ut_out *out)
{
	struct perfetto *p = ut_make(sizeof(*p));

	p->sink.event = perfetto_event;
	p->sink.wants_arrows = true;
	p->w.out = out;
	return &p->sink;
}

static void perfetto_close(struct ut_sink *sink)
{
	struct perfetto *p = (struct perfetto *)sink;

	forget_trace(p);
	ut_idmap_release(&p->pids);
	ut_perfetto_release(&p->w);
	ut_pbuf_release(&p->body);
	free(p);
}

const struct ut_exporter ut_export_perfetto = {
	.name = "perfetto",
	.suffix = ".pftrace",
	.open = perfetto_open,
	.end_trace = perfetto_end_trace,
	.close = perfetto_close,
};
