/*
 * chrome.c - Chrome's trace JSON: one object, one event per line, keys in a fixed order.
 *
 * Most of an event is text that has been written before: the track's pid and tid, the name, the
 * category. Each is made once per trace and kept as a fragment, so that an event is four copies
 * and two numbers.
 *
 * Numbers that pair events (async, flow) are unique in the file: those of a later trace continue
 * after the highest of the earlier ones.
 */
#include "export/exporter.h"

#include <assert.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/grow.h"
#include "base/str.h"
#include "export/describe.h"
#include "export/digits.h"
#include "export/out.h"
#include "model/event.h"
#include "model/trace.h"
#include "version.h"

/*
 * A lane is a thread to viewers and needs a tid. Linux gives out none from 2^22 on, and some
 * viewers keep tids in an int32: 2^30 and the track's index clash with neither.
 */
#define LANE_TID (UINT64_C(1) << 30)

#define ROOM        2048 /* of the buffer for one event without its arguments */
#define SHORT       32   /* bytes that are always copied, needed or not: no call, no branch */
#define FAST_BYTES  256  /* longer fragments do not count on ROOM */
#define CACHE_BYTES 4096 /* longer strings are escaped each time rather than kept */

struct fragment {
	char *text; /* SHORT bytes may be read behind it; NULL = not made yet */
	size_t len;
};

struct fragments {
	struct fragment *items;
	size_t cap;
};

struct process {
	bool known;
	uint32_t pid; /* in the file */
};

struct chrome {
	struct ut_sink sink;
	struct ut_out *out;
	struct ut_out *other;   /* the processes of otherData, until the end of the file */
	struct ut_out *scratch; /* where fragments are made */
	struct ut_pids pids;
	bool any_event, any_other;
	uint64_t id_base, id_next; /* see the top; id_next is past the highest one seen */

	/* the trace of the day */
	struct ut_arena arena;
	struct fragments names, cats, tracks;
	struct process *processes;
	size_t process_cap;
};

static void start_fragment(struct chrome *c)
{
	size_t len;

	ut_out_advance(c->scratch, ut_out_data(c->scratch, &len));
}

static void keep_fragment(struct chrome *c, struct fragment *f)
{
	const char *text = ut_out_data(c->scratch, &f->len);

	f->text = ut_arena_alloc(&c->arena, f->len + SHORT, 1);
	memcpy(f->text, text, f->len);
}

static struct fragment *fragment_at(struct fragments *list, uint32_t i)
{
	list->items = ut_grow(list->items, (size_t)i + 1, &list->cap, sizeof(*list->items));
	return &list->items[i];
}

static char *put_fragment(struct chrome *c, char *p, const struct fragment *f)
{
	if (f->len > FAST_BYTES) {
		ut_out_advance(c->out, p);
		ut_out_write(c->out, f->text, f->len);
		return ut_out_reserve(c->out, ROOM);
	}
	memcpy(p, f->text, SHORT);
	if (f->len > SHORT)
		memcpy(p + SHORT, f->text + SHORT, f->len - SHORT);
	return p + f->len;
}

static char *put_long(struct chrome *c, char *p, const char *key, struct ut_str s)
{
	ut_out_advance(c->out, p);
	ut_out_text(c->out, key);
	ut_out_json_str(c->out, s.ptr, s.len);
	return ut_out_reserve(c->out, ROOM);
}

static const char name_key[] = ",\"name\":";
static const char cat_key[] = ",\"cat\":";

static char *put_new_name(struct chrome *c, char *p, struct fragment *f, struct ut_str s)
{
	if (s.len > CACHE_BYTES)
		return put_long(c, p, name_key, s);
	start_fragment(c);
	ut_out_text(c->scratch, name_key);
	ut_out_json_str(c->scratch, s.ptr, s.len);
	keep_fragment(c, f);
	return put_fragment(c, p, f);
}

static char *put_name(struct chrome *c, char *p, const struct ut_trace *t, uint32_t name)
{
	struct fragment *f;

	if (name < c->names.cap && c->names.items[name].text)
		return put_fragment(c, p, &c->names.items[name]);
	f = fragment_at(&c->names, name);
	return put_new_name(c, p, f, ut_strtab_get(&t->strings, name));
}

