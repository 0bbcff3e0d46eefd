#include "import/perfetto/track_event.h"

#include <string.h>

#include "base/grow.h"
#include "model/perfetto_fields.h"

#define MOST_CATEGORY 256 /* bytes; further categories of an event are left out */

/* ---- rows ---------------------------------------------------------------------------------- */

static void keep_row(struct ut_pf *p, struct ut_pf_row row)
{
	size_t chunk = p->row_count / UT_PF_CHUNK;

	if (p->row_count % UT_PF_CHUNK == 0) {
		p->row_chunks = ut_grow(p->row_chunks, chunk + 1, &p->chunk_cap, sizeof(void *));
		p->row_chunks[chunk] = ut_make(UT_PF_CHUNK * sizeof(row));
	}
	*ut_pf_row_at(p, p->row_count++) = row;
}

/* The number of a type; spans without a name and category have 0, and are not kept here. */
static uint32_t type_number(struct ut_pf *p, const struct ut_type *type)
{
	uint32_t hash = (type->name * 2654435761u >> 16) + type->cat * 31u + type->kind * 7u;
	struct ut_pf_known *known = &p->types[(hash + type->flags) & 255];

	if (!known->number || memcmp(&known->type, type, sizeof(*type)) != 0) {
		known->type = *type;
		known->number = ut_types_intern(&p->build.store.types, type);
	}
	return known->number;
}

/* The number of an async span of ours: where it is kept, + 1; 0 = none is told. */
static uint32_t own_number(struct ut_pf *p, const struct ut_pf_track *t)
{
	if (!t->async || !p->own.has_number)
		return 0;
	ut_pf_list_add(&p->numbers, p->own.number);
	ut_pf_list_add(&p->numbers, 0); /* the arguments of its end */
	return (uint32_t)p->numbers.count - 1;
}

void ut_pf_add(struct ut_pf *p, uint32_t track, uint64_t ts, uint64_t val, struct ut_type type)
{
	struct ut_store *store = &p->build.store;
	uint32_t number = type_number(p, &type), args = 0;
	const struct ut_pf_track *t = ut_pf_at(p, track);

	if (p->arg_count)
		args = ut_arglists_add(&store->args, p->args, p->arg_count);
	if (t->kind == UT_PF_THREAD)
		ut_build_add(&p->build, t->model - 1, ts, val, number, args);
	else
		keep_row(p, (struct ut_pf_row){ ts, val, track, number, args, own_number(p, t) });
}

uint32_t ut_pf_counter_track(struct ut_pf *p, uint32_t track)
{
	struct ut_pf_track *t = ut_pf_at(p, track);
	struct ut_track *model;

	if (!t->counter) {
		uint32_t name = ut_pf_full_name(p, track, t->name);

		t->counter = ut_trace_add_track(ut_pf_trace(p), 0, UT_TRACK_COUNTER) + 1;
		model = &ut_pf_trace(p)->tracks[t->counter - 1];
		model->name = name;
		model->unit = t->unit;
		model->id = t->counter - 1;
		model->sort_index = t->rank;
		model->id_text = t->id_text;
		model->base = t->bare;
		model->args = t->args;
	}
	return t->counter - 1;
}

static void track_event_add_value(struct ut_pf *p, uint32_t track, uint64_t ts, uint64_t val,
				  struct ut_type type)
{
	const struct ut_track *counter;
	uint32_t model, args = 0;

	type.kind = UT_KIND_COUNTER;
	if (p->own.has_number && type.flags & UT_EV_DOUBLE) { /* more digits than a double has */
		val = p->own.number;
		type.flags = 0;
	}
	if (p->is_value && p->arg_count)
		args = ut_arglists_add(&p->build.store.args, p->args, p->arg_count);
	if (ut_pf_at(p, track)->kind != UT_PF_COUNTER) {
		keep_row(p, (struct ut_pf_row){ ts, val, track, type_number(p, &type), args, 0 });
		return;
	}
	model = ut_pf_counter_track(p, track);
	counter = &ut_pf_trace(p)->tracks[model];
	type.name = counter->base ? counter->base : counter->name;
	ut_build_add(&p->build, model, ts, val, type_number(p, &type), args);
}

void ut_pf_add_number(struct ut_pf *p, uint32_t track, uint64_t ts, int64_t value, uint32_t cat)
{
	track_event_add_value(
		p, track, ts, (uint64_t)value,
		(struct ut_type){ .cat = cat, .flags = value < 0 ? UT_EV_SIGNED : 0 });
}

void ut_pf_add_double(struct ut_pf *p, uint32_t track, uint64_t ts, double value, uint32_t cat)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	track_event_add_value(p, track, ts, bits,
			      (struct ut_type){ .cat = cat, .flags = UT_EV_DOUBLE });
}

