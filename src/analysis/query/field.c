#include "query/field.h"

#include <string.h>

bool ut_field_is_text(enum ut_field f)
{
	return f == UT_FIELD_ARGS || f == UT_FIELD_NAME || f == UT_FIELD_CAT ||
	       f == UT_FIELD_KIND || f == UT_FIELD_SCOPE || f == UT_FIELD_TRACK_NAME ||
	       f == UT_FIELD_THREAD_NAME || f == UT_FIELD_PROCESS_NAME || f == UT_FIELD_UNIT ||
	       f == UT_FIELD_WEIGHT_UNIT;
}

static struct ut_str field_text(const char *s)
{
	return (struct ut_str){ s, strlen(s) };
}

struct ut_str ut_field_kind_name(uint8_t kind)
{
	static const char *const names[] = {
#define KIND_NAME(kind, name, val) name,
		UT_KIND_LIST(KIND_NAME)
#undef KIND_NAME
	};

	return field_text(kind < UT_KIND_COUNT ? names[kind] : "unknown");
}

static struct ut_str scope_name(uint8_t flags)
{
	return field_text(flags & UT_EV_SCOPE_GLOBAL    ? "global"
			  : flags & UT_EV_SCOPE_PROCESS ? "process"
							: "thread");
}

static struct ut_datum string_id(uint32_t id)
{
	return id ? ut_datum_int(id) : (struct ut_datum){ 0 };
}

/* Fields of other levels are the caller's mistake and come out as NULL. */
struct ut_datum ut_field_of_type(const struct ut_qtrace *trace, uint32_t type, enum ut_field f)
{
	uint32_t number = type < trace->store->types.count ? type : 0;
	const struct ut_type *t = ut_store_type(trace->store, number);

	if (f == UT_FIELD_NAME)
		return ut_datum_text(trace->names[number]);
	if (f == UT_FIELD_CAT)
		return ut_datum_text(trace->cats[number]);
	if (f == UT_FIELD_NAME_ID || f == UT_FIELD_CAT_ID)
		return string_id(f == UT_FIELD_NAME_ID ? t->name : t->cat);
	if (f == UT_FIELD_KIND)
		return ut_datum_text(ut_field_kind_name(t->kind));
	if (f == UT_FIELD_ASYNC)
		return ut_datum_int(t->kind == UT_KIND_ASYNC_BEGIN ||
				    t->kind == UT_KIND_ASYNC_INSTANT);
	if (f == UT_FIELD_INSTANT)
		return ut_datum_int(t->kind == UT_KIND_INSTANT || t->kind == UT_KIND_ASYNC_INSTANT);
	if (f == UT_FIELD_NOT_WORK)
		return ut_datum_int((t->flags & UT_EV_NOT_WORK) != 0);
	if (f == UT_FIELD_SCOPE)
		return ut_datum_text(scope_name(t->flags));
	if (f == UT_FIELD_WEIGHT_UNIT)
		return ut_datum_text(field_text(ut_sample_unit(trace->names[number])));
	return (struct ut_datum){ 0 };
}

static struct ut_datum track_id(const struct ut_traces *t, const struct ut_qtrack *track,
				enum ut_field f)
{
	bool thread = track->track->type == UT_TRACK_THREAD;

	if (f == UT_FIELD_TRACE)
		return ut_datum_int(track->trace);
	if (f == UT_FIELD_UPID)
		return ut_datum_int(track->process);
	if (f == UT_FIELD_TRACK || (f == UT_FIELD_UTID && thread))
		return ut_datum_int(track - t->tracks);
	if (f == UT_FIELD_TID && thread)
		return track->tid;
	return (struct ut_datum){ 0 };
}

struct ut_datum ut_field_of_track(const struct ut_traces *t, const struct ut_qtrack *track,
				  enum ut_field f)
{
	const struct ut_strtab *strings = &t->traces[track->trace].store->trace.strings;
	const struct ut_qprocess *process = &t->processes[track->process];

	if (f == UT_FIELD_PID)
		return process->pid;
	if (f == UT_FIELD_RANK && process->process->rank >= 0)
		return ut_datum_int(process->process->rank);
	if (f == UT_FIELD_PROCESS_NAME)
		return ut_datum_text(ut_strtab_get(strings, process->process->name));
	if (f == UT_FIELD_UNIT)
		return ut_datum_text(ut_strtab_get(strings, track->track->unit));
	if (f == UT_FIELD_TRACK_NAME ||
	    (f == UT_FIELD_THREAD_NAME && track->track->type == UT_TRACK_THREAD))
		return ut_datum_text(ut_strtab_get(strings, track->track->name));
	return track_id(t, track, f);
}

/* A span's own length is at hand; ts would be another look at memory. */
static int64_t row_dur(const struct ut_traces *t, const struct ut_place *p, uint8_t kind)
{
	if (kind == UT_KIND_SPAN)
		return ut_datum_clamp(p->block->val[p->i]);
	return ut_datum_clamp(ut_place_end(t, p) - p->block->ts[p->i]);
}

static int64_t parent_of(const struct ut_traces *t, const struct ut_place *p)
{
	uint32_t parent = ut_traces_nest(t, p->track, false)->parent[p->row];

	return parent ? ut_datum_clamp(p->track->first_id + parent - 1) : -1;
}

int64_t ut_field_of_row(const struct ut_traces *t, const struct ut_place *p, enum ut_field f)
{
	uint8_t kind;

	if (f == UT_FIELD_ID)
		return ut_datum_clamp(ut_place_id(p));
	if (f == UT_FIELD_TS)
		return ut_datum_clamp(p->block->ts[p->i]);
	if (f == UT_FIELD_END)
		return ut_datum_clamp(ut_place_end(t, p));
	kind = ut_place_type(p)->kind;
	if (f == UT_FIELD_DUR || (f == UT_FIELD_SELF && kind == UT_KIND_ASYNC_BEGIN))
		return row_dur(t, p, kind);
	if (f == UT_FIELD_SELF)
		return ut_datum_clamp(ut_traces_nest(t, p->track, true)->self[p->row]);
	if (f == UT_FIELD_DEPTH)
		return ut_traces_nest(t, p->track, false)->depth[p->row];
	if (f == UT_FIELD_PARENT)
		return parent_of(t, p);
	return 0;
}

bool ut_field_unfinished(const struct ut_traces *t, const struct ut_place *p)
{
	const struct ut_type *type = ut_place_type(p);

	if (type->kind == UT_KIND_ASYNC_BEGIN &&
	    ut_traces_ends(t, p->track)[p->row].ts == UINT64_MAX)
		return true;
	return (type->flags & UT_EV_UNFINISHED) != 0;
}
