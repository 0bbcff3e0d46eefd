/*
 * ours.c - what our own exporter adds to packets because the format has no place for it:
 * enum ours in model/perfetto_ours.h. About the event or track in the same packet, or the whole
 * trace.
 */
#include "import/perfetto/ours.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "import/perfetto/shared.h"
#include "model/classify.h"
#include "model/perfetto_fields.h"
#include "model/perfetto_ours.h"

/* The annotations of a field as a list of the trace's: its index, 0 = there are none. */
static uint32_t read_facts(struct ut_pf *p, const struct ut_pf_seq *s, struct ut_pb m,
			   uint32_t field)
{
	struct ut_trace *t = ut_pf_trace(p);
	uint32_t list = (uint32_t)t->arg_count;
	struct ut_pb_field f;

	p->arg_count = 0;
	while (ut_pb_next(&m, &f)) {
		if (f.number == field)
			ut_pf_annotation(p, s, ut_pb_inside(&f));
	}
	if (!p->arg_count)
		return 0;
	for (size_t i = 0; i < p->arg_count; i++)
		*ut_trace_add_arg(t, 0, UT_ARG_END) = p->args[i];
	ut_trace_close_args(t);
	p->arg_count = 0;
	return list;
}

static struct ut_str perfetto_ours_text_of(struct ut_pf *p, const struct ut_pb_field *f)
{
	return ut_strtab_get(&ut_pf_trace(p)->strings, ut_pf_string(p, f));
}

static int32_t perfetto_ours_number_of(const struct ut_pb_field *f)
{
	return f->value <= INT32_MAX ? (int32_t)f->value : -1;
}

/* A kind or role of a later version is none that we know. */
static void perfetto_ours_read_place(struct ut_pf *p, const struct ut_pb_field *f,
				     struct ut_pf_own_place *to)
{
	switch (f->number) {
	case OURS_KIND:
		to->kind = (uint8_t)ut_process_kind_called(perfetto_ours_text_of(p, f));
		to->kind = to->kind == UT_PROCESS_UNKNOWN ? UT_PROCESS_OTHER : to->kind;
		break;
	case OURS_API:
		to->api = ut_api_called(&ut_pf_trace(p)->strings, perfetto_ours_text_of(p, f));
		break;
	case OURS_DEVICE:
		to->device = perfetto_ours_number_of(f);
		break;
	case OURS_SUB_DEVICE:
		to->sub_device = perfetto_ours_number_of(f);
		break;
	case OURS_DEVICE_TYPE:
		to->device_type = (uint8_t)ut_device_type_called(perfetto_ours_text_of(p, f));
		break;
	case OURS_MODEL:
		to->model = ut_pf_string(p, f);
		break;
	case OURS_ROLE:
		to->role = (uint8_t)ut_role_called(perfetto_ours_text_of(p, f));
		break;
	case OURS_THREAD:
		to->thread = f->value <= UINT32_MAX ? (uint32_t)f->value : 0;
		break;
	default:
		break;
	}
}

static void set_kind(struct ut_process *to, const struct ut_pf_own_place *from)
{
	if (!from->kind)
		return;
	to->kind = from->kind;
	to->device_type = from->device_type;
	to->api = from->api;
	to->model = from->model;
	to->device = from->device;
	to->sub_device = from->sub_device;
}

struct ut_pf_ours ut_pf_read_ours(struct ut_pf *p, const struct ut_pf_seq *s, struct ut_pb m)
{
	struct ut_pf_ours o = { .rank = -1,
				.any = m.at != NULL,
				.place = { .device = -1, .sub_device = -1 } };
	struct ut_pb rest = m;
	struct ut_pb_field f;
	bool facts = false;

	while (ut_pb_next(&rest, &f)) {
		switch (f.number) {
		case OURS_NAME:
			o.name = ut_pf_string(p, &f);
			o.named = true;
			break;
		case OURS_ID:
			o.id = f.value;
			o.has_id = true;
			break;
		case OURS_ID_TEXT:
			o.id_text = ut_pf_string(p, &f);
			break;
		case OURS_RANK:
			o.rank = f.value <= INT32_MAX ? (int32_t)f.value : -1;
			break;
		case OURS_HOST:
			o.host = ut_pf_string(p, &f);
			o.hosted = true;
			break;
		case OURS_BASE:
			o.base = ut_pf_string(p, &f);
			break;
		case OURS_UNIT:
			o.unit = ut_pf_string(p, &f);
			break;
		case OURS_LANE:
			o.lane = f.value;
			break;
		case OURS_ASYNC:
			o.async = f.value != 0;
			break;
		case OURS_FACTS:
			facts = true;
			break;
		default: /* of events, of the trace, of a later version */
			perfetto_ours_read_place(p, &f, &o.place);
			break;
		}
	}
	o.facts = facts ? read_facts(p, s, m, OURS_FACTS) : 0;
	return o;
}