/* Viewers take a category for a list and split it at commas. */
static char *put_new_cat(struct chrome *c, char *p, struct fragment *f, struct ut_str s)
{
	char *copy = ut_arena_copy(&c->arena, s.ptr, s.len);

	for (size_t i = 0; i < s.len; i++) {
		if (copy[i] == ',')
			copy[i] = ';';
	}
	start_fragment(c);
	ut_out_text(c->scratch, cat_key);
	ut_out_json_str(c->scratch, copy, s.len);
	keep_fragment(c, f);
	return put_fragment(c, p, f);
}

static char *put_cat(struct chrome *c, char *p, const struct ut_trace *t, uint32_t cat)
{
	if (!cat)
		return p;
	if (cat < c->cats.cap && c->cats.items[cat].text)
		return put_fragment(c, p, &c->cats.items[cat]);
	return put_new_cat(c, p, fragment_at(&c->cats, cat), ut_strtab_get(&t->strings, cat));
}

static uint32_t file_pid(struct chrome *c, const struct ut_trace *t, uint32_t process)
{
	struct process *p;

	c->processes =
		ut_grow(c->processes, (size_t)process + 1, &c->process_cap, sizeof(*c->processes));
	p = &c->processes[process];
	if (!p->known) {
		p->pid = ut_pids_take(&c->pids, (uint32_t)t->processes[process].pid);
		p->known = true;
	}
	return p->pid;
}

/* What belongs to no thread goes to the main one, which every process has. */
static uint64_t file_tid(struct chrome *c, const struct ut_trace *t, uint32_t index)
{
	const struct ut_track *track = &t->tracks[index];

	switch (track->type) {
	case UT_TRACK_THREAD:
		return track->id;
	case UT_TRACK_LANE:
		return LANE_TID + index;
	case UT_TRACK_ASYNC:
	case UT_TRACK_COUNTER:
		break;
	}
	return file_pid(c, t, track->process);
}

static char *put_track(struct chrome *c, char *p, const struct ut_trace *t, uint32_t index)
{
	struct fragment *f;

	if (index < c->tracks.cap && c->tracks.items[index].text)
		return put_fragment(c, p, &c->tracks.items[index]);
	f = fragment_at(&c->tracks, index);
	start_fragment(c);
	ut_out_text(c->scratch, ",\"pid\":");
	ut_out_u64(c->scratch, file_pid(c, t, t->tracks[index].process));
	ut_out_text(c->scratch, ",\"tid\":");
	ut_out_u64(c->scratch, file_tid(c, t, index));
	ut_out_text(c->scratch, ",\"ts\":");
	keep_fragment(c, f);
	return put_fragment(c, p, f);
}

static char *put_text(char *p, const char *s)
{
	size_t len = strlen(s);

	memcpy(p, s, len);
	return p + len;
}

static char *put_id(struct chrome *c, char *p, uint64_t number)
{
	uint64_t id = c->id_base + number;

	if (id >= c->id_next)
		c->id_next = id + 1;
	p = put_text(p, ",\"id\":\"");
	p = ut_digits_hex(p, id);
	*p++ = '"';
	return p;
}

static void put_arg_value(struct ut_out *o, const struct ut_trace *t, const struct ut_arg *a)
{
	struct ut_str s;

	switch ((enum ut_arg_type)a->type) {
	case UT_ARG_STR:
		s = ut_strtab_get(&t->strings, a->value.str);
		ut_out_json_str(o, s.ptr, s.len);
		break;
	case UT_ARG_U64:
		ut_out_u64(o, a->value.u64);
		break;
	case UT_ARG_I64:
		ut_out_i64(o, a->value.i64);
		break;
	case UT_ARG_F64:
		ut_out_json_double(o, a->value.f64);
		break;
	case UT_ARG_PTR: /* as text: viewers round numbers past 2^53 */
		ut_out_text(o, "\"");
		ut_out_advance(o, ut_digits_hex(ut_out_reserve(o, UT_DIGITS_ROOM), a->value.u64));
		ut_out_text(o, "\"");
		break;
	case UT_ARG_BOOL:
		ut_out_text(o, a->value.u64 ? "true" : "false");
		break;
	case UT_ARG_JSON:
		s = ut_strtab_get(&t->strings, a->value.str);
		ut_out_write(o, s.ptr, s.len);
		break;
	case UT_ARG_END:
		break;
	}
}

