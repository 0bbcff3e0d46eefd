/* sim_list.c - queues and lists: made, executed, reset, destroyed. Commands are in sim_append.c. */
#include <stdlib.h>
#include <string.h>

#include "sim_list.h"

/* ---- queues -------------------------------------------------------------------------------- */

static void set_up(struct sim_lane *lane, struct sim_device *d, const ze_command_queue_desc_t *desc)
{
	lane->engine = sim_engine_of(d, desc->ordinal, desc->index);
	lane->synchronous = desc->mode == ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS;
	pthread_mutex_lock(&sim_lock);
	sim_lane_add(lane);
	pthread_mutex_unlock(&sim_lock);
}

ze_result_t sim_zeCommandQueueCreate(ze_context_handle_t context, ze_device_handle_t device,
				     const ze_command_queue_desc_t *desc,
				     ze_command_queue_handle_t *to)
{
	struct sim_context *c = SIM_OBJECT(context, SIM_CONTEXT);
	struct sim_queue *q;

	SIM_MAY_FAIL();
	q = sim_make(sizeof(*q), SIM_QUEUE, c);
	q->device = SIM_OBJECT(device, SIM_DEVICE);
	set_up(&q->lane, q->device, desc);
	*to = (ze_command_queue_handle_t)q;
	return ZE_RESULT_SUCCESS;
}

static void take_down(struct sim_lane *lane, const char *what)
{
	pthread_mutex_lock(&sim_lock);
	sim_pump();
	if (lane->pending && sim_config.strict)
		sim_die("a %s is destroyed that has %llu commands", what,
			(unsigned long long)lane->pending);
	sim_wait(sim_is_drained, lane, SIM_NEVER);
	sim_lane_remove(lane);
	pthread_mutex_unlock(&sim_lock);
}

