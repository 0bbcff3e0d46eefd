#include "tt/log_trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/str.h"
#include "model/event.h"
#include "model/sink.h"
#include "model/trace.h"
#include "tt/bars.h"

__extension__ typedef unsigned __int128 u128;

#define FIRST_OF_USER 5 /* timer numbers below are the firmware's, see devlog.h */

struct sender {
	const struct ut_tt_analysis *a;
	const struct ut_tt_log *log;
	struct ut_trace *trace;
	struct ut_sink *sink;
	int64_t shift;
	uint32_t *names; /* string ids in the log -> in the trace, + 1 */
	uint32_t cats[UT_TT_BAR_KINDS];
	uint32_t op_key, cycles_key, data_key;
	struct ut_tt_bars bars;
	uint64_t async;
};

uint64_t ut_tt_ns(const struct ut_tt_log *log, int64_t shift, uint64_t ts)
{
	/* a shift never makes a first time negative, but a wrapped counter may be anywhere */
	uint64_t moved = ts + (uint64_t)shift;
	u128 ns;

	if (shift < 0 && moved > ts)
		moved = 0;
	if (moved <= INT64_MAX / 1000)
		return moved * 1000 / log->mhz;
	ns = (u128)moved * 1000 / log->mhz;
	return ns < INT64_MAX ? (uint64_t)ns : INT64_MAX;
}

static uint64_t log_trace_to_ns(const struct sender *s, uint64_t ts)
{
	return ut_tt_ns(s->log, s->shift, ts);
}

static uint32_t log_trace_name_of(struct sender *s, uint32_t id)
{
	if (!s->names[id]) {
		struct ut_str text = ut_tt_str(s->log, id);

		s->names[id] = ut_strtab_intern(&s->trace->strings, text.ptr, text.len) + 1;
	}
	return s->names[id] - 1;
}

static void add_u64(struct sender *s, uint32_t key, uint64_t value)
{
	ut_trace_add_arg(s->trace, key, UT_ARG_U64)->value.u64 = value;
}

static void log_trace_send(struct sender *s, struct ut_event *e, size_t mark)
{
	if (s->trace->arg_count > mark) {
		ut_trace_close_args(s->trace);
		e->args = (uint32_t)mark;
	}
	ut_sink_event(s->sink, s->trace, e);
	ut_trace_drop_args(s->trace, mark);
}

/* ---- lanes --------------------------------------------------------------------------------- */

static uint32_t bar_name(struct sender *s, const struct ut_tt_bar *bar)
{
	const struct ut_tt_mark *m = &s->log->marks[s->log->rows[bar->row].mark];

	if (s->log->zones)
		return log_trace_name_of(s, m->zone);
	return ut_strtab_intern_z(&s->trace->strings, m->id == 1 ? "FW" : "KERNEL");
}

static void send_bar(struct sender *s, uint32_t track, const struct ut_tt_bar *bar)
{
	const struct ut_tt_mark *m = &s->log->marks[s->log->rows[bar->row].mark];
	size_t mark = s->trace->arg_count;
	uint64_t start = log_trace_to_ns(s, bar->start),
		 end = log_trace_to_ns(s, bar->start + bar->cycles);
	struct ut_event e = {
		.ts = start,
		.val = end > start ? end - start : 0,
		.name = bar_name(s, bar),
		.cat = s->cats[bar->kind],
		.track = track,
		.kind = UT_KIND_SPAN,
	};

	if (bar->end_row == UINT32_MAX)
		e.flags = UT_EV_UNFINISHED;
	else if (bar->implicit_end)
		e.flags = UT_EV_IMPLICIT_END;
	add_u64(s, s->cycles_key, bar->cycles);
	if (m->host)
		add_u64(s, s->op_key, m->host);
	log_trace_send(s, &e, mark);
}

/* A marker that is no half of a pair. */
static void send_note(struct sender *s, uint32_t track, uint32_t row)
{
	const struct ut_tt_row *r = &s->log->rows[row];
	const struct ut_tt_mark *m = &s->log->marks[r->mark];
	size_t mark = s->trace->arg_count;
	struct ut_event e = {
		.ts = log_trace_to_ns(s, r->ts),
		.track = track,
		.cat = s->cats[UT_TT_BAR_USER],
		.kind = UT_KIND_INSTANT,
	};
	char text[40];

	if (s->log->zones && m->zone) {
		e.name = log_trace_name_of(s, m->zone);
	} else {
		snprintf(text, sizeof(text), "marker %" PRId64, m->id);
		e.name = ut_strtab_intern_z(&s->trace->strings, text);
	}
	if (s->log->zones)
		add_u64(s, s->data_key, r->data);
	if (m->host)
		add_u64(s, s->op_key, m->host);
	log_trace_send(s, &e, mark);
}