/* The members of a JSON object that is opened by the first of them. */
struct members {
	struct ut_out *out;
	const char *open; /* comes before the first; a comma before the others */
	bool any;
};

static void next_member(struct members *m)
{
	ut_out_text(m->out, m->any ? "," : m->open);
	m->any = true;
}

static void end_members(struct members *m)
{
	if (m->any)
		ut_out_text(m->out, "}");
}

static void put_args(struct members *m, const struct ut_trace *t, uint32_t index)
{
	bool inside = false; /* an array */

	for (const struct ut_arg *a = &t->args[index]; a->type != UT_ARG_END; a++) {
		bool array = a->flags & UT_ARG_ARRAY;
		bool more = array && a->flags & UT_ARG_MORE && a[1].type != UT_ARG_END;
		struct ut_str key = ut_strtab_get(&t->strings, a->key);

		next_member(m);
		if (!inside) {
			ut_out_json_str(m->out, key.ptr, key.len);
			ut_out_text(m->out, array ? ":[" : ":");
		}
		put_arg_value(m->out, t, a);
		if (array && !more)
			ut_out_text(m->out, "]");
		inside = more;
	}
}

static bool is_flow(const struct ut_event *e)
{
	return e->kind == UT_KIND_FLOW_OUT || e->kind == UT_KIND_FLOW_IN;
}

static bool has_args(const struct ut_event *e)
{
	return e->args || e->flags & (UT_EV_UNFINISHED | UT_EV_IMPLICIT_END) ||
	       (is_flow(e) && e->name);
}

static void put_event_args(struct ut_out *o, const struct ut_trace *t, const struct ut_event *e)
{
	struct members m = { .out = o, .open = ",\"args\":{" };
	struct ut_str name = ut_strtab_get(&t->strings, e->name);

	if (is_flow(e) && e->name) {
		next_member(&m);
		ut_out_text(o, "\"name\":");
		ut_out_json_str(o, name.ptr, name.len);
	}
	put_args(&m, t, e->args);
	if (e->flags & UT_EV_UNFINISHED) {
		next_member(&m);
		ut_out_text(o, "\"unfinished\":true");
	}
	if (e->flags & UT_EV_IMPLICIT_END) {
		next_member(&m);
		ut_out_text(o, "\"implicit_end\":true");
	}
	end_members(&m);
}

static char *put_span(struct chrome *c, char *p, const struct ut_trace *t, const struct ut_event *e)
{
	memcpy(p, ",\"dur\":", 7);
	p = ut_digits_us(p + 7, e->val);
	p = put_name(c, p, t, e->name);
	return put_cat(c, p, t, e->cat);
}

static char *put_instant(struct chrome *c, char *p, const struct ut_trace *t,
			 const struct ut_event *e)
{
	p = put_name(c, p, t, e->name);
	p = put_cat(c, p, t, e->cat);
	if (e->flags & UT_EV_SCOPE_GLOBAL)
		return put_text(p, ",\"s\":\"g\"");
	return put_text(p, e->flags & UT_EV_SCOPE_PROCESS ? ",\"s\":\"p\"" : ",\"s\":\"t\"");
}

/* Async events are found by category and id: without a category they get one. */
static char *put_async(struct chrome *c, char *p, const struct ut_trace *t,
		       const struct ut_event *e)
{
	p = put_name(c, p, t, e->name);
	p = e->cat ? put_cat(c, p, t, e->cat) : put_text(p, ",\"cat\":\"async\"");
	return put_id(c, p, e->val);
}

