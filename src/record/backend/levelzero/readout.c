/*
 * readout.c - timestamps that the device itself puts aside, because the events that hold them are
 * about to be signaled or reset again. A list that is executed again and again, without a wait in
 * between, shows each of its commands each time that way.
 *
 * A readout has a list of its own: a barrier, the query of all timestamps, a barrier, resets of the
 * events that are ours, and a last barrier that signals. If all events are ours it is kept and used
 * again; events of the program's may be read by the host first, so such a list is made each time.
 */
#include <string.h>

#include "backend/levelzero/ze_memory.h"
#include "backend/levelzero/ze_run.h"

#define MOST_READOUTS 4096u /* of a list: so many executions of it may be under way */

struct ut_ze_readout {
	struct ut_ze_readout *next;
	struct ut_ze_context *context;
	ze_handle list; /* NULL: its command is in a list of the program's */
	struct ut_ze_slot *slot;
	struct ut_ze_event *done;
	bool kept, busy;
};

/* ---- its commands -------------------------------------------------------------------------- */

/* Of ours all are read, in a list that is used again; of the program's those that nobody has. */
static bool is_read(const struct ut_ze_run *r, uint32_t i)
{
	const struct ut_ze_command *c = &r->commands[i];

	return c->event && !c->slot && (c->event->own || r->states[i] == UT_ZE_WAITING);
}

/* Those that follow each other are read by one command. */
static bool query_events(const struct ut_ze_run *r, const struct ut_ze_readout *o,
			 ze_handle *events)
{
	for (uint32_t i = 0; i < r->count; i++) {
		uint32_t n = 0;

		while (i + n < r->count && is_read(r, i + n)) {
			events[i + n] = r->commands[i + n].event->handle;
			n++;
		}
		if (n && UT_ZE(zeCommandListAppendQueryKernelTimestamps)(
				 o->list, n, &events[i], &o->slot->at[i], NULL, NULL, 0, NULL))
			return false;
		i += n;
	}
	return true;
}

static bool copy_slots(const struct ut_ze_run *r, const struct ut_ze_readout *o)
{
	for (uint32_t i = 0; i < r->count; i++) {
		const struct ut_ze_slot *s = r->commands[i].slot;

		if (s && UT_ZE(zeCommandListAppendMemoryCopy)(o->list, &o->slot->at[i], s->at,
							      sizeof(*s->at), NULL, 0, NULL))
			return false;
	}
	return true;
}

static bool reset_own(const struct ut_ze_run *r, const struct ut_ze_readout *o)
{
	const struct ut_ze_event *end = r->program->end;

	for (uint32_t i = 0; i < r->count; i++) {
		const struct ut_ze_event *e = r->commands[i].event;

		if (e && e->own && UT_ZE(zeCommandListAppendEventReset)(o->list, e->handle))
			return false;
	}
	return !end || !UT_ZE(zeCommandListAppendEventReset)(o->list, end->handle);
}

static bool append_barrier(const struct ut_ze_readout *o, const struct ut_ze_event *signal)
{
	return !UT_ZE(zeCommandListAppendBarrier)(o->list, signal ? signal->handle : NULL, 0, NULL);
}

static bool fill_list(const struct ut_ze_run *r, const struct ut_ze_readout *o)
{
	ze_handle *events = ut_ze_alloc(r->count * sizeof(*events));
	bool good = events && append_barrier(o, NULL) && query_events(r, o, events) &&
		    copy_slots(r, o) && append_barrier(o, NULL) && reset_own(r, o) &&
		    append_barrier(o, o->done) && !UT_ZE(zeCommandListClose)(o->list);

	ut_ze_free(events, r->count * sizeof(*events));
	return good;
}

/* ---- making them --------------------------------------------------------------------------- */

static void unmake(struct ut_ze_readout *o)
{
	if (o->list)
		(void)UT_ZE(zeCommandListDestroy)(o->list);
	if (o->done)
		ut_ze_event_give(o->done);
	ut_ze_slot_give(o->context, o->slot);
	ut_ze_free(o, sizeof(*o));
}

static struct ut_ze_readout *readout_make(struct ut_ze_context *c, uint32_t count)
{
	struct ut_ze_readout *o = ut_ze_alloc(sizeof(*o));

	if (!o)
		return NULL;
	o->context = c;
	o->slot = ut_ze_slot_take(c, count);
	o->done = o->slot ? ut_ze_event_take(c) : NULL;
	if (!o->done) {
		unmake(o);
		return NULL;
	}
	return o;
}

