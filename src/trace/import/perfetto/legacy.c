/*
 * legacy.c - track events in the manner of Chrome's JSON: a phase letter, ids that pair
 * asynchronous events, arrows by number. Chrome itself still writes them.
 */
#include "base/hash.h"
#include "import/perfetto/track_event.h"
#include "model/perfetto_fields.h"

enum scope {
	SCOPE_GLOBAL = 1,
	SCOPE_PROCESS = 2,
};

struct legacy {
	uint32_t name;  /* string id */
	int phase;      /* 0 = none */
	uint64_t us;    /* duration */
	uint64_t id;    /* of async events, flows and objects */
	bool is_local;  /* the id is known in its process only */
	uint32_t scope; /* of the id: string id */
	uint64_t bind_id, direction, instant_scope;
	bool has_bind, has_pid, has_tid;
	int64_t pid, tid; /* of another thread than the one that writes */
};

static struct legacy read_legacy(struct ut_pf *p, const struct ut_pf_seq *s, struct ut_pb m)
{
	struct legacy l = { 0 };
	struct ut_pb_field f;

	while (ut_pb_next(&m, &f)) {
		switch (f.number) {
		case LEGACY_NAME_IID:
			l.name = ut_pf_interned(p, &s->names, f.value);
			break;
		case LEGACY_PHASE:
			l.phase = (int)(f.value & 0x7f);
			break;
		case LEGACY_DURATION_US:
			l.us = f.value;
			break;
		case LEGACY_ID:
		case LEGACY_GLOBAL_ID:
		case LEGACY_LOCAL_ID:
			l.id = f.value;
			l.is_local = f.number == LEGACY_LOCAL_ID;
			break;
		case LEGACY_SCOPE:
			l.scope = ut_pf_string(p, &f);
			break;
		case LEGACY_BIND_ID:
			l.bind_id = f.value;
			l.has_bind = true;
			break;
		case LEGACY_DIRECTION:
			l.direction = f.value;
			break;
		case LEGACY_INSTANT_SCOPE:
			l.instant_scope = f.value;
			break;
		case LEGACY_PID:
			l.pid = (int32_t)f.value;
			l.has_pid = true;
			break;
		case LEGACY_TID:
			l.tid = (int32_t)f.value;
			l.has_tid = true;
			break;
		default:
			break;
		}
	}
	return l;
}

/* What a number stands for, so that numbers of different kinds are not taken for the same. */
enum what {
	WHAT_ASYNC,
	WHAT_COUNTER,
	WHAT_PROCESS,
	WHAT_FLOW,
	WHAT_BOUND_FLOW,
};

static uint64_t legacy_hash_of(enum what what, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	const uint64_t all[] = { what, a, b, c, d };

	return ut_hash_bytes(all, sizeof(all));
}

/* Events may be written on behalf of another thread. */
static uint32_t legacy_track_of(struct ut_pf *p, const struct ut_pf_seq *s, struct ut_pf_parts *e,
				const struct legacy *l)
{
	uint32_t track = ut_pf_track_of(p, s, e), process;

	if (!l->has_pid && !l->has_tid)
		return track;
	process = l->has_pid ? ut_pf_process(p, l->pid) : ut_pf_process_of(p, track);
	track = ut_pf_thread(p, process, l->has_tid ? l->tid : l->pid);
	e->track = track + 1;
	return track;
}

/*
 * The lane of an async event: begins and ends find each other by category and id, those of the
 * older kind (phases S, T, p, F) by their name as well.
 */
static uint32_t async_lane(struct ut_pf *p, uint32_t track, const struct ut_pf_parts *e,
			   const struct legacy *l, bool by_name)
{
	uint32_t process = ut_pf_process_of(p, track);
	uint64_t group = (uint64_t)e->cat << 32 | l->scope;

	return ut_pf_lane(p,
			  legacy_hash_of(WHAT_ASYNC, l->is_local ? process : UINT32_MAX, group,
					 l->id, by_name ? e->name : 0),
			  process, e->name);
}

static void add_flow(struct ut_pf *p, uint32_t track, uint64_t ts, uint64_t id,
		     enum ut_pf_flow_end end)
{
	ut_pf_add_flow(p, (struct ut_pf_flow){ id, ts, track, (uint8_t)end });
}

/* Arrows that hang on an event of any kind. */
static void add_bound_flow(struct ut_pf *p, uint32_t track, uint64_t ts, const struct legacy *l)
{
	static const enum ut_pf_flow_end ends[] = { UT_PF_FLOW_ANY, UT_PF_FLOW_IN, UT_PF_FLOW_OUT,
						    UT_PF_FLOW_STEP };

	if (l->has_bind && l->direction && l->direction < 4)
		add_flow(p, track, ts, legacy_hash_of(WHAT_BOUND_FLOW, l->bind_id, 0, 0, 0),
			 ends[l->direction]);
}