ze_result_t sim_zeCommandQueueDestroy(ze_command_queue_handle_t queue)
{
	struct sim_queue *q = SIM_OBJECT(queue, SIM_QUEUE);

	take_down(&q->lane, "queue");
	sim_unmake(&q->object);
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeCommandQueueSynchronize(ze_command_queue_handle_t queue, uint64_t timeout)
{
	struct sim_queue *q = SIM_OBJECT(queue, SIM_QUEUE);
	bool done;

	SIM_MAY_FAIL();
	pthread_mutex_lock(&sim_lock);
	done = sim_wait(sim_is_drained, &q->lane, timeout);
	pthread_mutex_unlock(&sim_lock);
	return done ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
}

ze_result_t sim_zeCommandQueueGetOrdinal(ze_command_queue_handle_t queue, uint32_t *ordinal)
{
	const struct sim_queue *q = SIM_OBJECT(queue, SIM_QUEUE);

	*ordinal = q->lane.engine->ordinal;
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeCommandQueueGetIndex(ze_command_queue_handle_t queue, uint32_t *index)
{
	const struct sim_queue *q = SIM_OBJECT(queue, SIM_QUEUE);

	*index = q->lane.engine->index;
	return ZE_RESULT_SUCCESS;
}

/* All of a list's commands, into a lane. Under the lock. The device sees them at once, however
   often the thread that submits them is interrupted. */
static void execute(struct sim_lane *lane, struct sim_list *l, uint64_t now)
{
	if (!l->closed)
		sim_die("a list is executed that is not closed");
	if (l->ordinal != lane->engine->ordinal)
		sim_die("a list for engines %u is executed on engine %u.%u", l->ordinal,
			lane->engine->ordinal, lane->engine->index);
	for (struct sim_command *c = l->first; c; c = c->next)
		sim_submit(lane, c, l, now);
}

ze_result_t sim_zeCommandQueueExecuteCommandLists(ze_command_queue_handle_t queue, uint32_t count,
						  ze_command_list_handle_t *lists,
						  ze_fence_handle_t fence)
{
	struct sim_queue *q = SIM_OBJECT(queue, SIM_QUEUE);
	struct sim_command last = { .work = SIM_WORK_FENCE };
	uint64_t now;

	SIM_MAY_FAIL();
	pthread_mutex_lock(&sim_lock);
	sim_pump();
	now = sim_now();
	for (uint32_t i = 0; i < count; i++)
		execute(&q->lane, SIM_OBJECT(lists[i], SIM_LIST), now);
	if (fence) {
		last.fence = SIM_OBJECT(fence, SIM_FENCE);
		sim_submit(&q->lane, &last, NULL, now);
	}
	sim_pump();
	if (q->lane.synchronous)
		sim_wait(sim_is_drained, &q->lane, SIM_NEVER);
	pthread_mutex_unlock(&sim_lock);
	return ZE_RESULT_SUCCESS;
}

/* ---- lists --------------------------------------------------------------------------------- */

ze_result_t sim_zeCommandListCreate(ze_context_handle_t context, ze_device_handle_t device,
				    const ze_command_list_desc_t *desc,
				    ze_command_list_handle_t *to)
{
	struct sim_context *c = SIM_OBJECT(context, SIM_CONTEXT);
	struct sim_list *l;

	SIM_MAY_FAIL();
	l = sim_make(sizeof(*l), SIM_LIST, c);
	l->device = SIM_OBJECT(device, SIM_DEVICE);
	l->ordinal = desc->commandQueueGroupOrdinal;
	l->in_order = desc->flags & SIM_LIST_IN_ORDER;
	*to = (ze_command_list_handle_t)l;
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeCommandListCreateImmediate(ze_context_handle_t context, ze_device_handle_t device,
					     const ze_command_queue_desc_t *desc,
					     ze_command_list_handle_t *to)
{
	struct sim_context *c = SIM_OBJECT(context, SIM_CONTEXT);
	struct sim_list *l;

	SIM_MAY_FAIL();
	l = sim_make(sizeof(*l), SIM_LIST, c);
	l->device = SIM_OBJECT(device, SIM_DEVICE);
	l->ordinal = desc->ordinal;
	l->immediate = true;
	l->in_order = desc->flags & SIM_QUEUE_IN_ORDER;
	set_up(&l->lane, l->device, desc);
	*to = (ze_command_list_handle_t)l;
	return ZE_RESULT_SUCCESS;
}

static void empty(struct sim_list *l)
{
	for (struct sim_command *c = l->first, *next; c; c = next) {
		next = c->next;
		sim_free_command(c);
	}
	l->first = l->last = NULL;
	l->count = 0;
}

static void check_quiet(struct sim_list *l, const char *what)
{
	pthread_mutex_lock(&sim_lock);
	sim_pump();
	if (l->running && sim_config.strict)
		sim_die("a list is %s that is being executed", what);
	pthread_mutex_unlock(&sim_lock);
}

ze_result_t sim_zeCommandListDestroy(ze_command_list_handle_t list)
{
	struct sim_list *l = SIM_OBJECT(list, SIM_LIST);

	check_quiet(l, "destroyed");
	if (l->immediate)
		take_down(&l->lane, "list");
	empty(l);
	sim_unmake(&l->object);
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeCommandListClose(ze_command_list_handle_t list)
{
	struct sim_list *l = SIM_OBJECT(list, SIM_LIST);

	SIM_MAY_FAIL();
	l->closed = true;
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeCommandListReset(ze_command_list_handle_t list)
{
	struct sim_list *l = SIM_OBJECT(list, SIM_LIST);

	check_quiet(l, "reset");
	empty(l);
	l->closed = false;
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeCommandListHostSynchronize(ze_command_list_handle_t list, uint64_t timeout)
{
	struct sim_list *l = SIM_OBJECT(list, SIM_LIST);
	bool done;

	SIM_MAY_FAIL();
	if (!l->immediate)
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	pthread_mutex_lock(&sim_lock);
	done = sim_wait(sim_is_drained, &l->lane, timeout);
	pthread_mutex_unlock(&sim_lock);
	return done ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
}

ze_result_t sim_zeCommandListGetDeviceHandle(ze_command_list_handle_t list,
					     ze_device_handle_t *device)
{
	const struct sim_list *l = SIM_OBJECT(list, SIM_LIST);

	*device = (ze_device_handle_t)l->device;
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeCommandListGetContextHandle(ze_command_list_handle_t list,
					      ze_context_handle_t *context)
{
	const struct sim_list *l = SIM_OBJECT(list, SIM_LIST);

	*context = (ze_context_handle_t)l->object.context;
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeCommandListGetOrdinal(ze_command_list_handle_t list, uint32_t *ordinal)
{
	const struct sim_list *l = SIM_OBJECT(list, SIM_LIST);

	*ordinal = l->ordinal;
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeCommandListIsImmediate(ze_command_list_handle_t list, ze_bool_t *value)
{
	const struct sim_list *l = SIM_OBJECT(list, SIM_LIST);

	*value = l->immediate;
	return ZE_RESULT_SUCCESS;
}

/* limits: Level Zero's */
ze_result_t sim_zeCommandListImmediateAppendCommandListsExp(
	ze_command_list_handle_t list, uint32_t count, ze_command_list_handle_t *lists,
	ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits)
{
	struct sim_list *l = SIM_OBJECT(list, SIM_LIST);
	uint64_t now;

	SIM_MAY_FAIL();
	if (!l->immediate)
		sim_die("lists are appended to one that is not immediate");
	if (wait_count)
		sim_append(l, &(struct sim_command){ .work = SIM_WORK_WAIT, .name = "wait" }, NULL,
			   wait_count, waits);
	pthread_mutex_lock(&sim_lock);
	sim_pump();
	now = sim_now();
	for (uint32_t i = 0; i < count; i++)
		execute(&l->lane, SIM_OBJECT(lists[i], SIM_LIST), now);
	pthread_mutex_unlock(&sim_lock);
	if (signal)
		sim_append(l, &(struct sim_command){ .work = SIM_WORK_SIGNAL, .name = "signal" },
			   signal, 0, NULL);
	return ZE_RESULT_SUCCESS;
}

/* limits: Level Zero's, NOLINTNEXTLINE(readability-function-size) */
ze_result_t sim_zeCommandListImmediateAppendCommandListsWithParameters(
	ze_command_list_handle_t list, uint32_t count, ze_command_list_handle_t *lists,
	const void *next, ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits)
{
	(void)next;
	return sim_zeCommandListImmediateAppendCommandListsExp(list, count, lists, signal,
							       wait_count, waits);
}