static bool make_list(struct ut_ze_readout *o, const struct ut_ze_program *p)
{
	const struct ze_list_desc desc = { .type = ZE_LIST_DESC, .ordinal = p->ordinal };
	struct ut_ze_new *list = NULL;

	if (UT_ZE(zeCommandListCreate)(ut_ze_handle(&o->context->item),
				       ut_ze_handle(&p->device->item), &desc, &list))
		return false;
	o->list = list;
	return true;
}

static bool is_all_ours(const struct ut_ze_program *p)
{
	for (uint32_t i = 0; i < p->count; i++) {
		if (p->commands[i].event && !p->commands[i].event->own)
			return false;
	}
	return true;
}

static struct ut_ze_readout *make_for(struct ut_ze_run *r)
{
	struct ut_ze_program *p = r->program;
	struct ut_ze_readout *o = readout_make(p->context, r->count);

	if (!o)
		return NULL;
	if (!make_list(o, p) || !fill_list(r, o)) {
		unmake(o);
		return NULL;
	}
	o->kept = is_all_ours(p);
	if (o->kept) {
		o->next = p->readouts;
		p->readouts = o;
	}
	return o;
}

static void start_reading(struct ut_ze_run *r, struct ut_ze_readout *o)
{
	o->busy = true;
	r->readout = o;
	for (uint32_t i = 0; i < r->count; i++) {
		struct ut_ze_event *e = r->commands[i].event;

		if (r->states[i] != UT_ZE_WAITING || (!e && !r->commands[i].slot))
			continue;
		r->states[i] = UT_ZE_READING;
		if (e && !e->own && atomic_load(&e->run) == r)
			atomic_store(&e->run, NULL);
	}
}

/* Timestamps are queried by a kernel of the driver's: on an engine that only copies it must not
 * run.
 */
bool ut_ze_readout_works(const struct ut_ze_device *d, uint32_t ordinal)
{
	return ordinal < UT_ZE_GROUPS && d->groups[ordinal] & ZE_GROUP_COMPUTE;
}

struct ut_ze_readout *ut_ze_readout_for(struct ut_ze_run *r)
{
	struct ut_ze_readout *o = r->program->readouts;
	uint32_t made = 0;

	if (r->readout || !ut_ze_readout_works(r->program->device, r->program->ordinal))
		return NULL;
	for (; o && o->busy; o = o->next)
		made++;
	if (!o && made < MOST_READOUTS)
		o = make_for(r);
	if (o)
		start_reading(r, o);
	return o;
}

bool ut_ze_readout_append(struct ut_ze_run *r, ze_handle list)
{
	struct ut_ze_event *e = r->one.event;
	struct ut_ze_readout *o;
	ze_handle handle;

	if (r->program || r->readout || !e || r->one_state != UT_ZE_WAITING)
		return false;
	o = readout_make(e->context, 1);
	if (!o)
		return false;
	handle = e->handle;
	if (UT_ZE(zeCommandListAppendQueryKernelTimestamps)(list, 1, &handle, o->slot->at, NULL,
							    o->done->handle, 0, NULL)) {
		unmake(o);
		return false;
	}
	start_reading(r, o);
	return true;
}

/* ---- using them ---------------------------------------------------------------------------- */

ze_handle ut_ze_readout_list(const struct ut_ze_readout *o)
{
	return o->list;
}

void ut_ze_readout_cancel(struct ut_ze_run *r)
{
	struct ut_ze_readout *o = r->readout;

	if (!o)
		return;
	for (uint32_t i = 0; i < r->count; i++) {
		struct ut_ze_event *e = r->commands[i].event;

		if (r->states[i] != UT_ZE_READING)
			continue;
		r->states[i] = UT_ZE_WAITING;
		if (e && !e->own) {
			e->index = i;
			atomic_store(&e->run, r);
		}
	}
	r->readout = NULL;
	ut_ze_readout_give(o);
}

bool ut_ze_readout_done(const struct ut_ze_readout *o, bool proven)
{
	return proven || !UT_ZE(zeEventQueryStatus)(o->done->handle);
}

void ut_ze_readout_get(const struct ut_ze_readout *o, uint32_t index, struct ze_timestamps *t)
{
	memcpy(t, &o->slot->at[index], sizeof(*t));
}

void ut_ze_readout_give(struct ut_ze_readout *o)
{
	if (o->kept)
		o->busy = UT_ZE(zeEventHostReset)(o->done->handle) != ZE_SUCCESS;
	else
		unmake(o);
}

void ut_ze_readouts_drop(struct ut_ze_program *p)
{
	struct ut_ze_readout *o = p->readouts, *next;

	for (; o; o = next) {
		next = o->next;
		unmake(o);
	}
	p->readouts = NULL;
}
