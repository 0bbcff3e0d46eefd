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
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"
#include "base/utf8.h"
#include "export/args_json.h"
#include "export/chrome_write.h"
#include "export/describe.h"
#include "model/event.h"
#include "text/digits.h"
#include "text/out.h"

/*
 * A lane is a thread to viewers and needs a tid. Linux gives out none from 2^22 on, and some
 * viewers keep tids in an int32: 2^30 and the track's index clash with neither.
 */
#define LANE_TID (UINT64_C(1) << 30)

#define HASHED_ID (UINT64_C(1) << 63) /* arguments may tell what it was; see import/chrome/id.c */

#define FIRST_MADE_UP_PID (UINT64_C(1) << 30) /* Linux ends at 2^22; still positive as an int32 */

#define ROOM        2048 /* of the buffer for one event without its arguments */
#define FAST_BYTES  256  /* longer fragments do not count on ROOM */
#define CACHE_BYTES 4096 /* longer strings are escaped each time rather than kept */

static void start_fragment(struct ut_cw *c)
{
	size_t len;

	ut_out_advance(c->scratch, ut_out_data(c->scratch, &len));
}

static void keep_fragment(struct ut_cw *c, struct ut_cw_fragment *f)
{
	const char *text = ut_out_data(c->scratch, &f->len);

	f->text = ut_arena_alloc(&c->arena, f->len + UT_CW_SHORT, 1);
	memcpy(f->text, text, f->len);
}

static struct ut_cw_fragment *fragment_at(struct ut_cw_fragments *list, uint32_t i)
{
	list->items = ut_grow(list->items, (size_t)i + 1, &list->cap, sizeof(*list->items));
	return &list->items[i];
}

static char *put_fragment(struct ut_cw *c, char *p, const struct ut_cw_fragment *f)
{
	if (f->len > FAST_BYTES) {
		ut_out_advance(c->out, p);
		ut_out_write(c->out, f->text, f->len);
		return ut_out_reserve(c->out, ROOM);
	}
	memcpy(p, f->text, UT_CW_SHORT);
	if (f->len > UT_CW_SHORT)
		memcpy(p + UT_CW_SHORT, f->text + UT_CW_SHORT, f->len - UT_CW_SHORT);
	return p + f->len;
}

static char *put_long(struct ut_cw *c, char *p, const char *key, struct ut_str s)
{
	ut_out_advance(c->out, p);
	ut_out_text(c->out, key);
	ut_out_json_str(c->out, s.ptr, s.len);
	return ut_out_reserve(c->out, ROOM);
}

static const char name_key[] = ",\"name\":";
static const char cat_key[] = ",\"cat\":";

static char *put_new_name(struct ut_cw *c, char *p, struct ut_cw_fragment *f, struct ut_str s)
{
	if (s.len > CACHE_BYTES)
		return put_long(c, p, name_key, s);
	start_fragment(c);
	ut_out_text(c->scratch, name_key);
	ut_out_json_str(c->scratch, s.ptr, s.len);
	keep_fragment(c, f);
	return put_fragment(c, p, f);
}

static char *export_chrome_put_name(struct ut_cw *c, char *p, const struct ut_trace *t,
				    uint32_t name)
{
	struct ut_cw_fragment *f;

	if (name < c->names.cap && c->names.items[name].text)
		return put_fragment(c, p, &c->names.items[name]);
	f = fragment_at(&c->names, name);
	return put_new_name(c, p, f, ut_strtab_get(&t->strings, name));
}

/* Viewers take a category for a list and split it at commas; in other tools' files it is one. */
static char *put_new_cat(struct ut_cw *c, char *p, struct ut_cw_fragment *f, struct ut_str s)
{
	char *copy = ut_arena_copy(&c->arena, s.ptr, s.len);

	for (size_t i = 0; i < s.len; i++) {
		if (copy[i] == ',' && !c->foreign)
			copy[i] = ';';
	}
	start_fragment(c);
	ut_out_text(c->scratch, cat_key);
	ut_out_json_str(c->scratch, copy, s.len);
	keep_fragment(c, f);
	return put_fragment(c, p, f);
}