/* Both ends must agree in name, category and id, so what the user called it is an argument. */
static char *put_flow(struct chrome *c, char *p, const struct ut_event *e)
{
	p = put_text(p, ",\"name\":\"flow\",\"cat\":\"flow\"");
	p = put_id(c, p, e->val);
	return e->kind == UT_KIND_FLOW_IN ? put_text(p, ",\"bp\":\"e\"") : p;
}

/* Viewers show a counter as "name series": the unit is a good series, "value" is left out. */
static char *put_counter(struct chrome *c, char *p, const struct ut_trace *t,
			 const struct ut_event *e)
{
	const struct ut_track *track = &t->tracks[e->track];
	struct ut_str unit = ut_strtab_get(&t->strings, track->unit);
	double value;

	p = put_name(c, p, t, track->name ? track->name : e->name);
	p = put_cat(c, p, t, e->cat);
	ut_out_advance(c->out, p);
	ut_out_text(c->out, ",\"args\":{");
	ut_out_json_str(c->out, unit.len ? unit.ptr : "value", unit.len ? unit.len : 5);
	ut_out_text(c->out, ":");
	memcpy(&value, &e->val, sizeof(value));
	if (e->flags & UT_EV_DOUBLE)
		ut_out_json_double(c->out, value);
	else if (e->flags & UT_EV_SIGNED)
		ut_out_i64(c->out, (int64_t)e->val);
	else
		ut_out_u64(c->out, e->val);
	ut_out_text(c->out, "}}");
	return NULL;
}

/* The kind's own part. NULL: the event is complete. */
static char *put_kind(struct chrome *c, char *p, const struct ut_trace *t, const struct ut_event *e)
{
	switch ((enum ut_kind)e->kind) {
	case UT_KIND_SPAN:
		return put_span(c, p, t, e);
	case UT_KIND_INSTANT:
		return put_instant(c, p, t, e);
	case UT_KIND_COUNTER:
		return put_counter(c, p, t, e);
	case UT_KIND_ASYNC_BEGIN:
	case UT_KIND_ASYNC_END:
	case UT_KIND_ASYNC_INSTANT:
	case UT_KIND_OBJECT_NEW:
	case UT_KIND_OBJECT_STATE:
	case UT_KIND_OBJECT_GONE:
		return put_async(c, p, t, e);
	case UT_KIND_FLOW_OUT:
	case UT_KIND_FLOW_IN:
	case UT_KIND_FLOW_STEP:
		return put_flow(c, p, e);
	case UT_KIND_COUNT:
		break;
	}
	return p;
}

static void chrome_event(struct ut_sink *sink, const struct ut_trace *t, const struct ut_event *e)
{
	static const char phase[] = "XiCbesftnNOD"; /* in the order of UT_KIND_LIST */
	struct chrome *c = (struct chrome *)sink;
	char *p;

	_Static_assert(sizeof(phase) == UT_KIND_COUNT + 1, "one phase letter per kind");
	if (e->kind >= UT_KIND_COUNT)
		return; /* from a newer collector; the importer has counted it */
	assert(e->track < t->track_count);
	p = ut_out_reserve(c->out, ROOM);
	*p = ',';
	p += c->any_event;
	c->any_event = true;
	memcpy(p, "\n{\"ph\":\"X\"", 10);
	p[8] = phase[e->kind];
	p = put_track(c, p + 10, t, e->track);
	p = ut_digits_us(p, e->ts);
	p = put_kind(c, p, t, e);
	if (!p)
		return;
	if (has_args(e)) {
		ut_out_advance(c->out, p);
		put_event_args(c->out, t, e);
		p = ut_out_reserve(c->out, 1);
	}
	*p++ = '}';
	ut_out_advance(c->out, p);
}

static void start_meta(struct chrome *c, uint32_t pid, uint64_t tid, const char *name)
{
	ut_out_text(c->out, c->any_event ? ",\n" : "\n");
	c->any_event = true;
	ut_out_text(c->out, "{\"ph\":\"M\",\"pid\":");
	ut_out_u64(c->out, pid);
	ut_out_text(c->out, ",\"tid\":");
	ut_out_u64(c->out, tid);
	ut_out_text(c->out, ",\"name\":\"");
	ut_out_text(c->out, name);
	ut_out_text(c->out, "\",\"args\":{");
}

