/*
 * append.c - commands that are put into a list: what they are, and by which event it will be known
 * when they ran.
 *
 * A command without an event gets one of ours. If the program gives one that has timestamps, that
 * is used. One that has none is signaled by a command of its own, behind the one that it was meant
 * for, which gets ours: for events that count, and such as are shared with other processes.
 */
#include <string.h>

#include "backend/levelzero/ze_list.h"
#include "backend/levelzero/ze_measure.h"
#include "backend/levelzero/ze_memory.h"

/* CUPTI counts calls in 32 bits, OpenCL's begin behind them: these must not meet either. */
#define FIRST_CORRELATION (UINT64_C(1) << 36)

static _Atomic uint64_t last_correlation;

uint64_t ut_ze_correlation(void)
{
	return FIRST_CORRELATION + ((uint64_t)ut_ze_instance << 34) +
	       atomic_fetch_add_explicit(&last_correlation, 1, memory_order_relaxed) + 1;
}

/* ---- what the command is ------------------------------------------------------------------- */

/* An immediate list runs it now, so a pause counts now; of others it counts when they are executed.
 */
bool ut_ze_append_opens(struct ut_ze_append *a, ze_handle list, ze_handle event)
{
	struct ut_ze_list *l = ut_ze.work ? ut_ze_list_find(list) : NULL;

	a->handle = list;
	a->given = event;
	a->list = l;
	a->reported = ut_ze.calls || ut_ze.submits;
	if (!l || !l->device || l->capturing || (l->immediate ? !ut_ze.host->on() : !l->program))
		return false;
	a->opens = true;
	a->command.name = ut_ze.names[a->id];
	a->command.kind = UT_WORK_OTHER;
	return true;
}

void ut_ze_say_work(struct ut_ze_append *a, enum ut_work_kind kind)
{
	a->command.kind = (uint8_t)kind;
}

static uint8_t memory_kind(const struct ut_ze_append *a, const void *at)
{
	struct ze_memory_properties p = { .type = ZE_MEMORY_PROPERTIES };
	ze_handle device = NULL;

	if (UT_ZE(zeMemGetAllocProperties)(ut_ze_handle(&a->list->context->item), at, &p,
					   &device) ||
	    p.kind > ZE_MEMORY_SHARED)
		return 1 + ZE_MEMORY_UNKNOWN;
	return (uint8_t)(1 + p.kind);
}

/* Names with where the bytes come from and go to, as Intel's unitrace has them. */
static uint32_t moved_name(enum ut_ze_id id, uint8_t from, uint8_t to)
{
	static const char letters[] = "MHDS";
	static _Atomic uint32_t known[UT_ZE_COUNT][5][5];
	_Atomic uint32_t *name = &known[id][from][to];
	const char *function = ut_ze_function(id);
	char text[128], *end = text;
	size_t len = strlen(function);

	if (atomic_load_explicit(name, memory_order_relaxed) || len > 100)
		return atomic_load_explicit(name, memory_order_relaxed);
	memcpy(end, function, len);
	end += len;
	*end++ = '(';
	if (from) {
		*end++ = letters[from - 1];
		*end++ = '2';
	}
	*end++ = letters[to - 1];
	*end++ = ')';
	atomic_store_explicit(name, ut_ze.host->name(text, (size_t)(end - text)),
			      memory_order_relaxed);
	return atomic_load_explicit(name, memory_order_relaxed);
}

void ut_ze_say_copy(struct ut_ze_append *a, const void *to, const void *from, uint64_t bytes)
{
	struct ut_ze_command *c = &a->command;

	c->kind = UT_WORK_COPY;
	c->bytes = bytes;
	c->from = memory_kind(a, from);
	c->to = memory_kind(a, to);
	c->name = moved_name(a->id, c->from, c->to);
}

void ut_ze_say_image(struct ut_ze_append *a, ze_handle image, const void *region)
{
	a->command.kind = UT_WORK_COPY;
	a->command.bytes = ut_ze_image_bytes(image, region);
}

void ut_ze_say_fill(struct ut_ze_append *a, const void *to, uint64_t bytes)
{
	a->command.kind = UT_WORK_FILL;
	a->command.bytes = bytes;
	a->command.to = memory_kind(a, to);
	a->command.name = moved_name(a->id, 0, a->command.to);
}