static char *put_cat(struct ut_cw *c, char *p, const struct ut_trace *t, uint32_t cat)
{
	if (!cat)
		return p;
	if (cat < c->cats.cap && c->cats.items[cat].text)
		return put_fragment(c, p, &c->cats.items[cat]);
	return put_new_cat(c, p, fragment_at(&c->cats, cat), ut_strtab_get(&t->strings, cat));
}

/* ---- processes and tracks ------------------------------------------------------------------ */

/* Takes a pid (or the hash of a text) for the file; false if the file has it already. */
static bool take_pid(struct ut_cw *c, uint64_t pid)
{
	if (ut_idmap_get(&c->pids, pid))
		return false;
	ut_idmap_put(&c->pids, pid, 1);
	c->pid_count++;
	return true;
}

/* Hosts, containers and exec() give the same pid to several; the later ones get another. */
static void choose_pid(struct ut_cw *c, struct ut_cw_process *p, const struct ut_trace *t,
		       const struct ut_process *process)
{
	struct ut_str text = ut_strtab_get(&t->strings, process->pid_text);

	p->as_text = text.len;
	p->pid = process->pid;
	if (take_pid(c, text.len ? ut_hash_bytes(text.ptr, text.len) | UINT64_C(1) << 63 : p->pid))
		return;
	p->as_text = false;
	p->pid = FIRST_MADE_UP_PID + c->pid_count;
	while (!take_pid(c, p->pid))
		p->pid++;
}

const struct ut_cw_process *ut_cw_process(struct ut_cw *c, const struct ut_trace *t,
					  uint32_t process)
{
	uint32_t program = ut_process_program(t, process);
	struct ut_cw_process *p;

	if (program != process && (process >= c->process_cap || !c->processes[process].known))
		(void)ut_cw_process(c, t, program); /* which has the pid */
	c->processes =
		ut_grow(c->processes, (size_t)process + 1, &c->process_cap, sizeof(*c->processes));
	p = &c->processes[process];
	if (!p->known) {
		choose_pid(c, p, t, &t->processes[process]);
		p->known = true;
		c->order = ut_grow(c->order, c->order_count + 1, &c->order_cap, sizeof(*c->order));
		c->order[c->order_count++] = process;
	}
	return p;
}

void ut_cw_pid(struct ut_cw *c, struct ut_out *o, const struct ut_trace *t, uint32_t process)
{
	const struct ut_cw_process *p = ut_cw_process(c, t, process);

	if (p->as_text)
		ut_args_json_text(o, ut_strtab_get(&t->strings, t->processes[process].pid_text));
	else
		ut_out_u64(o, p->pid);
}

/* What belongs to no thread goes to the main one, which every process has. */
void ut_cw_tid(struct ut_cw *c, struct ut_out *o, const struct ut_trace *t, uint32_t index)
{
	const struct ut_track *track = &t->tracks[index];

	switch (track->type) {
	case UT_TRACK_THREAD:
		if (track->id_text)
			ut_args_json_text(o, ut_strtab_get(&t->strings, track->id_text));
		else
			ut_out_u64(o, track->id);
		return;
	case UT_TRACK_LANE:
		ut_out_u64(o, LANE_TID + index);
		return;
	case UT_TRACK_ASYNC:
	case UT_TRACK_COUNTER:
		break;
	}
	ut_cw_pid(c, o, t, track->process);
}

static char *put_track(struct ut_cw *c, char *p, const struct ut_trace *t, uint32_t index)
{
	struct ut_cw_fragment *f;

	if (index < c->tracks.cap && c->tracks.items[index].text)
		return put_fragment(c, p, &c->tracks.items[index]);
	f = fragment_at(&c->tracks, index);
	start_fragment(c);
	ut_out_text(c->scratch, ",\"pid\":");
	ut_cw_pid(c, c->scratch, t, t->tracks[index].process);
	ut_out_text(c->scratch, ",\"tid\":");
	ut_cw_tid(c, c->scratch, t, index);
	ut_out_text(c->scratch, ",\"ts\":");
	keep_fragment(c, f);
	return put_fragment(c, p, f);
}

/* ---- arguments ----------------------------------------------------------------------------- */

void ut_cw_member(struct ut_cw_members *m)
{
	ut_out_text(m->out, m->any ? "," : m->open);
	m->any = true;
}