/* In a log of timer numbers, what lies between the user's markers: they have no zones. */
static void send_parts(struct sender *s, uint32_t track, const struct ut_tt_lane *lane)
{
	struct ut_buf name = { 0 };

	ut_tt_bars_gaps(&s->bars, s->log, lane);
	for (size_t i = 0; i < s->bars.count; i++) {
		const struct ut_tt_bar *bar = &s->bars.items[i];
		const struct ut_tt_mark *from = &s->log->marks[s->log->rows[bar->row].mark];
		const struct ut_tt_mark *to = &s->log->marks[s->log->rows[bar->end_row].mark];
		uint64_t start = log_trace_to_ns(s, bar->start),
			 end = log_trace_to_ns(s, bar->start + bar->cycles);
		size_t mark = s->trace->arg_count;
		struct ut_event e = {
			.ts = start,
			.val = end > start ? end - start : 0,
			.cat = s->cats[UT_TT_BAR_USER],
			.track = track,
			.kind = UT_KIND_SPAN,
		};

		if (from->id < FIRST_OF_USER && to->id < FIRST_OF_USER)
			continue;
		name.len = 0;
		ut_tt_bar_label(s->log, bar, true, &name);
		e.name = ut_strtab_intern(&s->trace->strings, name.data, name.len);
		add_u64(s, s->cycles_key, bar->cycles);
		log_trace_send(s, &e, mark);
	}
	ut_buf_release(&name);
}

static void send_lane(struct sender *s, const struct ut_tt_lane *lane, uint32_t track)
{
	if (!s->log->zones)
		send_parts(s, track, lane);
	ut_tt_bars_spans(&s->bars, s->log, lane);
	for (size_t i = 0; i < s->bars.count; i++)
		send_bar(s, track, &s->bars.items[i]);
	for (uint32_t i = lane->first; i < lane->first + lane->count; i++) {
		const struct ut_tt_mark *m = &s->log->marks[s->log->rows[i].mark];
		bool start;

		if (!ut_tt_pair(m, &start) && (s->log->zones || m->id))
			send_note(s, track, i);
	}
	if (s->bars.count) {
		const struct ut_tt_row *last = &s->log->rows[lane->first + lane->count - 1];
		uint64_t end = log_trace_to_ns(s, last->ts);

		s->trace->last = end > s->trace->last ? end : s->trace->last;
	}
}

static uint32_t add_lane_track(struct sender *s, const struct ut_tt_lane *lane, uint32_t process,
			       uint32_t number)
{
	const struct ut_tt_core *core = &s->log->cores[lane->core];
	struct ut_str risc = ut_tt_str(s->log, s->log->riscs[lane->risc].name);
	uint32_t track = ut_trace_add_track(s->trace, process, UT_TRACK_THREAD);
	struct ut_track *t = &s->trace->tracks[track];
	char text[80];

	snprintf(text, sizeof(text), "(%" PRId32 ", %" PRId32 ") %.*s", core->x, core->y,
		 risc.len < 40 ? (int)risc.len : 40, risc.ptr);
	t->name = ut_strtab_intern_z(&s->trace->strings, text);
	t->id = number;
	t->role = UT_ROLE_QUEUE; /* of a device: where it works through things */
	t->sort_index = (int32_t)(number < INT32_MAX ? number : INT32_MAX);
	return track;
}

/* ---- ops ----------------------------------------------------------------------------------- */