static void put_sort_index(struct chrome *c, uint32_t pid, uint64_t tid, const char *name,
			   int32_t sort_index)
{
	if (!sort_index)
		return; /* what viewers assume anyway */
	start_meta(c, pid, tid, name);
	ut_out_text(c->out, "\"sort_index\":");
	ut_out_i64(c->out, sort_index);
	ut_out_text(c->out, "}}");
}

static void put_process_meta(struct chrome *c, const struct ut_trace *t, uint32_t index)
{
	const struct ut_process *process = &t->processes[index];
	uint32_t pid = file_pid(c, t, index);
	struct ut_str host = ut_strtab_get(&t->strings, process->host);
	struct ut_str cmdline = ut_strtab_get(&t->strings, process->cmdline);
	struct ut_buf b = { 0 };

	ut_process_title(&b, t, process);
	start_meta(c, pid, pid, "process_name");
	ut_out_text(c->out, "\"name\":");
	ut_out_json_str(c->out, b.data, b.len);
	ut_out_text(c->out, "}}");
	ut_buf_release(&b);

	ut_buf_add(&b, host.ptr, host.len);
	if (pid != process->pid)
		ut_buf_fmt(&b, "%spid %" PRIu64, b.len ? ", " : "", process->pid);
	if (b.len && cmdline.len)
		ut_buf_text(&b, ", ");
	ut_buf_add(&b, cmdline.ptr, cmdline.len);
	if (b.len) {
		start_meta(c, pid, pid, "process_labels");
		ut_out_text(c->out, "\"labels\":");
		ut_out_json_str(c->out, b.data, b.len);
		ut_out_text(c->out, "}}");
	}
	ut_buf_release(&b);
	put_sort_index(c, pid, pid, "process_sort_index", process->sort_index);
}

static void put_track_meta(struct chrome *c, const struct ut_trace *t, uint32_t index)
{
	const struct ut_track *track = &t->tracks[index];
	struct ut_str name = ut_strtab_get(&t->strings, track->name);
	uint32_t pid = file_pid(c, t, track->process);
	uint64_t tid = file_tid(c, t, index);
	struct members m = { .out = c->out, .open = "" };

	if (track->type != UT_TRACK_THREAD && track->type != UT_TRACK_LANE)
		return;
	if (name.len || track->args) {
		start_meta(c, pid, tid, "thread_name");
		if (name.len) {
			next_member(&m);
			ut_out_text(c->out, "\"name\":");
			ut_out_json_str(c->out, name.ptr, name.len);
		}
		put_args(&m, t, track->args);
		ut_out_text(c->out, "}}");
	}
	put_sort_index(c, pid, tid, "thread_sort_index", track->sort_index);
}

static void put_member(struct ut_out *o, const char *key, struct ut_str s)
{
	if (!s.len)
		return;
	ut_out_text(o, key);
	ut_out_json_str(o, s.ptr, s.len);
}

static void put_process_other(struct chrome *c, const struct ut_trace *t, uint32_t index)
{
	const struct ut_process *process = &t->processes[index];
	uint32_t pid = file_pid(c, t, index);
	struct ut_out *o = c->other;

	ut_out_fmt(o, "%s\n{\"pid\":%u", c->any_other ? "," : "", pid);
	c->any_other = true;
	if (pid != process->pid)
		ut_out_fmt(o, ",\"os_pid\":%" PRIu64, process->pid);
	if (process->rank >= 0)
		ut_out_fmt(o, ",\"rank\":%d", (int)process->rank);
	put_member(o, ",\"name\":", ut_strtab_get(&t->strings, process->name));
	put_member(o, ",\"host\":", ut_strtab_get(&t->strings, process->host));
	put_member(o, ",\"command\":", ut_strtab_get(&t->strings, process->cmdline));
	ut_out_text(o, ",\"realtime_offset_ns\":");
	ut_out_i64(o, t->realtime_offset);
	ut_out_text(o, ",\"boottime_offset_ns\":");
	ut_out_i64(o, t->boottime_offset);
	if (t->clock_error)
		ut_out_fmt(o, ",\"clock_error_ns\":%" PRIu64, t->clock_error);
}

