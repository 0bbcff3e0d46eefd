#include "ops/page_trace.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/grow.h"
#include "base/idmap.h"
#include "base/str.h"
#include "model/build.h"
#include "ops/report.h"
#include "text/csv_read.h"

__extension__ typedef unsigned __int128 u128;

/* ---- times --------------------------------------------------------------------------------- */

/* Where the columns are. */
struct places {
	size_t code, type, process, thread, device, arch;
	size_t host_from, host_to, device_from, device_to;
	size_t cycle_from, cycle_to, firmware;
};

/* The clock of one device. */
struct clock {
	uint64_t cycles, ns; /* of all ops together: the frequency */
	uint64_t first;      /* the first cycle of all */
	int64_t shift;       /* ns to be added to those since then */
	bool met, shifted;
};

/* What is drawn of one op, before the clocks are known. */
struct op {
	uint32_t host, host_type, device, device_type; /* tracks, and types of the spans */
	uint32_t clock;                                /* of its device */
	bool cycles;                                   /* its times are cycles of that clock */
	bool again; /* its call is that of a row before: it was recorded once and replayed */
};

/* The last track that was asked for: most ops lie where the one before did. */
struct last_track {
	struct ut_str enclosing, name;
	uint32_t track;
	bool known;
};

struct making {
	const struct ut_ops_report *r;
	struct ut_ops_page_trace *t;
	struct op *ops;
	struct last_track last[2];
	struct places at;
	struct ut_arena arena;
	struct ut_str *texts;
	struct ut_strtab devices; /* ids of devices, as the report has them */
	struct clock *clocks;     /* by their ids there */
	size_t clock_cap;
	struct ut_build build;
	struct ut_idmap tracks; /* thread, or device -> track, plus 1 */
	struct ut_idmap calls;  /* where the texts of their starts lie: rows share them */
	struct ut_idmap types;  /* name and category -> type, plus 1 */
	uint32_t flow_out, flow_in;
};

static void find_places(struct making *m)
{
	const struct ut_ops_report *r = m->r;

	m->at = (struct places){ .code = ut_ops_place_of(r, "OP CODE"),
				 .type = ut_ops_place_of(r, "OP TYPE"),
				 .process = ut_ops_place_of(r, "PROCESS ID"),
				 .thread = ut_ops_place_of(r, "THREAD ID"),
				 .device = ut_ops_place_of(r, "DEVICE ID"),
				 .arch = ut_ops_place_of(r, "DEVICE ARCH"),
				 .host_from = ut_ops_place_of(r, "HOST START TS"),
				 .host_to = ut_ops_place_of(r, "HOST END TS"),
				 .device_from = ut_ops_place_of(r, "DEVICE START TS"),
				 .device_to = ut_ops_place_of(r, "DEVICE END TS"),
				 .cycle_from = ut_ops_place_of(r, "DEVICE FW START CYCLE"),
				 .cycle_to = ut_ops_place_of(r, "DEVICE FW END CYCLE"),
				 .firmware = ut_ops_place_of(r, "DEVICE FW DURATION [ns]") };
}

/* Two columns as a stretch of time; false if the row does not have it. */
static bool stretch(const struct making *m, size_t from, size_t to, uint64_t *start, uint64_t *len)
{
	uint64_t end;

	if (!ut_csv_number(m->texts[from], start) || !ut_csv_number(m->texts[to], &end) ||
	    end < *start || end > INT64_MAX)
		return false;
	*len = end - *start;
	return true;
}

/* The number of the row's device among clocks. */
static uint32_t clock_of(struct making *m)
{
	struct ut_str id = m->texts[m->at.device];
	uint32_t n = ut_strtab_intern(&m->devices, id.ptr ? id.ptr : "", id.len);

	m->clocks = ut_grow(m->clocks, (size_t)n + 1, &m->clock_cap, sizeof(*m->clocks));
	return n;
}

/* A row that tells cycles says how long they are, too. */
static void note_clock(struct making *m, struct clock *c, const struct ut_ops_times *t)
{
	uint64_t ns;

	c->first = !c->met || t->device < c->first ? t->device : c->first;
	c->met = true;
	if (!ut_csv_number(m->texts[m->at.firmware], &ns) || ns > UINT32_MAX * UINT64_C(1000) ||
	    t->device_ns > INT64_MAX / 4 || c->cycles > INT64_MAX / 2)
		return;
	c->cycles += t->device_ns;
	c->ns += ns;
}

/* ns of so many cycles. */
static uint64_t page_trace_to_ns(const struct clock *c, uint64_t cycles)
{
	u128 ns = c->cycles ? (u128)cycles * c->ns / c->cycles : cycles;

	return ns < INT64_MAX / 4 ? (uint64_t)ns : INT64_MAX / 4;
}

static bool read_times(struct making *m, struct ut_ops_times *t)
{
	const struct places *at = &m->at;

	t->on_host = stretch(m, at->host_from, at->host_to, &t->host, &t->host_ns);
	t->on_device = stretch(m, at->device_from, at->device_to, &t->device, &t->device_ns);
	if (t->on_device)
		return false;
	t->on_device = stretch(m, at->cycle_from, at->cycle_to, &t->device, &t->device_ns);
	return t->on_device;
}