void ut_cw_end_members(struct ut_cw_members *m)
{
	if (m->any)
		ut_out_text(m->out, "}");
}

static bool left_out(const struct ut_cw_members *m, const struct ut_arg *a)
{
	for (const struct ut_arg *const *but = m->but; but && *but; but++) {
		if (*but == a)
			return true;
	}
	return false;
}

void ut_cw_args(struct ut_cw_members *m, const struct ut_trace *t, uint32_t index)
{
	bool inside = false; /* an array */

	for (const struct ut_arg *a = &t->args[index]; a->type != UT_ARG_END; a++) {
		bool array = a->flags & UT_ARG_ARRAY;
		bool more = array && a->flags & UT_ARG_MORE && a[1].type != UT_ARG_END;
		struct ut_str key = ut_strtab_get(&t->strings, a->key);

		if (left_out(m, a))
			continue;
		ut_cw_member(m);
		if (!inside) {
			ut_out_json_str(m->out, key.ptr, key.len);
			ut_out_text(m->out, array ? ":[" : ":");
		}
		ut_args_json_value(m->out, t, a);
		if (array && !more)
			ut_out_text(m->out, "]");
		inside = more;
	}
}

const struct ut_arg *ut_cw_find(const struct ut_trace *t, uint32_t list, const char *key,
				enum ut_arg_type type)
{
	for (const struct ut_arg *a = &t->args[list]; list && a->type != UT_ARG_END; a++) {
		struct ut_str s = ut_strtab_get(&t->strings, a->key);

		if (ut_str_is(s, key) && !a->flags && (a->type == type || type == UT_ARG_END))
			return a;
	}
	return NULL;
}

/* ---- ids ----------------------------------------------------------------------------------- */

static char *export_chrome_put_text(char *p, const char *s)
{
	size_t len = strlen(s);

	memcpy(p, s, len);
	return p + len;
}

/* local: known in its process only, and shown there; viewers put what is not under "global". */
static char *export_chrome_put_id(struct ut_cw *c, char *p, uint64_t number, bool local)
{
	p = export_chrome_put_text(p, local ? ",\"id2\":{\"local\":\"" : ",\"id\":\"");
	p = ut_digits_hex(p, ut_pairs_number(&c->pairs, number));
	*p++ = '"';
	if (local)
		*p++ = '}';
	return p;
}

/* The id is what viewers go by; that files have it in common is said as the format does. */
static char *put_global_id(char *p, uint64_t number)
{
	p = export_chrome_put_text(p, ",\"id\":\"");
	p = ut_digits_hex(p, number);
	p = export_chrome_put_text(p, "\",\"id2\":{\"global\":\"");
	p = ut_digits_hex(p, number);
	return export_chrome_put_text(p, "\"}");
}

/* Arguments that stand for members of the event. */
struct special {
	const struct ut_arg *tid, *id_text, *id_scope, *id2;
	const struct ut_arg *all[5]; /* of them, closed by NULL */
};

static const struct ut_arg *find_special(struct special *s, const struct ut_trace *t,
					 const struct ut_event *e, const char *key)
{
	const struct ut_arg *found = ut_cw_find(t, e->args, key, UT_ARG_END);
	size_t n = 0;

	while (s->all[n])
		n++;
	s->all[n] = found;
	return found;
}

/* The ids of the first trace may keep their text; those of later ones must not clash with them. */
static void find_specials(struct ut_cw *c, struct special *s, const struct ut_trace *t,
			  const struct ut_event *e)
{
	*s = (struct special){ 0 };
	if (t->tracks[e->track].type == UT_TRACK_ASYNC)
		s->tid = find_special(s, t, e, "tid");
	if (e->val < HASHED_ID || c->pairs.traces)
		return;
	s->id2 = find_special(s, t, e, "id2");
	if (!s->id2)
		s->id_text = find_special(s, t, e, "id_text");
	if (s->id2 || s->id_text)
		s->id_scope = find_special(s, t, e, "id_scope");
}