/* Each number among the arguments is a counter. */
static void add_counters(struct ut_pf *p, uint32_t track, const struct ut_pf_parts *e)
{
	uint32_t process = ut_pf_process_of(p, track);

	for (size_t i = 0; i < p->arg_count; i++) {
		const struct ut_arg *a = &p->args[i];
		uint32_t counter =
			ut_pf_lane(p, legacy_hash_of(WHAT_COUNTER, process, e->name, a->key, 0),
				   process, e->name);

		ut_pf_at(p, counter)->kind = UT_PF_COUNTER;
		ut_pf_at(p, counter)->unit = p->arg_count > 1 ? a->key : 0;
		if (a->type == UT_ARG_F64)
			ut_pf_add_double(p, counter, e->ts, a->value.f64, e->cat);
		else if (a->type == UT_ARG_U64 || a->type == UT_ARG_I64)
			ut_pf_add_number(p, counter, e->ts, a->value.i64, e->cat);
	}
}

static void add_plain(struct ut_pf *p, uint32_t track, const struct ut_pf_parts *e, uint64_t val,
		      int kind)
{
	ut_pf_add(
		p, track, e->ts, val,
		(struct ut_type){
			.name = e->name, .cat = e->cat, .kind = (uint8_t)kind, .flags = e->flags });
}

/* Begin, instant or end of something that is no call on a thread. */
static uint32_t add_async(struct ut_pf *p, uint32_t track, const struct ut_pf_parts *e,
			  const struct legacy *l)
{
	uint32_t lane;

	switch (l->phase) {
	case 'b':
	case 'S':
		lane = async_lane(p, track, e, l, l->phase == 'S');
		add_plain(p, lane, e, 0, UT_RAW_BEGIN);
		break;
	case 'e':
	case 'F':
		lane = async_lane(p, track, e, l, l->phase == 'F');
		ut_pf_add(p, lane, e->ts, 0, (struct ut_type){ .kind = UT_RAW_END });
		break;
	default:
		lane = async_lane(p, track, e, l, l->phase != 'n');
		add_plain(p, lane, e, 0, UT_KIND_INSTANT);
		break;
	}
	return lane;
}

static void add_object(struct ut_pf *p, uint32_t track, const struct ut_pf_parts *e,
		       const struct legacy *l)
{
	int kind = l->phase == 'N'   ? UT_KIND_OBJECT_NEW
		   : l->phase == 'D' ? UT_KIND_OBJECT_GONE
				     : UT_KIND_OBJECT_STATE;

	add_plain(p, track, e, l->id, kind);
}

/* False if the phase says nothing that we know. */
static bool add_phase(struct ut_pf *p, uint32_t *track, struct ut_pf_parts *e,
		      const struct legacy *l)
{
	switch (l->phase) {
	case 'B':
		add_plain(p, *track, e, 0, UT_RAW_BEGIN);
		break;
	case 'E':
		ut_pf_add(p, *track, e->ts, 0, (struct ut_type){ .kind = UT_RAW_END });
		break;
	case 'X':
		add_plain(p, *track, e, l->us * 1000, UT_KIND_SPAN);
		break;
	case 'i':
	case 'I':
	case 'R':
		add_plain(p, *track, e, 0, UT_KIND_INSTANT);
		break;
	case 'C':
		add_counters(p, *track, e);
		break;
	case 'b':
	case 'e':
	case 'n':
	case 'S':
	case 'T':
	case 'p':
	case 'F':
		*track = add_async(p, *track, e, l);
		break;
	case 's':
	case 't':
	case 'f':
		add_flow(p, *track, e->ts, legacy_hash_of(WHAT_FLOW, l->id, e->cat, e->name, 0),
			 l->phase == 's'   ? UT_PF_FLOW_OUT
			 : l->phase == 't' ? UT_PF_FLOW_STEP
					   : UT_PF_FLOW_IN);
		break;
	case 'N':
	case 'O':
	case 'D':
		add_object(p, *track, e, l);
		break;
	default: /* metadata, samples, memory dumps */
		return false;
	}
	return true;
}

/* What concerns the process or everybody lies where other events of that kind lie. */
static uint32_t scope_track(struct ut_pf *p, uint32_t track, const struct legacy *l,
			    struct ut_pf_parts *e)
{
	uint32_t process;

	if (l->instant_scope == SCOPE_GLOBAL) {
		e->flags |= UT_EV_SCOPE_GLOBAL;
		return ut_pf_track(p, 0);
	}
	e->flags |= UT_EV_SCOPE_PROCESS;
	process = ut_pf_process_of(p, track);
	return ut_pf_lane(p, legacy_hash_of(WHAT_PROCESS, process, 0, 0, 0), process,
			  ut_strtab_intern_z(&ut_pf_trace(p)->strings, "process"));
}

bool ut_pf_legacy(struct ut_pf *p, struct ut_pf_seq *s, struct ut_pf_parts *e)
{
	struct legacy l = read_legacy(p, s, e->legacy);
	uint32_t track = legacy_track_of(p, s, e, &l);
	bool known = false;

	if (l.name && !e->name)
		e->name = l.name;
	if (l.instant_scope == SCOPE_GLOBAL || l.instant_scope == SCOPE_PROCESS) {
		track = scope_track(p, track, &l, e);
		e->track = track + 1;
	}
	if (l.phase) {
		known = add_phase(p, &track, e, &l);
		p->troubles.legacy += !known;
	}
	add_bound_flow(p, track, e->ts, &l);
	return l.phase != 0;
}