void ut_pf_add_flow(struct ut_pf *p, struct ut_pf_flow flow)
{
	p->flows = ut_grow(p->flows, p->flow_count + 1, &p->flow_cap, sizeof(*p->flows));
	p->flows[p->flow_count++] = flow;
}

/* ---- taking an event apart ----------------------------------------------------------------- */

/* An event may have several categories: "a,b". */
static uint32_t add_category(struct ut_pf *p, uint32_t cat, uint32_t more)
{
	struct ut_strtab *strings = &ut_pf_trace(p)->strings;
	struct ut_str s = ut_strtab_get(strings, cat), m = ut_strtab_get(strings, more);

	if (!cat || !more || s.len > MOST_CATEGORY)
		return cat ? cat : more;
	p->text.len = 0;
	ut_buf_add(&p->text, s.ptr, s.len);
	ut_buf_char(&p->text, ',');
	ut_buf_add(&p->text, m.ptr, m.len);
	return ut_strtab_intern(strings, p->text.data, p->text.len);
}

static void read_categories(struct ut_pf *p, const struct ut_pf_seq *s, struct ut_pf_parts *e,
			    const struct ut_pb_field *f)
{
	struct ut_pb rest = ut_pb_inside(f);
	uint64_t iid;

	while (ut_pb_element(f, &rest, UT_PB_VARINT, &iid))
		e->cat = add_category(p, e->cat, ut_pf_interned(p, &s->cats, iid));
}

static void track_event_add_place(struct ut_pf *p, const struct ut_pf_seq *s, uint64_t iid)
{
	uint32_t at = ut_idmap_get(&s->places, iid);

	if (at)
		ut_pf_place_args(p, &p->seqs.places[at - 1]);
}

/* What is not asked for often. */
static void read_rare(struct ut_pf *p, struct ut_pf_seq *s, struct ut_pf_parts *e,
		      const struct ut_pb_field *f)
{
	struct ut_strtab *strings = &ut_pf_trace(p)->strings;
	struct ut_pf_place place;
	struct ut_pb inside = ut_pb_inside(f);
	struct ut_pb_field g;

	switch (f->number) {
	case EVENT_DELTA_US:
		s->reference_us += f->value;
		e->ts = ut_pf_clock_ns(&p->clocks, s->id, CLOCK_MONO, s->reference_us * 1000);
		break;
	case EVENT_ABSOLUTE_US:
		e->ts = ut_pf_clock_ns(&p->clocks, s->id, CLOCK_MONO, f->value * 1000);
		break;
	case EVENT_TASK:
		while (ut_pb_next(&inside, &g)) {
			if (g.number == 1)
				track_event_add_place(p, s, g.value);
		}
		break;
	case EVENT_PLACE:
		place = ut_pf_read_place(inside, strings);
		ut_pf_place_args(p, &place);
		break;
	case EVENT_PLACE_IID:
		track_event_add_place(p, s, f->value);
		break;
	case EVENT_CORRELATION:
		ut_pf_add_arg(p, ut_strtab_intern_z(strings, "correlation_id"), UT_ARG_U64)
			->value.u64 = f->value;
		break;
	case EVENT_CORRELATION_TEXT:
		ut_pf_add_arg(p, ut_strtab_intern_z(strings, "correlation_id"), UT_ARG_STR)
			->value.str = ut_pf_string(p, f);
		break;
	default:
		p->troubles.typed += f->wire == UT_PB_BYTES;
		break;
	}
}

static void read_field(struct ut_pf *p, struct ut_pf_seq *s, struct ut_pf_parts *e,
		       const struct ut_pb_field *f)
{
	switch (f->number) {
	case EVENT_TYPE:
		e->type = f->value;
		break;
	case EVENT_TRACK_UUID:
		e->uuid = f->value;
		e->has_uuid = true;
		break;
	case EVENT_NAME_IID:
		e->name = ut_pf_interned(p, &s->names, f->value);
		break;
	case EVENT_NAME:
		e->name = ut_pf_string(p, f);
		break;
	case EVENT_CATEGORY_IIDS:
		read_categories(p, s, e, f);
		break;
	case EVENT_CATEGORIES:
		e->cat = add_category(p, e->cat, ut_pf_string(p, f));
		break;
	case EVENT_ANNOTATIONS:
		ut_pf_annotation(p, s, ut_pb_inside(f));
		break;
	case EVENT_COUNTER:
		e->value = f->value;
		break;
	case EVENT_DOUBLE_COUNTER:
		e->value = f->value;
		e->is_double = true;
		break;
	case EVENT_EXTRA_VALUES:
		ut_pf_list_read(&p->values, f, UT_PB_VARINT);
		break;
	case EVENT_EXTRA_TRACKS:
		ut_pf_list_read(&p->value_tracks, f, UT_PB_VARINT);
		break;
	case EVENT_EXTRA_DOUBLE_VALUES:
		ut_pf_list_read(&p->doubles, f, UT_PB_FIXED64);
		break;
	case EVENT_EXTRA_DOUBLE_TRACKS:
		ut_pf_list_read(&p->double_tracks, f, UT_PB_VARINT);
		break;
	case EVENT_FLOWS:
		ut_pf_list_read(&p->flow_ids, f, UT_PB_FIXED64);
		break;
	case EVENT_FLOWS_OLD:
		ut_pf_list_read(&p->flow_ids, f, UT_PB_VARINT);
		break;
	case EVENT_ENDING_FLOWS:
		ut_pf_list_read(&p->last_flow_ids, f, UT_PB_FIXED64);
		break;
	case EVENT_ENDING_FLOWS_OLD:
		ut_pf_list_read(&p->last_flow_ids, f, UT_PB_VARINT);
		break;
	case EVENT_LEGACY:
		e->legacy = ut_pb_inside(f);
		break;
	default:
		read_rare(p, s, e, f);
		break;
	}
}