/* The id as it was before it became a number. */
static char *put_special_id(struct ut_cw *c, char *p, const struct ut_trace *t,
			    const struct special *s)
{
	bool local = s->id2 && s->id2->type == UT_ARG_PTR; /* as the importer keeps most of them */

	ut_out_advance(c->out, p);
	ut_out_text(c->out, local ? ",\"id2\":{\"local\":" : s->id2 ? ",\"id2\":" : ",\"id\":");
	ut_args_json_value(c->out, t, s->id2 ? s->id2 : s->id_text);
	ut_out_text(c->out, local ? "}" : "");
	if (s->id_scope) {
		ut_out_text(c->out, ",\"scope\":");
		ut_args_json_value(c->out, t, s->id_scope);
	}
	return ut_out_reserve(c->out, ROOM);
}

static bool is_async(const struct ut_event *e)
{
	return e->kind == UT_KIND_ASYNC_BEGIN || e->kind == UT_KIND_ASYNC_END ||
	       e->kind == UT_KIND_ASYNC_INSTANT;
}

static bool has_number(const struct ut_event *e)
{
	return e->kind != UT_KIND_SPAN && e->kind != UT_KIND_INSTANT &&
	       e->kind != UT_KIND_COUNTER && e->kind != UT_KIND_SAMPLE;
}

/* ---- events -------------------------------------------------------------------------------- */

static bool is_flow(const struct ut_event *e)
{
	return e->kind == UT_KIND_FLOW_OUT || e->kind == UT_KIND_FLOW_IN ||
	       e->kind == UT_KIND_FLOW_STEP;
}

/*
 * Both ends must agree in name, category and id. Those of a recording need not, so what the user
 * called it is an argument there.
 */
static bool is_plain_flow(const struct ut_cw *c, const struct ut_event *e)
{
	return is_flow(e) && !(c->foreign && e->cat);
}

static bool has_args(const struct ut_cw *c, const struct ut_event *e)
{
#define SPAN_FLAG(flag, key) | UT_EV_##flag
	return e->args || e->flags & (0u UT_SPAN_FLAG_LIST(SPAN_FLAG)) ||
	       (is_plain_flow(c, e) && e->name);
#undef SPAN_FLAG
}

static void put_flags(struct ut_cw_members *m, const struct ut_event *e)
{
#define PUT_FLAG(flag, key)                                                                        \
	if (e->flags & UT_EV_##flag) {                                                             \
		ut_cw_member(m);                                                                   \
		ut_out_text(m->out, "\"" key "\":true");                                           \
	}
	UT_SPAN_FLAG_LIST(PUT_FLAG)
#undef PUT_FLAG
}

static void put_event_args(const struct ut_cw *c, const struct ut_trace *t,
			   const struct ut_event *e, const struct special *special)
{
	struct ut_cw_members m = { .out = c->out, .open = ",\"args\":{" };
	struct ut_str name = ut_strtab_get(&t->strings, e->name);

	m.but = special ? special->all : NULL;
	if (is_plain_flow(c, e) && e->name) {
		ut_cw_member(&m);
		ut_out_text(c->out, "\"name\":");
		ut_out_json_str(c->out, name.ptr, name.len);
	}
	ut_cw_args(&m, t, e->args);
	if (e->kind == UT_KIND_SPAN || e->kind == UT_KIND_ASYNC_BEGIN)
		put_flags(&m, e);
	ut_cw_end_members(&m);
}

static char *put_span(struct ut_cw *c, char *p, const struct ut_trace *t, const struct ut_event *e)
{
	memcpy(p, ",\"dur\":", 7);
	p = ut_digits_us(p + 7, e->val);
	p = export_chrome_put_name(c, p, t, e->name);
	return put_cat(c, p, t, e->cat);
}

static char *put_instant(struct ut_cw *c, char *p, const struct ut_trace *t,
			 const struct ut_event *e)
{
	p = export_chrome_put_name(c, p, t, e->name);
	p = put_cat(c, p, t, e->cat);
	if (e->flags & UT_EV_SCOPE_GLOBAL)
		return export_chrome_put_text(p, ",\"s\":\"g\"");
	return export_chrome_put_text(p, e->flags & UT_EV_SCOPE_PROCESS ? ",\"s\":\"p\""
									: ",\"s\":\"t\"");
}

