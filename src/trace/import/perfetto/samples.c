/*
 * samples.c - PerfSample packets, and the stacks that their sequence has interned.
 *
 * A message of interned data may have its parts in any order, frames before the mappings that they
 * lie in: each kind is taken in a turn of its own, what others refer to first.
 */
#include <stdlib.h>

#include "import/perfetto/shared.h"
#include "model/perfetto_code.h"
#include "model/perfetto_fields.h"
#include "model/perfetto_ours.h"

static uint64_t iid_of(struct ut_pb entry)
{
	struct ut_pb_field f;
	uint64_t iid = 0;

	while (ut_pb_next(&entry, &f)) {
		if (f.number == INTERNED_IID && f.wire == UT_PB_VARINT)
			iid = f.value;
	}
	return iid;
}

static void intern_string(struct ut_pf *p, struct ut_idmap *table, struct ut_pb entry)
{
	uint64_t iid = iid_of(entry);
	struct ut_pb_field f;
	uint32_t text = 0;

	while (ut_pb_next(&entry, &f)) {
		if (f.number == INTERNED_TEXT)
			text = ut_pf_string(p, &f);
	}
	if (iid)
		ut_idmap_put(table, iid, text + 1);
}

/* The parts of a path, as one text. */
static void intern_mapping(struct ut_pf *p, struct ut_pf_seq *s, struct ut_pb entry)
{
	struct ut_trace *t = ut_pf_trace(p);
	uint64_t iid = iid_of(entry);
	uint32_t path = 0, parts = 0;
	struct ut_pb_field f;
	struct ut_str text;

	p->text.len = 0;
	while (ut_pb_next(&entry, &f)) {
		if (f.number != MAPPING_PATHS || f.wire != UT_PB_VARINT)
			continue;
		path = ut_pf_interned(p, &s->code.modules, f.value);
		text = ut_strtab_get(&t->strings, path);
		ut_buf_text(&p->text, parts++ || (text.len && text.ptr[0] != '/') ? "/" : "");
		ut_buf_add(&p->text, text.ptr, text.len);
	}
	if (parts > 1)
		path = ut_strtab_intern(&t->strings, p->text.data, p->text.len);
	if (iid)
		ut_idmap_put(&s->code.mappings, iid, path + 1);
}

static void intern_frame(struct ut_pf *p, struct ut_pf_seq *s, struct ut_pb entry)
{
	struct ut_trace *t = ut_pf_trace(p);
	struct ut_place_in_code place = { 0 };
	uint64_t iid = iid_of(entry);
	struct ut_pb_field f;

	while (ut_pb_next(&entry, &f)) {
		if (f.wire != UT_PB_VARINT)
			continue;
		if (f.number == FRAME_FUNCTION)
			place.function = ut_pf_interned(p, &s->code.functions, f.value);
		else if (f.number == FRAME_MAPPING)
			place.module = ut_pf_interned(p, &s->code.mappings, f.value);
		else if (f.number == FRAME_REL_PC)
			place.address = f.value;
		else if (f.number == FRAME_SOURCE)
			place.file = ut_pf_interned(p, &s->code.sources, f.value);
		else if (f.number == FRAME_LINE)
			place.line = (uint32_t)f.value;
	}
	if (iid)
		ut_idmap_put(&s->code.frames, iid, ut_stacks_place(&t->stacks, &t->arena, &place));
}

static void intern_callstack(struct ut_pf *p, struct ut_pf_seq *s, struct ut_pb entry)
{
	struct ut_trace *t = ut_pf_trace(p);
	uint64_t iid = iid_of(entry);
	struct ut_pf_list frames = { 0 };
	struct ut_pb_field f;
	uint32_t stack = 0;

	while (ut_pb_next(&entry, &f)) {
		if (f.number == CALLSTACK_FRAMES)
			ut_pf_list_read(&frames, &f, UT_PB_VARINT);
	}
	for (size_t i = 0; i < frames.count; i++) {
		uint32_t place = ut_idmap_get(&s->code.frames, frames.items[i]);

		p->troubles.nameless += !place;
		stack = ut_stacks_site(&t->stacks, &t->arena, stack, place);
	}
	if (iid && stack)
		ut_idmap_put(&s->code.stacks, iid, stack);
	free(frames.items);
}