/* Cycles become ns since the first one of the device; the shift is the least that moves no op
 * before its call. */
static void to_clock(struct clock *c, struct ut_ops_times *t)
{
	int64_t needed;

	t->device = page_trace_to_ns(c, t->device - c->first);
	t->device_ns = page_trace_to_ns(c, t->device_ns);
	needed = (int64_t)t->host - (int64_t)t->device;
	if (!t->on_host || (c->shifted && needed <= c->shift))
		return;
	c->shift = needed;
	c->shifted = true;
}

/* ---- tracks and types ---------------------------------------------------------------------- */

static uint32_t page_trace_text_of(struct making *m, struct ut_str s)
{
	return ut_strtab_intern(&m->build.store.trace.strings, s.ptr ? s.ptr : "", s.len);
}

static uint32_t named(struct making *m, const char *what, struct ut_str id)
{
	struct ut_buf b = { 0 };
	uint32_t name;

	ut_buf_text(&b, what);
	if (id.len && !(id.len == 1 && *id.ptr == '-')) {
		ut_buf_char(&b, ' ');
		ut_buf_add(&b, id.ptr, id.len);
	}
	name = page_trace_text_of(m, (struct ut_str){ b.data, b.len });
	ut_buf_release(&b);
	return name;
}

/* A process of that name, made when it is first asked for. */
static uint32_t process_called(struct making *m, uint32_t name, bool device)
{
	struct ut_trace *t = &m->build.store.trace;
	uint32_t n = 0;

	while (n < t->process_count && t->processes[n].name != name)
		n++;
	if (n < t->process_count)
		return n;
	n = ut_trace_add_process(t, t->process_count + 1);
	t->processes[n].name = name;
	t->processes[n].kind = device ? UT_PROCESS_DEVICE : UT_PROCESS_PROGRAM;
	t->processes[n].sort_index = device;
	if (device) {
		struct ut_str model = m->texts[m->at.arch];
		uint64_t number;

		t->processes[n].model = page_trace_text_of(m, model);
		t->processes[n].device =
			ut_csv_number(m->texts[m->at.device], &number) && number < INT32_MAX
				? (int32_t)number
				: 0;
	}
	return n;
}

/* The key of a track: names that are alike are one. */
static uint64_t page_trace_key_of(uint32_t process_name, uint32_t name, bool device)
{
	return (uint64_t)process_name << 33 | (uint64_t)name << 1 | device;
}

static bool page_trace_same(struct ut_str a, struct ut_str b)
{
	return a.len == b.len && (!a.len || a.ptr == b.ptr || !memcmp(a.ptr, b.ptr, a.len));
}

static uint32_t page_trace_add_track(struct making *m, bool device)
{
	static const struct ut_str nothing = { NULL, 0 };
	struct ut_trace *t = &m->build.store.trace;
	const struct places *at = &m->at;
	bool has_thread = at->thread < m->r->shown;
	uint32_t enclosing, name, n;
	uint64_t key;

	if (device) {
		enclosing = named(m, "device", m->texts[at->device]);
		name = named(m, "ops", nothing);
	} else {
		enclosing = named(m, has_thread ? "process" : "host", m->texts[at->process]);
		name = has_thread ? named(m, "thread", m->texts[at->thread])
				  : named(m, "calls", nothing);
	}
	key = page_trace_key_of(enclosing, name, device);
	n = ut_idmap_get(&m->tracks, key);
	if (n)
		return n - 1;
	n = ut_trace_add_track(t, process_called(m, enclosing, device), UT_TRACK_THREAD);
	t->tracks[n].name = has_thread && !device ? named(m, "thread", nothing) : name;
	if (device || !ut_csv_number(m->texts[at->thread], &t->tracks[n].id))
		t->tracks[n].id = t->track_count;
	t->tracks[n].role = device ? UT_ROLE_QUEUE : UT_ROLE_THREAD;
	ut_idmap_put(&m->tracks, key, n + 1);
	return n;
}

static uint32_t page_trace_track_of(struct making *m, bool device)
{
	struct last_track *last = &m->last[device];
	struct ut_str enclosing = m->texts[device ? m->at.device : m->at.process];
	struct ut_str name = device ? (struct ut_str){ NULL, 0 } : m->texts[m->at.thread];

	if (!last->known || !page_trace_same(last->enclosing, enclosing) ||
	    !page_trace_same(last->name, name))
		*last = (struct last_track){ enclosing, name, page_trace_add_track(m, device),
					     true };
	return last->track;
}

/* Names are without the blanks that say how deep an op was called. */
static struct ut_str page_trace_code_of(const struct making *m)
{
	struct ut_str code = m->texts[m->at.code];

	while (code.len && *code.ptr == ' ')
		code = (struct ut_str){ code.ptr + 1, code.len - 1 };
	return code.len ? code : (struct ut_str){ "op", 2 };
}