/* What is known of the trace as a whole is said once, with its first process. */
static void put_trace_other(struct chrome *c, const struct ut_trace *t)
{
	struct members list = { .out = c->other, .open = ",\"losses\":{" };
	struct members args = { .out = c->other, .open = ",\"args\":{" };
	struct ut_loss losses[UT_LOSS_COUNT];
	size_t count = ut_loss_list(&t->losses, losses);

	for (size_t i = 0; i < count; i++) {
		next_member(&list);
		ut_out_fmt(c->other, "\"%s\":%" PRIu64, losses[i].name, losses[i].count);
	}
	end_members(&list);
	put_args(&args, t, t->global_args);
	end_members(&args);
}

/* No viewer has a place for what a counter is about: "counters": {"name": {"unit": ...}}. */
static void put_counters_other(struct chrome *c, const struct ut_trace *t, uint32_t process)
{
	struct members list = { .out = c->other, .open = ",\"counters\":{" };

	for (size_t i = 0; i < t->track_count; i++) {
		const struct ut_track *track = &t->tracks[i];
		struct members facts = { .out = c->other, .open = "{" };
		struct ut_str name = ut_strtab_get(&t->strings, track->name);
		struct ut_str unit = ut_strtab_get(&t->strings, track->unit);

		if (track->type != UT_TRACK_COUNTER || track->process != process ||
		    (!track->args && !unit.len))
			continue;
		next_member(&list);
		ut_out_json_str(c->other, name.ptr, name.len);
		ut_out_text(c->other, ":");
		if (unit.len) {
			next_member(&facts);
			put_member(c->other, "\"unit\":", unit);
		}
		put_args(&facts, t, track->args);
		end_members(&facts);
	}
	end_members(&list);
}

static void forget_trace(struct chrome *c)
{
	ut_arena_release(&c->arena);
	free(c->names.items);
	free(c->cats.items);
	free(c->tracks.items);
	free(c->processes);
	c->names = c->cats = c->tracks = (struct fragments){ 0 };
	c->processes = NULL;
	c->process_cap = 0;
}

static void chrome_end_trace(struct ut_sink *sink, const struct ut_trace *t)
{
	struct chrome *c = (struct chrome *)sink;

	for (uint32_t i = 0; i < t->process_count; i++) {
		put_process_meta(c, t, i);
		put_process_other(c, t, i);
		if (!i)
			put_trace_other(c, t);
		put_counters_other(c, t, i);
		ut_out_text(c->other, "}");
	}
	for (uint32_t i = 0; i < t->track_count; i++)
		put_track_meta(c, t, i);

	forget_trace(c);
	c->id_base = c->id_next;
}

static struct ut_sink *chrome_open(struct ut_out *out)
{
	struct chrome *c = ut_make(sizeof(*c));

	c->sink.event = chrome_event;
	c->out = out;
	c->other = ut_out_open_memory();
	c->scratch = ut_out_open_memory();
	ut_out_text(out, "{\"traceEvents\":[");
	return &c->sink;
}

static void chrome_close(struct ut_sink *sink)
{
	struct chrome *c = (struct chrome *)sink;
	size_t len;
	const char *other = ut_out_data(c->other, &len);

	ut_out_text(c->out, "\n],\"displayTimeUnit\":\"ns\",\"otherData\":{\"tool\":\"unitrace\","
			    "\"version\":\"" UT_VERSION "\",\"clock\":\"CLOCK_MONOTONIC\","
			    "\"processes\":[");
	ut_out_write(c->out, other, len);
	ut_out_text(c->out, "]}}\n");
	forget_trace(c); /* one that was never ended */
	ut_out_abandon(c->other);
	ut_out_abandon(c->scratch);
	ut_pids_release(&c->pids);
	free(c);
}

const struct ut_exporter ut_export_chrome = {
	.name = "chrome",
	.suffix = ".json",
	.open = chrome_open,
	.end_trace = chrome_end_trace,
	.close = chrome_close,
};