/* ---- what belongs to an event of any type -------------------------------------------------- */

uint32_t ut_pf_track_of(struct ut_pf *p, const struct ut_pf_seq *s, const struct ut_pf_parts *e)
{
	if (e->track)
		return e->track - 1;
	if (e->has_uuid)
		return ut_pf_track(p, e->uuid);
	if (s->has_track)
		return ut_pf_track(p, s->default_track);
	return s->thread ? s->thread - 1 : ut_pf_track(p, 0);
}

static void add_flows(struct ut_pf *p, uint32_t track, uint64_t ts)
{
	for (size_t i = 0; i < p->flow_ids.count; i++)
		ut_pf_add_flow(
			p, (struct ut_pf_flow){ p->flow_ids.items[i], ts, track, UT_PF_FLOW_ANY });
	for (size_t i = 0; i < p->last_flow_ids.count; i++)
		ut_pf_add_flow(p, (struct ut_pf_flow){ p->last_flow_ids.items[i], ts, track,
						       UT_PF_FLOW_LAST });
}

/* A counter's value; one that is told as a difference starts from 0 in each epoch. */
static void track_event_add_counter(struct ut_pf *p, const struct ut_pf_seq *s, uint32_t track,
				    uint64_t ts, uint64_t value, uint32_t cat)
{
	struct ut_pf_track *t = ut_pf_at(p, track);

	value *= (uint64_t)t->multiplier;
	if (t->incremental) {
		if (t->epoch != s->epoch)
			t->base = 0;
		t->epoch = s->epoch;
		value += (uint64_t)t->base;
		t->base = (int64_t)value;
	}
	ut_pf_add_number(p, track, ts, (int64_t)value, cat);
}

static void add_double(struct ut_pf *p, uint32_t track, uint64_t ts, uint64_t bits, uint32_t cat)
{
	double value = ut_pb_double(bits) * (double)ut_pf_at(p, track)->multiplier;

	ut_pf_add_double(p, track, ts, value, cat);
}

static void add_extra(struct ut_pf *p, const struct ut_pf_seq *s, uint64_t ts)
{
	const struct ut_pf_list *tracks = p->value_tracks.count ? &p->value_tracks : &s->counters;

	for (size_t i = 0; i < p->values.count && i < tracks->count; i++)
		track_event_add_counter(p, s, ut_pf_track(p, tracks->items[i]), ts,
					p->values.items[i], 0);
	tracks = p->double_tracks.count ? &p->double_tracks : &s->doubles;
	for (size_t i = 0; i < p->doubles.count && i < tracks->count; i++)
		add_double(p, ut_pf_track(p, tracks->items[i]), ts, p->doubles.items[i], 0);
}

/* ---- what our own exporter says in annotations --------------------------------------------- */

/* Flags of a span. */
static uint8_t flag_of(struct ut_pf *p, const struct ut_arg *a)
{
#define FLAG_OF(flag, word)                                                                        \
	if (a->value.u64 && ut_pf_is(p, a->key, word))                                             \
		return UT_EV_##flag;
	UT_SPAN_FLAG_LIST(FLAG_OF)
#undef FLAG_OF
	return 0;
}

static void take_flags(struct ut_pf *p, struct ut_pf_parts *e)
{
	while (p->arg_count && p->args[p->arg_count - 1].type == UT_ARG_BOOL) {
		uint8_t flag = flag_of(p, &p->args[p->arg_count - 1]);

		if (!flag)
			break;
		e->flags |= flag;
		p->arg_count--;
	}
}

