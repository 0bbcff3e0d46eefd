/* mutable.c - commands of a list that the program changes after it was closed. */
#include "backend/levelzero/ze_list.h"

enum {
	GROUP_COUNT = 0x2001a, /* types of structs */
	GROUP_SIZE = 0x2001b,
};

struct mutable_group_count {
	uint32_t type;
	const void *next;
	uint64_t id;
	const struct ze_group *groups;
};

struct mutable_group_size {
	uint32_t type;
	const void *next;
	uint64_t id;
	struct ze_group sizes;
};

/* The id of the command that is appended next. */
static void note_id(ze_handle list, ze_result rc, const uint64_t *id)
{
	struct ut_ze_list *l = rc ? NULL : ut_ze_list_find(list);

	if (l && id)
		l->next_id = *id;
}

ze_result ut_zeCommandListGetNextCommandIdExp(ze_handle hCommandList, const void *desc,
					      uint64_t *pCommandId)
{
	ze_result rc = UT_ZE(zeCommandListGetNextCommandIdExp)(hCommandList, desc, pCommandId);

	note_id(hCommandList, rc, pCommandId);
	return rc;
}

ze_result ut_zeCommandListGetNextCommandIdWithKernelsExp(ze_handle hCommandList, const void *desc,
							 uint32_t numKernels, ze_handle *phKernels,
							 uint64_t *pCommandId)
{
	ze_result rc = UT_ZE(zeCommandListGetNextCommandIdWithKernelsExp)(
		hCommandList, desc, numKernels, phKernels, pCommandId);

	note_id(hCommandList, rc, pCommandId);
	return rc;
}

static struct ut_ze_command *mutable_find(const struct ut_ze_program *p, uint64_t id)
{
	for (uint32_t i = 0; id && i < p->count; i++) {
		if (p->commands[i].mutable_id == id)
			return &p->commands[i];
	}
	return NULL;
}

/* The list's commands, to be changed; the program knows that it is not being executed. NULL: it has
 * none of ours. Takes the lock. */
static struct ut_ze_program *open_list(ze_handle list, ze_result rc)
{
	const struct ut_ze_list *l = rc ? NULL : ut_ze_list_find(list);
	struct ut_ze_program *p = l ? l->program : NULL;
	struct ut_ze_run *run;

	if (!p || !ut_ze_lock(UT_ZE_LONG_PATIENCE))
		return NULL;
	run = p->run;
	if (run)
		(void)ut_ze_stream_visit(run->stream, 0);
	run = p->run; /* unless it was complete */
	if (run)
		ut_ze_run_give_up(run);
	return p;
}

/* ---- groups -------------------------------------------------------------------------------- */

static const struct ut_ze_shape *changed(const struct ut_ze_shape *shape,
					 const struct ze_group *groups,
					 const struct ze_group *sizes)
{
	const uint32_t *s = shape ? shape->sizes : NULL;
	struct ze_group old[2] = { { 0 } };

	if (s) {
		old[0] = (struct ze_group){ s[0], s[1], s[2] };
		old[1] = (struct ze_group){ s[3], s[4], s[5] };
	}
	return ut_ze_shape_of(groups ? groups : &old[0], sizes ? sizes : &old[1]);
}

static void change_groups(struct ut_ze_program *p, const struct ze_base *b)
{
	const struct mutable_group_count *count = (const void *)b;
	const struct mutable_group_size *size = (const void *)b;
	struct ut_ze_command *c = NULL;

	if (b->type == GROUP_COUNT && count->groups && (c = mutable_find(p, count->id)))
		c->shape = changed(c->shape, count->groups, NULL);
	else if (b->type == GROUP_SIZE && (c = mutable_find(p, size->id)))
		c->shape = changed(c->shape, NULL, &size->sizes);
}

ze_result ut_zeCommandListUpdateMutableCommandsExp(ze_handle hCommandList, const void *desc)
{
	ze_result rc = UT_ZE(zeCommandListUpdateMutableCommandsExp)(hCommandList, desc);
	const struct ze_base *given = desc;
	struct ut_ze_program *p = given ? open_list(hCommandList, rc) : NULL;

	if (!p)
		return rc;
	for (const struct ze_base *b = given->next; b; b = b->next)
		change_groups(p, b);
	ut_ze_unlock();
	return rc;
}

/* ---- events and kernels -------------------------------------------------------------------- */

/* Ours is not signaled any more; an event without timestamps tells nothing. */
ze_result ut_zeCommandListUpdateMutableCommandSignalEventExp(ze_handle hCommandList,
							     uint64_t commandId,
							     ze_handle hSignalEvent)
{
	ze_result rc = UT_ZE(zeCommandListUpdateMutableCommandSignalEventExp)(
		hCommandList, commandId, hSignalEvent);
	struct ut_ze_program *p = open_list(hCommandList, rc);
	struct ut_ze_command *c = p ? mutable_find(p, commandId) : NULL;
	struct ut_ze_event *e = ut_ze_event_find(hSignalEvent);

	if (c) {
		if (c->event && c->event->own)
			ut_ze_event_give(c->event);
		c->event = e && e->timed ? e : NULL;
	}
	if (p)
		ut_ze_unlock();
	return rc;
}

ze_result ut_zeCommandListUpdateMutableCommandKernelsExp(ze_handle hCommandList,
							 uint32_t numKernels, uint64_t *pCommandId,
							 ze_handle *phKernels)
{
	ze_result rc = UT_ZE(zeCommandListUpdateMutableCommandKernelsExp)(hCommandList, numKernels,
									  pCommandId, phKernels);
	struct ut_ze_program *p = open_list(hCommandList, rc);

	for (uint32_t i = 0; p && pCommandId && phKernels && i < numKernels; i++) {
		struct ut_ze_command *c = mutable_find(p, pCommandId[i]);
		struct ut_ze_kernel *k = c ? ut_ze_kernel_find(phKernels[i]) : NULL;

		if (!k)
			continue;
		c->kernel = atomic_load(&k->facts);
		c->name = c->kernel ? c->kernel->name : c->name;
		c->silent = !atomic_load(&k->wanted);
	}
	if (p)
		ut_ze_unlock();
	return rc;
}