static void intern_one(struct ut_pf *p, struct ut_pf_seq *s, const struct ut_pb_field *f)
{
	switch (f->number) {
	case INTERNED_FUNCTIONS:
		intern_string(p, &s->code.functions, ut_pb_inside(f));
		break;
	case INTERNED_MODULES:
		intern_string(p, &s->code.modules, ut_pb_inside(f));
		break;
	case INTERNED_SOURCES:
		intern_string(p, &s->code.sources, ut_pb_inside(f));
		break;
	case INTERNED_MAPPINGS:
		intern_mapping(p, s, ut_pb_inside(f));
		break;
	case INTERNED_FRAMES:
		intern_frame(p, s, ut_pb_inside(f));
		break;
	default:
		intern_callstack(p, s, ut_pb_inside(f));
		break;
	}
}

void ut_pf_intern_code(struct ut_pf *p, struct ut_pf_seq *s, struct ut_pb interned)
{
	static const uint8_t turn_of[32] = {
		[INTERNED_FUNCTIONS] = 1, [INTERNED_MODULES] = 1, [INTERNED_SOURCES] = 1,
		[INTERNED_MAPPINGS] = 2,  [INTERNED_FRAMES] = 3,  [INTERNED_CALLSTACKS] = 4,
	};
	struct ut_pb rest = interned;
	struct ut_pb_field f;
	bool any = false;

	while (!any && ut_pb_next(&rest, &f))
		any = f.number < 32 && turn_of[f.number];
	for (uint8_t turn = 1; any && turn <= 4; turn++) {
		rest = interned;
		while (ut_pb_next(&rest, &f)) {
			if (f.number < 32 && turn_of[f.number] == turn && f.wire == UT_PB_BYTES)
				intern_one(p, s, &f);
		}
	}
}

void ut_pf_code_clear(struct ut_pf_code *c)
{
	ut_idmap_clear(&c->functions);
	ut_idmap_clear(&c->modules);
	ut_idmap_clear(&c->sources);
	ut_idmap_clear(&c->mappings);
	ut_idmap_clear(&c->frames);
	ut_idmap_clear(&c->stacks);
}

void ut_pf_code_release(struct ut_pf_code *c)
{
	ut_idmap_release(&c->functions);
	ut_idmap_release(&c->modules);
	ut_idmap_release(&c->sources);
	ut_idmap_release(&c->mappings);
	ut_idmap_release(&c->frames);
	ut_idmap_release(&c->stacks);
}

/* ---- samples ------------------------------------------------------------------------------- */

struct sample {
	int64_t pid, tid;
	uint64_t uuid, weight;
	uint32_t stack, name, reason;
	bool ours;
};

/* What our exporter adds; false if nobody did. */
static void read_ours(struct ut_pf *p, const struct ut_pf_seq *s, struct ut_pb m, struct sample *to)
{
	struct ut_pb_field f;

	while (m.at && ut_pb_next(&m, &f)) {
		to->ours = true;
		if (f.number == OURS_TRACK)
			to->uuid = f.value;
		else if (f.number == OURS_NUMBER)
			to->weight = f.value;
		else if (f.number == OURS_NAME)
			to->name = ut_pf_string(p, &f);
		else if (f.number == OURS_REASON)
			to->reason = ut_pf_string(p, &f);
		else if (f.number == OURS_FACTS)
			ut_pf_annotation(p, s, ut_pb_inside(&f));
	}
}

void ut_pf_sample(struct ut_pf *p, struct ut_pf_seq *s, uint64_t ts, struct ut_pb m,
		  struct ut_pb ours)
{
	struct sample to = { .weight = 1 };
	struct ut_pb_field f;
	struct ut_type type = { .kind = UT_KIND_SAMPLE };
	uint32_t track;

	p->arg_count = 0;
	while (ut_pb_next(&m, &f)) {
		if (f.number == SAMPLE_PID)
			to.pid = (int64_t)f.value;
		else if (f.number == SAMPLE_TID)
			to.tid = (int64_t)f.value;
		else if (f.number == SAMPLE_CALLSTACK)
			to.stack = ut_idmap_get(&s->code.stacks, f.value);
	}
	read_ours(p, s, ours, &to);
	track = to.ours ? ut_pf_track(p, to.uuid)
			: ut_pf_thread(p, ut_pf_process(p, to.pid), to.tid);
	type.name = to.ours ? to.name : ut_strtab_intern_z(&ut_pf_trace(p)->strings, "perf_sample");
	type.cat = to.reason;
	ut_pf_add(p, track, ts, ut_sample_val(to.stack, to.weight), type);
	p->arg_count = 0;
}