/* Async events are found by category and id: without a category they get one. */
static char *put_async(struct ut_cw *c, char *p, const struct ut_trace *t, const struct ut_event *e)
{
	p = export_chrome_put_name(c, p, t, e->name);
	return e->cat ? put_cat(c, p, t, e->cat) : export_chrome_put_text(p, ",\"cat\":\"async\"");
}

static char *put_object(struct ut_cw *c, char *p, const struct ut_trace *t,
			const struct ut_event *e)
{
	p = export_chrome_put_name(c, p, t, e->name);
	return put_cat(c, p, t, e->cat);
}

static char *put_flow(struct ut_cw *c, char *p, const struct ut_trace *t, const struct ut_event *e)
{
	if (is_plain_flow(c, e))
		return export_chrome_put_text(p, ",\"name\":\"flow\",\"cat\":\"flow\"");
	p = export_chrome_put_name(c, p, t, e->name);
	return put_cat(c, p, t, e->cat);
}

/* Viewers show a counter as "name series": the unit is a good series, "value" is left out. */
static char *export_chrome_put_counter(struct ut_cw *c, char *p, const struct ut_trace *t,
				       const struct ut_event *e)
{
	const struct ut_track *track = &t->tracks[e->track];
	struct ut_str unit = ut_strtab_get(&t->strings, track->unit);
	struct ut_cw_members m = { .out = c->out, .any = true };

	p = export_chrome_put_name(c, p, t,
				   track->base   ? track->base
				   : track->name ? track->name
						 : e->name);
	p = put_cat(c, p, t, e->cat);
	ut_out_advance(c->out, p);
	if (track->id_text) {
		ut_out_text(c->out, ",\"id\":");
		ut_args_json_text(c->out, ut_strtab_get(&t->strings, track->id_text));
	}
	ut_out_text(c->out, ",\"args\":{");
	ut_out_json_str(c->out, unit.len ? unit.ptr : "value", unit.len ? unit.len : 5);
	ut_out_text(c->out, ":");
	ut_counter_json(c->out, e);
	if (c->foreign)
		ut_cw_args(&m, t, e->args);
	ut_out_text(c->out, "}}");
	return NULL;
}

/* The kind's own part. NULL: the event is complete. */
static char *put_kind(struct ut_cw *c, char *p, const struct ut_trace *t, const struct ut_event *e)
{
	switch ((enum ut_kind)e->kind) {
	case UT_KIND_SPAN:
		return put_span(c, p, t, e);
	case UT_KIND_INSTANT:
		return put_instant(c, p, t, e);
	case UT_KIND_COUNTER:
		return export_chrome_put_counter(c, p, t, e);
	case UT_KIND_ASYNC_BEGIN:
	case UT_KIND_ASYNC_END:
	case UT_KIND_ASYNC_INSTANT:
		return put_async(c, p, t, e);
	case UT_KIND_OBJECT_NEW:
	case UT_KIND_OBJECT_STATE:
	case UT_KIND_OBJECT_GONE:
		return put_object(c, p, t, e);
	case UT_KIND_FLOW_OUT:
	case UT_KIND_FLOW_IN:
	case UT_KIND_FLOW_STEP:
		return put_flow(c, p, t, e);
	case UT_KIND_SAMPLE:
	case UT_KIND_COUNT:
		break;
	}
	return p;
}

/* An async event tells its thread with an argument. */
static char *put_own_tid(struct ut_cw *c, char *p, const struct ut_trace *t,
			 const struct ut_event *e, const struct ut_arg *tid)
{
	ut_out_advance(c->out, p);
	ut_out_text(c->out, ",\"pid\":");
	ut_cw_pid(c, c->out, t, t->tracks[e->track].process);
	ut_out_text(c->out, ",\"tid\":");
	ut_args_json_value(c->out, t, tid);
	ut_out_text(c->out, ",\"ts\":");
	return ut_out_reserve(c->out, ROOM);
}

/* Traces that an importer of Chrome's JSON has made say so. */
static void export_chrome_look(struct ut_cw *c, const struct ut_trace *t)
{
	c->looked = true;
	c->foreign = ut_cw_find(t, t->file_args, "dialect", UT_ARG_STR);
	c->local = ut_cw_is_ours(c, t); /* elsewhere an id may join what several processes did */
}