static void send_op(struct sender *s, const struct ut_tt_ops *ops, size_t op, uint32_t track)
{
	uint32_t first = ops->rows[ops->first[op]], last = ops->rows[ops->first[op + 1] - 1];
	uint64_t from = s->log->rows[first].ts, to = s->log->rows[last].ts;
	uint64_t host = s->log->marks[s->log->rows[first].mark].host;
	size_t mark = s->trace->arg_count;
	struct ut_event e = { .track = track, .kind = UT_KIND_ASYNC_BEGIN };
	char text[40];

	snprintf(text, sizeof(text), "op %" PRIu64, host);
	e.name = ut_strtab_intern_z(&s->trace->strings, text);
	/* an op that was told with what is left of another one may end before it begins */
	to = to > from ? to : from;
	e.ts = log_trace_to_ns(s, from);
	e.val = ++s->async;
	add_u64(s, s->cycles_key, to - from);
	log_trace_send(s, &e, mark);
	e.kind = UT_KIND_ASYNC_END;
	e.args = 0;
	e.ts = log_trace_to_ns(s, to);
	log_trace_send(s, &e, mark);
}

static void send_ops(struct sender *s, const struct ut_tt_ops *ops, uint32_t process)
{
	uint32_t track;

	if (!ops->count)
		return;
	track = ut_trace_add_track(s->trace, process, UT_TRACK_ASYNC);
	s->trace->tracks[track].name = ut_strtab_intern_z(&s->trace->strings, "ops");
	s->trace->tracks[track].id = UT_TT_OPS_TRACK;
	for (size_t i = 0; i < ops->count; i++)
		send_op(s, ops, i, track);
}

/* ---- all ----------------------------------------------------------------------------------- */

static void send_chip(struct sender *s, size_t number)
{
	const struct ut_tt_chip *chip = &s->log->chips[number];
	const struct ut_tt_core *last = &s->log->cores[chip->core + chip->core_count - 1];
	uint32_t lane = s->log->cores[chip->core].lane, end = last->lane + last->lane_count;
	uint32_t process = ut_trace_add_process(s->trace, (uint64_t)chip->id);
	char text[40];

	snprintf(text, sizeof(text), "Chip %" PRId32, chip->id);
	s->trace->processes[process].name = ut_strtab_intern_z(&s->trace->strings, text);
	s->trace->processes[process].sort_index = (int32_t)number;
	s->trace->processes[process].kind = UT_PROCESS_DEVICE;
	s->trace->processes[process].device_type = UT_DEVICE_TYPE_ACCELERATOR;
	s->trace->processes[process].api.api = UT_API_TT;
	s->trace->processes[process].device = chip->id;
	send_ops(s, &s->a->chips[number].ops, process);
	for (uint32_t i = lane; i < end; i++) {
		uint32_t track = add_lane_track(s, &s->log->lanes[i], process,
						UT_TT_OPS_TRACK + 1 + i - lane);

		send_lane(s, &s->log->lanes[i], track);
	}
}

static uint32_t key(struct sender *s, const char *text)
{
	return ut_strtab_intern_z(&s->trace->strings, text);
}

/* The first time of all, once the chips are brought together: the trace begins there. */
static void find_first(struct sender *s, const struct ut_tt_alignment *align, size_t from,
		       size_t end)
{
	s->trace->first = UINT64_MAX;
	for (size_t i = from; i < end; i++) {
		uint64_t ns;

		s->shift = align->shift[i];
		ns = log_trace_to_ns(s, s->log->rows[s->log->by_chip[s->log->chips[i].first]].ts);
		s->trace->first = ns < s->trace->first ? ns : s->trace->first;
	}
}

void ut_tt_send(const struct ut_tt_analysis *a, const struct ut_tt_alignment *align, uint32_t chip,
		struct ut_trace *trace, struct ut_sink *sink)
{
	bool all = chip == UT_TT_ALL_CHIPS;
	size_t from = all ? 0 : chip, end = all ? a->log->chip_count : (size_t)chip + 1;
	static const char *const cats[UT_TT_BAR_KINDS] = { "idle", "firmware", "kernel", "user" };
	struct sender s = { .a = a, .log = a->log, .trace = trace, .sink = sink };

	s.names = ut_make(((size_t)a->log->strings.count + 1) * sizeof(*s.names));
	for (size_t i = 0; i < UT_TT_BAR_KINDS; i++)
		s.cats[i] = key(&s, cats[i]);
	s.op_key = key(&s, "op");
	s.cycles_key = key(&s, "cycles");
	s.data_key = key(&s, "data");
	find_first(&s, align, from, end);
	for (size_t i = from; i < end; i++) {
		s.shift = align->shift[i];
		send_chip(&s, i);
	}
	ut_tt_bars_release(&s.bars);
	free(s.names);
}
