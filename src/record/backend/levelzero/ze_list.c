/* ze_list.c - the program's lists: made, closed, reset, destroyed. */
#include "backend/levelzero/ze_list.h"

#include <string.h>

#include "backend/levelzero/ze_memory.h"

static struct ut_handle_table lists = { .size = sizeof(struct ut_ze_list) };

struct ut_ze_list *ut_ze_list_find(ze_handle list)
{
	return list ? ut_handle_find(&lists, list) : NULL;
}

/* ---- made ---------------------------------------------------------------------------------- */

static struct ut_ze_program *new_program(const struct ut_ze_list *l)
{
	struct ut_ze_program *p = ut_ze_alloc(sizeof(*p));

	if (!p)
		return NULL;
	p->references = 1;
	p->context = l->context;
	p->device = l->device;
	p->ordinal = l->ordinal;
	return p;
}

static struct ut_ze_list *ze_list_meet(ze_handle list, ze_handle context, ze_handle device)
{
	struct ut_ze_list *l = ut_handle_item_of(&lists, list);

	if (!l)
		return NULL;
	l->context = ut_ze_context_of(context);
	l->device = ut_ze_device_find(device);
	l->immediate = l->in_order = l->capturing = false;
	l->next_id = 0;
	l->program = NULL;
	if (!l->context)
		l->device = NULL;
	atomic_store(&l->live, true);
	return l;
}

ze_result ut_zeCommandListCreate(ze_handle hContext, ze_handle hDevice, const void *desc,
				 ze_made phCommandList)
{
	ze_result rc = UT_ZE(zeCommandListCreate)(hContext, hDevice, desc, phCommandList);
	const struct ze_list_desc *d = desc;
	struct ut_ze_list *l;

	if (rc || !ut_ze.work || !phCommandList)
		return rc;
	l = ze_list_meet(*phCommandList, hContext, hDevice);
	if (l) {
		l->ordinal = d ? d->ordinal : 0;
		l->in_order = d && d->flags & ZE_LIST_IN_ORDER;
		l->program = l->device ? new_program(l) : NULL;
	}
	return rc;
}

ze_result ut_zeCommandListCreateImmediate(ze_handle hContext, ze_handle hDevice,
					  const void *altdesc, ze_made phCommandList)
{
	ze_result rc =
		UT_ZE(zeCommandListCreateImmediate)(hContext, hDevice, altdesc, phCommandList);
	const struct ze_queue_desc *d = altdesc;
	struct ut_ze_list *l;

	if (rc || !ut_ze.work || !phCommandList)
		return rc;
	l = ze_list_meet(*phCommandList, hContext, hDevice);
	if (l) {
		l->immediate = true;
		l->ordinal = d ? d->ordinal : 0;
		l->in_order = d && d->flags & ZE_QUEUE_IN_ORDER;
		l->stream.device = l->device;
		l->stream.ordered = l->in_order;
		l->stream.synchronous = d && d->mode == ZE_QUEUE_SYNCHRONOUS;
		l->stream.last_end = 0;
		l->stream.row = ut_ze_device_row(l->device, l->ordinal, d ? d->index : 0);
		ut_ze_stream_add(&l->stream);
	}
	return rc;
}

/* Its commands signal the same events: whichever of the two is executed, it is a run of both. */
ze_result ut_zeCommandListCreateCloneExp(ze_handle hCommandList, ze_made phClonedCommandList)
{
	ze_result rc = UT_ZE(zeCommandListCreateCloneExp)(hCommandList, phClonedCommandList);
	struct ut_ze_list *from = ut_ze_list_find(hCommandList), *l;

	if (rc || !from || !phClonedCommandList || !ut_ze_lock(UT_ZE_LONG_PATIENCE))
		return rc;
	l = ut_handle_item_of(&lists, *phClonedCommandList);
	if (l) {
		l->context = from->context;
		l->device = from->device;
		l->ordinal = from->ordinal;
		l->immediate = l->capturing = false;
		l->in_order = from->in_order;
		l->program = from->program;
		if (l->program)
			l->program->references++;
		atomic_store(&l->live, true);
	}
	ut_ze_unlock();
	return rc;
}

/* ---- closed, reset, destroyed -------------------------------------------------------------- */

/* What the list puts aside itself can be read when the list is through. */
static void mark_end(struct ut_ze_list *l)
{
	struct ut_ze_program *p = l->program;
	bool slots = false;

	for (uint32_t i = 0; p && !p->end && i < p->count; i++)
		slots |= p->commands[i].slot != NULL;
	if (!slots)
		return;
	p->end = ut_ze_event_take(p->context);
	if (p->end &&
	    UT_ZE(zeCommandListAppendBarrier)(ut_ze_handle(&l->item), p->end->handle, 0, NULL)) {
		ut_ze_event_give(p->end);
		p->end = NULL;
	}
}