static uint32_t page_trace_type_of(struct making *m, bool device)
{
	struct ut_type type = { .name = page_trace_text_of(m, page_trace_code_of(m)),
				.cat = device ? page_trace_text_of(m,
								   (struct ut_str){ "device", 6 })
					      : page_trace_text_of(m, m->texts[m->at.type]),
				.kind = UT_KIND_SPAN };
	uint64_t key = (uint64_t)type.name << 32 | type.cat;
	uint32_t n = ut_idmap_get(&m->types, key);

	if (!n) {
		n = ut_types_intern(&m->build.store.types, &type) + 1;
		ut_idmap_put(&m->types, key, n);
	}
	return n - 1;
}

/* ---- events -------------------------------------------------------------------------------- */

static void read_op(struct making *m, size_t row)
{
	struct ut_ops_times *t = &m->t->times[row];
	struct op *op = &m->ops[row];

	ut_ops_row_texts(m->r, row, m->texts);
	op->cycles = read_times(m, t);
	if (op->cycles) {
		m->t->own_clock = true;
		op->clock = clock_of(m);
		note_clock(m, &m->clocks[op->clock], t);
	}
	if (t->on_host) {
		uint64_t call = (uintptr_t)m->texts[m->at.host_from].ptr;

		op->host = page_trace_track_of(m, false);
		op->host_type = page_trace_type_of(m, false);
		op->again = ut_idmap_get(&m->calls, call);
		if (!op->again)
			ut_idmap_put(&m->calls, call, 1);
	}
	if (t->on_device) {
		op->device = page_trace_track_of(m, true);
		op->device_type = page_trace_type_of(m, true);
	}
}

static void add_op(struct making *m, size_t row)
{
	struct ut_ops_times *t = &m->t->times[row];
	const struct op *op = &m->ops[row];

	if (op->cycles)
		t->device = (uint64_t)((int64_t)t->device + m->clocks[op->clock].shift);
	if (t->on_host && !op->again)
		ut_build_add(&m->build, op->host, t->host, t->host_ns, op->host_type, 0);
	if (t->on_device)
		ut_build_add(&m->build, op->device, t->device, t->device_ns, op->device_type, 0);
	if (t->on_host && t->on_device) {
		ut_build_add(&m->build, op->host, t->host, row + 1, m->flow_out, 0);
		ut_build_add(&m->build, op->device, t->device, row + 1, m->flow_in, 0);
	}
}

static uint32_t flow_type(struct making *m, uint8_t kind)
{
	return ut_types_intern(
		&m->build.store.types,
		&(struct ut_type){ .name = page_trace_text_of(m, (struct ut_str){ "op", 2 }),
				   .kind = kind });
}

/* First and last sign of life: of all that is drawn. */
static void page_trace_find_ends(struct making *m)
{
	struct ut_trace *trace = &m->build.store.trace;
	uint64_t first = UINT64_MAX, last = 0;

	for (size_t i = 0; i < m->r->row_count; i++) {
		const struct ut_ops_times *t = &m->t->times[i];

		if (t->on_host) {
			first = t->host < first ? t->host : first;
			last = t->host + t->host_ns > last ? t->host + t->host_ns : last;
		}
		if (t->on_device) {
			first = t->device < first ? t->device : first;
			last = t->device + t->device_ns > last ? t->device + t->device_ns : last;
		}
	}
	trace->first = first < UINT64_MAX ? first : 0;
	trace->last = last;
}

void ut_ops_page_trace_make(struct ut_ops_page_trace *t, const struct ut_ops_report *r)
{
	struct making m = { .r = r, .t = t };

	*t = (struct ut_ops_page_trace){ 0 };
	t->times = ut_make((r->row_count + 1) * sizeof(*t->times));
	m.ops = ut_make((r->row_count + 1) * sizeof(*m.ops));
	m.texts = UT_NEW_N(&m.arena, struct ut_str, r->shown + 1);
	ut_strtab_init(&m.devices, &m.arena);
	ut_idmap_init(&m.tracks, &m.arena);
	ut_idmap_init(&m.types, &m.arena);
	ut_idmap_init(&m.calls, &m.arena);
	ut_build_init(&m.build);
	find_places(&m);
	m.flow_out = flow_type(&m, UT_KIND_FLOW_OUT);
	m.flow_in = flow_type(&m, UT_KIND_FLOW_IN);
	for (size_t i = 0; i < r->row_count; i++)
		read_op(&m, i);
	for (size_t i = 0; i < r->row_count; i++) {
		if (m.ops[i].cycles)
			to_clock(&m.clocks[m.ops[i].clock], &t->times[i]);
	}
	for (size_t i = 0; i < r->row_count; i++)
		add_op(&m, i);
	page_trace_find_ends(&m);
	ut_build_finish(&m.build, &t->store);
	free(m.clocks);
	free(m.ops);
	ut_arena_release(&m.arena);
}

void ut_ops_page_trace_release(struct ut_ops_page_trace *t)
{
	ut_store_release(&t->store);
	free(t->times);
}