static void chrome_event(struct ut_sink *sink, const struct ut_trace *t, const struct ut_event *e)
{
	static const char phase[] = "XiCbesftnNODP"; /* in the order of UT_KIND_LIST */
	struct ut_cw *c = (struct ut_cw *)sink;
	struct special special = { 0 };
	char *p;

	_Static_assert(sizeof(phase) == UT_KIND_COUNT + 1, "one phase letter per kind");
	if (e->kind >= UT_KIND_COUNT)
		return; /* from a newer collector; the importer has counted it */
	assert(e->track < t->track_count);
	if (!c->looked)
		export_chrome_look(c, t);
	if (e->kind == UT_KIND_SAMPLE) {
		ut_cw_sample(c, t, e);
		return;
	}
	if (c->foreign && e->args && has_number(e))
		find_specials(c, &special, t, e);
	p = ut_out_reserve(c->out, ROOM);
	*p = ',';
	p += c->any_event;
	c->any_event = true;
	memcpy(p, "\n{\"ph\":\"X\"", 10);
	p[8] = phase[e->kind];
	p = special.tid ? put_own_tid(c, p + 10, t, e, special.tid)
			: put_track(c, p + 10, t, e->track);
	p = ut_digits_us(p, e->ts);
	p = put_kind(c, p, t, e);
	if (!p)
		return;
	if (has_number(e))
		p = special.id2 || special.id_text ? put_special_id(c, p, t, &special)
		    : ut_pairs_global(e)
			    ? put_global_id(p, e->val)
			    : export_chrome_put_id(c, p, e->val, is_async(e) && c->local);
	if (e->kind == UT_KIND_FLOW_IN && !(e->flags & UT_EV_BIND_NEXT))
		p = export_chrome_put_text(p, ",\"bp\":\"e\"");
	if (has_args(c, e)) {
		ut_out_advance(c->out, p);
		put_event_args(c, t, e, &special);
		p = ut_out_reserve(c->out, 1);
	}
	*p++ = '}';
	ut_out_advance(c->out, p);
}

static void forget_trace(struct ut_cw *c)
{
	ut_arena_release(&c->arena);
	free(c->names.items);
	free(c->cats.items);
	free(c->tracks.items);
	free(c->processes);
	free(c->order);
	c->names = c->cats = c->tracks = (struct ut_cw_fragments){ 0 };
	c->processes = NULL;
	c->order = NULL;
	c->process_cap = c->order_cap = c->order_count = 0;
	c->looked = false;
}

static void chrome_end_trace(struct ut_sink *sink, const struct ut_trace *t)
{
	struct ut_cw *c = (struct ut_cw *)sink;

	if (!c->looked)
		export_chrome_look(c, t);
	ut_cw_about_trace(c, t);
	ut_cw_end_samples(c, t);
	forget_trace(c);
	ut_pairs_end_trace(&c->pairs);
}

static struct ut_sink *chrome_open(struct ut_out *out)
{
	struct ut_cw *c = ut_make(sizeof(*c));

	c->sink.event = chrome_event;
	c->out = out;
	c->other = ut_out_open_memory();
	c->top = ut_out_open_memory();
	c->scratch = ut_out_open_memory();
	c->samples = ut_out_open_memory();
	c->frames = ut_out_open_memory();
	ut_idmap_init(&c->pids, &c->file_arena);
	ut_idmap_init(&c->keys, &c->file_arena);
	ut_out_text(out, "{\"traceEvents\":[");
	return &c->sink;
}

static void chrome_close(struct ut_sink *sink)
{
	struct ut_cw *c = (struct ut_cw *)sink;

	ut_cw_about_file(c);
	forget_trace(c); /* one that was never ended */
	ut_out_abandon(c->other);
	ut_out_abandon(c->top);
	ut_out_abandon(c->scratch);
	ut_out_abandon(c->samples);
	ut_out_abandon(c->frames);
	ut_arena_release(&c->file_arena);
	free(c);
}

const struct ut_exporter ut_export_chrome = {
	.name = "chrome",
	.suffix = ".json",
	.open = chrome_open,
	.end_trace = chrome_end_trace,
	.close = chrome_close,
};