ze_result ut_zeCommandListClose(ze_handle hCommandList)
{
	struct ut_ze_list *l = ut_ze_list_find(hCommandList);

	if (l && l->program)
		mark_end(l);
	return UT_ZE(zeCommandListClose)(hCommandList);
}

/* The program knows that the list is not being executed: what was is told, or given up. */
static void ze_list_finish(struct ut_ze_program *p)
{
	struct ut_ze_run *r = p->run;

	if (!r)
		return;
	(void)ut_ze_stream_visit(r->stream, 0);
	if (p->run)
		ut_ze_run_give_up(p->run);
	p->run = NULL;
}

static void ze_list_leave(struct ut_ze_program *p)
{
	if (!p || !ut_ze_lock(UT_ZE_LONG_PATIENCE))
		return;
	ze_list_finish(p);
	ut_ze_program_drop(p);
	ut_ze_unlock();
}

/* The driver forgets the commands before their events are used for others. */
ze_result ut_zeCommandListReset(ze_handle hCommandList)
{
	struct ut_ze_list *l = ut_ze_list_find(hCommandList);
	struct ut_ze_program *p = l ? l->program : NULL;
	ze_result rc = UT_ZE(zeCommandListReset)(hCommandList);

	if (l && !l->immediate) {
		l->program = l->device ? new_program(l) : NULL;
		ze_list_leave(p);
	}
	return rc;
}

/* What we know goes first: as soon as the list is gone another thread may get its handle. */
ze_result ut_zeCommandListDestroy(ze_handle hCommandList)
{
	struct ut_ze_list *l = ut_ze_list_find(hCommandList);
	struct ut_ze_program *p = l ? l->program : NULL;
	ze_result rc;

	if (l && atomic_exchange(&l->live, false)) {
		l->program = NULL;
		if (l->immediate)
			ut_ze_stream_waited(&l->stream, 0);
	}
	rc = UT_ZE(zeCommandListDestroy)(hCommandList);
	ze_list_leave(p);
	return rc;
}

ze_result ut_zeCommandListHostSynchronize(ze_handle hCommandList, uint64_t timeout)
{
	struct ut_ze_list *l = ut_ze_list_find(hCommandList);
	uint64_t submitted = l ? atomic_load(&l->stream.submitted) : 0;
	ze_result rc = UT_ZE(zeCommandListHostSynchronize)(hCommandList, timeout);

	if (rc == ZE_SUCCESS && l && l->immediate)
		ut_ze_stream_waited(&l->stream, submitted);
	return rc;
}

/* ---- graphs that are captured -------------------------------------------------------------- */

static void capture(ze_handle list, ze_result rc, bool on)
{
	struct ut_ze_list *l = rc ? NULL : ut_ze_list_find(list);

	if (l)
		l->capturing = on;
}

ze_result ut_zeCommandListBeginGraphCaptureExt(ze_handle hCommandList, const void *pNext)
{
	ze_result rc = UT_ZE(zeCommandListBeginGraphCaptureExt)(hCommandList, pNext);

	capture(hCommandList, rc, true);
	return rc;
}

ze_result ut_zeCommandListBeginCaptureIntoGraphExt(ze_handle hCommandList, ze_handle hGraph,
						   const void *pNext)
{
	ze_result rc = UT_ZE(zeCommandListBeginCaptureIntoGraphExt)(hCommandList, hGraph, pNext);

	capture(hCommandList, rc, true);
	return rc;
}

ze_result ut_zeCommandListEndGraphCaptureExt(ze_handle hCommandList, const void *pNext,
					     ze_made phGraph)
{
	ze_result rc = UT_ZE(zeCommandListEndGraphCaptureExt)(hCommandList, pNext, phGraph);

	capture(hCommandList, rc, false);
	return rc;
}

/* ---- a context goes ------------------------------------------------------------------------ */

/* Lists that the program has left behind in it know nothing of ours any more. */
void ut_ze_lists_context_ends(const struct ut_ze_context *c)
{
	for (struct ut_handle_item *i = atomic_load(&lists.last); i; i = i->all) {
		struct ut_ze_program *p = ((struct ut_ze_list *)i)->program;

		if (!p || p->context != c)
			continue;
		ut_ze_readouts_drop(p);
		for (uint32_t k = 0; k < p->count; k++) {
			if (p->commands[k].event && p->commands[k].event->own)
				p->commands[k].event = NULL;
			p->commands[k].slot = NULL;
			p->commands[k].query = NULL;
		}
		p->end = NULL;
	}
}

/* ---- fork ---------------------------------------------------------------------------------- */

void ut_ze_lists_forked(void)
{
	for (struct ut_handle_item *i = atomic_load(&lists.last); i; i = i->all) {
		struct ut_ze_list *l = (struct ut_ze_list *)i;

		if (l->program)
			l->program->run = NULL;
	}
}