void ut_pf_ours_process(struct ut_pf *p, uint32_t process, const struct ut_pf_ours *o)
{
	struct ut_process *to = &ut_pf_trace(p)->processes[process];

	if (o->has_id || o->id_text) {
		to->pid = o->id;
		to->pid_text = o->id_text;
	}
	if (o->named || o->rank >= 0) {
		to->name = o->name;
		to->rank = o->rank;
	}
	if (o->hosted)
		to->host = o->host;
	set_kind(to, &o->place);
	if (o->facts)
		to->args = o->facts;
}

void ut_pf_give_role(const struct ut_pf_track *from, struct ut_track *to)
{
	if (!from->role)
		return;
	to->role = from->role;
	to->thread = from->thread;
	to->api = from->api;
}

/* Of a thread: its track exists. Others are made at the end, or when they have a value. */
void ut_pf_ours_track(struct ut_pf *p, uint32_t track, const struct ut_pf_ours *o)
{
	struct ut_pf_track *t = ut_pf_at(p, track);
	struct ut_track *model;

	t->async |= o->async;
	t->lane = o->lane ? o->lane : t->lane;
	t->args = o->facts ? o->facts : t->args;
	t->bare = o->base ? o->base : t->bare;
	if (o->place.role) {
		t->role = o->place.role;
		t->thread = o->place.thread;
		t->api = o->place.api;
	}
	if (t->kind == UT_PF_COUNTER && (o->base || o->id_text)) {
		t->unit = o->unit;
		t->id_text = o->id_text;
	}
	if (t->kind != UT_PF_THREAD)
		return;
	model = &ut_pf_trace(p)->tracks[t->model - 1];
	if (o->has_id || o->id_text) {
		model->id = o->id;
		model->id_text = o->id_text;
	}
	if (o->named)
		model->name = o->name;
	if (o->facts)
		model->args = o->facts;
	ut_pf_give_role(t, model);
}

void ut_pf_ours_trace(struct ut_pf *p, const struct ut_pf_seq *s, struct ut_pb m)
{
	struct ut_trace *t = ut_pf_trace(p);
	struct ut_pb_field f;

	p->arg_count = 0;
	while (ut_pb_next(&m, &f)) {
		if (f.number == OURS_FILE)
			ut_pf_annotation(p, s, ut_pb_inside(&f));
		else if (f.number == OURS_ERROR && f.value > t->clock_error)
			t->clock_error = f.value;
		else if (f.number == OURS_CALLS)
			ut_classify_add_calls(t, ut_pf_string(p, &f));
		else if (f.number == OURS_GLOBAL_FLOW)
			ut_idmap_put(&p->globals, f.value, 1);
	}
	for (size_t i = 0; i < p->arg_count; i++) {
		uint64_t key = (uint64_t)p->args[i].key + 1;

		/* members are known by their keys; the first trace that has one gives it */
		if (ut_idmap_get(&p->file_keys, key))
			continue;
		if (!(p->args[i].flags & UT_ARG_MORE))
			ut_idmap_put(&p->file_keys, key, 1);
		p->file = ut_grow(p->file, p->file_count + 1, &p->file_cap, sizeof(*p->file));
		p->file[p->file_count++] = p->args[i];
	}
	p->arg_count = 0;
}

void ut_pf_ours_event(struct ut_pb m, struct ut_pf_own_event *e)
{
	struct ut_pb_field f;

	*e = (struct ut_pf_own_event){ 0 };
	while (ut_pb_next(&m, &f)) {
		if (f.number == OURS_TRACK) {
			e->track = f.value;
			e->has_track = true;
		} else if (f.number == OURS_NUMBER) {
			e->number = f.value;
			e->has_number = true;
		}
	}
}