void ut_ze_say_kernel(struct ut_ze_append *a, ze_handle kernel, const void *groups,
		      const struct ze_group *sizes)
{
	struct ut_ze_kernel *k = ut_ze_kernel_find(kernel);

	a->command.kind = UT_WORK_KERNEL;
	if (!k) /* will be refused */
		return;
	a->command.kernel = atomic_load(&k->facts);
	if (a->command.kernel)
		a->command.name = a->command.kernel->name;
	a->command.silent = !atomic_load(&k->wanted);
	a->command.shape = ut_ze_shape(k, groups, sizes);
}

/* ---- by which event it is known ------------------------------------------------------------ */

/*
 * The event is about to be reset or signaled again by a command of an immediate list: what it
 * stands for is told, or its timestamps are put aside by a command in front, if the list keeps
 * order.
 */
static void rescue(struct ut_ze_event *e, struct ut_ze_list *l)
{
	struct ut_ze_run *r = atomic_load(&e->run);

	if (r)
		(void)ut_ze_stream_visit(r->stream, 0);
	r = atomic_load(&e->run);
	if (r && l->in_order && r->stream == &l->stream &&
	    ut_ze_readout_works(l->device, l->ordinal))
		(void)ut_ze_readout_append(r, ut_ze_handle(&l->item));
	r = atomic_load(&e->run);
	if (r)
		ut_ze_run_forget_event(r, e->index);
}

/* The program uses an event again before we know when it was signaled. */
static void use_again(struct ut_ze_append *a, struct ut_ze_event *e)
{
	if (!atomic_load(&e->run) || !ut_ze_lock(UT_ZE_LONG_PATIENCE))
		return;
	if (a->list->immediate)
		rescue(e, a->list);
	ut_ze_unlock();
}

static void choose_event(struct ut_ze_append *a)
{
	struct ut_ze_event *e = ut_ze_event_find(a->given);

	if (e && e->timed) {
		use_again(a, e);
		a->command.event = e;
		return;
	}
	a->command.event = ut_ze_event_take(a->list->context);
	a->swapped = a->given && a->command.event;
}

ze_handle ut_ze_append_begin(struct ut_ze_append *a)
{
	struct ut_ze_command *c = &a->command;

	if (a->opens) {
		choose_event(a);
		if (ut_ze.query && c->kernel && !c->silent)
			c->query = ut_ze_query_take(a->list->context, a->list->device, c->kernel);
		if (c->query && !ut_ze_query_begin(c->query, a->handle, a->list->in_order)) {
			ut_ze_query_give(c->query, false);
			c->query = NULL;
		}
		if (a->list->immediate)
			a->correlation = ut_ze_correlation();
	}
	if (a->reported)
		ut_ze.host->call_begin(ut_ze.api, ut_ze.names[a->id], a->correlation);
	if (a->opens)
		c->appended = ut_ze.host->now();
	return a->opens && c->event ? c->event->handle : a->given;
}

/* ---- what becomes of it -------------------------------------------------------------------- */

static void take_back(struct ut_ze_append *a)
{
	if (a->command.event && a->command.event->own)
		ut_ze_event_give(a->command.event);
	if (a->command.query)
		ut_ze_query_give(a->command.query, false);
}

static bool append_make_room(struct ut_ze_program *p)
{
	uint32_t room = p->room ? 2 * p->room : 16;
	struct ut_ze_command *more;

	if (p->count < p->room)
		return true;
	more = ut_ze_alloc(room * sizeof(*more));
	if (!more)
		return false;
	if (p->count)
		memcpy(more, p->commands, p->count * sizeof(*more));
	ut_ze_free(p->commands, p->room * sizeof(*more));
	p->commands = more;
	p->room = room;
	return true;
}

/* Into a list that will be executed later. Nobody else looks at one that is being filled. */
static bool append_keep(struct ut_ze_append *a)
{
	struct ut_ze_program *p = a->list->program;

	if (!append_make_room(p))
		return false;
	a->command.mutable_id = a->list->next_id;
	a->list->next_id = 0;
	p->commands[p->count++] = a->command;
	return true;
}