/* An object's life: the last argument tells which object, and what happened to it. */
static uint8_t take_object(struct ut_pf *p, uint64_t *number)
{
	static const struct {
		const char *key;
		uint8_t kind;
	} kinds[] = { { "object_new", UT_KIND_OBJECT_NEW },
		      { "object_state", UT_KIND_OBJECT_STATE },
		      { "object_gone", UT_KIND_OBJECT_GONE } };
	const struct ut_arg *a;

	if (!p->arg_count || p->args[p->arg_count - 1].type != UT_ARG_U64)
		return UT_KIND_INSTANT;
	a = &p->args[p->arg_count - 1];
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (ut_pf_is(p, a->key, kinds[i].key)) {
			*number = a->value.u64;
			p->arg_count--;
			return kinds[i].kind;
		}
	}
	return UT_KIND_INSTANT;
}

/* The note at the end of a trace of ours: its losses, and what was said about it as a whole. */
static void take_note(struct ut_pf *p)
{
	struct ut_trace *t = ut_pf_trace(p);

	for (size_t i = 0; i < p->arg_count; i++) {
		const struct ut_arg *a = &p->args[i];
		struct ut_str key = ut_strtab_get(&t->strings, a->key);
		uint64_t *loss = NULL;

		if (a->type == UT_ARG_U64)
			loss = ut_losses_called(&t->losses, key.ptr, key.len);
		if (loss) {
			*loss += a->value.u64;
			continue;
		}
		p->notes = ut_grow(p->notes, p->note_count + 1, &p->note_cap, sizeof(*p->notes));
		p->notes[p->note_count++] = *a;
	}
}

/* ---- events -------------------------------------------------------------------------------- */

static void add_instant(struct ut_pf *p, uint32_t track, struct ut_pf_parts *e)
{
	const struct ut_pf_track *t = ut_pf_at(p, track);
	struct ut_type type = { .name = e->name, .cat = e->cat };
	uint64_t number = 0;

	if (t->kind == UT_PF_PROCESS && !e->cat && ut_pf_is(p, e->name, "unitrace")) {
		take_note(p);
		return;
	}
	if (!p->arg_count && p->flow_ids.count + p->last_flow_ids.count &&
	    ut_pf_is(p, e->name, "flow"))
		return; /* the end of an arrow, and nothing else */
	if (t->kind == UT_PF_PROCESS)
		e->flags |= UT_EV_SCOPE_PROCESS;
	else if (t->kind == UT_PF_UNKNOWN && !t->uuid)
		e->flags |= UT_EV_SCOPE_GLOBAL;
	type.kind = take_object(p, &number);
	type.flags = e->flags;
	if (p->own.has_track)
		track = ut_pf_track(p, p->own.track);
	ut_pf_add(p, track, e->ts, number, type);
}

static void track_event_add_event(struct ut_pf *p, const struct ut_pf_seq *s, struct ut_pf_parts *e)
{
	uint32_t track = ut_pf_track_of(p, s, e);
	struct ut_type type = { .name = e->name, .cat = e->cat };

	switch (e->type) {
	case TYPE_SLICE_BEGIN:
		take_flags(p, e);
		type.kind = UT_RAW_BEGIN;
		type.flags = e->flags;
		ut_pf_add(p, track, e->ts, 0, type);
		break;
	case TYPE_SLICE_END: /* its name is that of the begin */
		ut_pf_add(p, track, e->ts, 0, (struct ut_type){ .kind = UT_RAW_END });
		break;
	case TYPE_INSTANT:
		add_instant(p, track, e);
		break;
	case TYPE_COUNTER:
		p->is_value = true;
		if (e->is_double)
			add_double(p, track, e->ts, e->value, e->cat);
		else
			track_event_add_counter(p, s, track, e->ts, e->value, e->cat);
		p->is_value = false;
		break;
	default:
		break;
	}
	if (p->own.has_track)
		track = ut_pf_track(p, p->own.track);
	add_flows(p, track, e->ts);
}

void ut_pf_event(struct ut_pf *p, struct ut_pf_seq *s, uint64_t ts, struct ut_pb event)
{
	struct ut_pf_parts e = { .ts = ts };
	struct ut_pb_field f;

	p->arg_count = 0;
	p->values.count = p->value_tracks.count = p->doubles.count = p->double_tracks.count = 0;
	p->flow_ids.count = p->last_flow_ids.count = 0;
	while (ut_pb_next(&event, &f))
		read_field(p, s, &e, &f);
	if (event.bad) {
		ut_pf_broken(p);
		return;
	}
	if (p->values.count | p->doubles.count)
		add_extra(p, s, e.ts);
	if (!e.legacy.at || !ut_pf_legacy(p, s, &e))
		track_event_add_event(p, s, &e);
}