static bool append_start(struct ut_ze_append *a)
{
	struct ut_ze_stream *s = &a->list->stream;
	struct ut_ze_run *r = ut_ze_run_new();

	if (!r)
		return false;
	r->one = a->command;
	r->thread = ut_ze_thread();
	r->correlation = a->correlation;
	r->submitted = a->command.appended;
	r->number = 1;
	ut_ze_run_submit(s, r);
	if (s->synchronous)
		ut_ze_stream_waited(s, 0);
	return true;
}

/* The program waits for its own event: if that cannot be signaled it has to know. */
static ze_result signal_given(const struct ut_ze_append *a)
{
	ze_handle own = a->command.event->handle;
	const struct ut_ze_event *e = ut_ze_event_find(a->given);

	if (e && e->counted)
		return UT_ZE(zeCommandListAppendSignalEvent)(a->handle, a->given);
	return UT_ZE(zeCommandListAppendBarrier)(a->handle, a->given, 1, &own);
}

ze_result ut_ze_append_done(struct ut_ze_append *a, ze_result rc)
{
	bool kept;

	if (!a->opens)
		return rc;
	if (rc) {
		take_back(a);
		return rc;
	}
	if (a->command.query && !ut_ze_query_end(a->command.query, a->handle, a->list->in_order))
		a->command.query = NULL;
	if (a->swapped)
		rc = signal_given(a);
	kept = a->list->immediate ? append_start(a) : append_keep(a);
	if (!kept) /* its event stays signaled for ever: it is lost with it */
		ut_ze_run_dropped(1);
	return rc;
}

/* ---- events that a list resets ------------------------------------------------------------- */

static void note_reset(struct ut_ze_program *p, struct ut_ze_event *e)
{
	uint32_t room = p->reset_room ? 2 * p->reset_room : 16;
	struct ut_ze_event **more;

	if (p->reset_count == p->reset_room) {
		more = ut_ze_alloc(room * sizeof(void *));
		if (!more)
			return;
		if (p->reset_count)
			memcpy(more, p->resets, p->reset_count * sizeof(void *));
		ut_ze_free(p->resets, p->reset_room * sizeof(void *));
		p->resets = more;
		p->reset_room = room;
	}
	p->resets[p->reset_count++] = e;
}

/* A command of this list has signaled it: its timestamps are put aside before they are gone. */
static void put_aside(struct ut_ze_list *l, struct ut_ze_event *e)
{
	struct ut_ze_program *p = l->program;
	struct ut_ze_command *c = NULL;
	ze_handle handle = e->handle;

	for (uint32_t i = p->count; i && !c; i--) {
		if (p->commands[i - 1].event == e && !p->commands[i - 1].slot)
			c = &p->commands[i - 1];
	}
	if (!c || !ut_ze_readout_works(l->device, l->ordinal))
		return;
	c->slot = ut_ze_slot_take(p->context, 1);
	if (!c->slot)
		return;
	if ((!l->in_order &&
	     UT_ZE(zeCommandListAppendBarrier)(ut_ze_handle(&l->item), NULL, 0, NULL)) ||
	    UT_ZE(zeCommandListAppendQueryKernelTimestamps)(ut_ze_handle(&l->item), 1, &handle,
							    c->slot->at, NULL, NULL, 0, NULL)) {
		ut_ze_slot_give(p->context, c->slot);
		c->slot = NULL;
	}
}

ze_result ut_zeCommandListAppendEventReset(ze_handle hCommandList, ze_handle hEvent)
{
	struct ut_ze_list *l = ut_ze_list_find(hCommandList);
	struct ut_ze_event *e = ut_ze_event_find(hEvent);

	if (l && l->device && e && e->timed && !l->capturing) {
		if (l->immediate && atomic_load(&e->run) && ut_ze_lock(UT_ZE_LONG_PATIENCE)) {
			rescue(e, l);
			ut_ze_unlock();
		} else if (!l->immediate && l->program) {
			put_aside(l, e);
			note_reset(l->program, e);
		}
	}
	return UT_ZE(zeCommandListAppendEventReset)(hCommandList, hEvent);
}
