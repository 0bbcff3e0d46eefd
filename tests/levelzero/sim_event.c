/* sim_event.c - pools, events and fences. */
#include <stdlib.h>
#include <string.h>

#include "sim_api.h"

/* ---- pools --------------------------------------------------------------------------------- */

ze_result_t sim_zeEventPoolCreate(ze_context_handle_t context, const ze_event_pool_desc_t *desc,
				  uint32_t count, ze_device_handle_t *devices,
				  ze_event_pool_handle_t *to)
{
	struct sim_context *c = SIM_OBJECT(context, SIM_CONTEXT);
	struct sim_pool *p;

	SIM_MAY_FAIL();
	for (uint32_t i = 0; i < count; i++)
		SIM_OBJECT(devices[i], SIM_DEVICE);
	p = sim_make(sizeof(*p), SIM_POOL, c);
	p->flags = desc->flags;
	p->count = desc->count;
	for (const struct sim_base *b = desc->pNext; b; b = b->next)
		p->counted |= b->stype == SIM_COUNTER_POOL;
	*to = (ze_event_pool_handle_t)p;
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeEventPoolDestroy(ze_event_pool_handle_t pool)
{
	struct sim_pool *p = SIM_OBJECT(pool, SIM_POOL);

	if (p->live && sim_config.strict)
		sim_die("a pool is destroyed that has %u events", p->live);
	sim_unmake(&p->object);
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeEventPoolGetFlags(ze_event_pool_handle_t pool, uint32_t *flags)
{
	const struct sim_pool *p = SIM_OBJECT(pool, SIM_POOL);

	*flags = p->flags;
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeEventPoolGetContextHandle(ze_event_pool_handle_t pool,
					    ze_context_handle_t *context)
{
	const struct sim_pool *p = SIM_OBJECT(pool, SIM_POOL);

	*context = (ze_context_handle_t)p->object.context;
	return ZE_RESULT_SUCCESS;
}

/* ---- events -------------------------------------------------------------------------------- */

ze_result_t sim_zeEventCreate(ze_event_pool_handle_t pool, const ze_event_desc_t *desc,
			      ze_event_handle_t *to)
{
	struct sim_pool *p = SIM_OBJECT(pool, SIM_POOL);
	struct sim_event *e;

	SIM_MAY_FAIL();
	if (desc->index >= p->count)
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	e = sim_make(sizeof(*e), SIM_EVENT, p->object.context);
	e->pool = p;
	e->flags = p->flags;
	e->counted = p->counted;
	e->signaled = e->counted;
	__atomic_add_fetch(&p->live, 1, __ATOMIC_RELAXED);
	*to = (ze_event_handle_t)e;
	return ZE_RESULT_SUCCESS;
}

/* Bits 0 to 2 are about where it is used and seen, bit 4 asks for timestamps. */
ze_result_t sim_zeEventCounterBasedCreate(ze_context_handle_t context, ze_device_handle_t device,
					  const struct sim_counted_desc *desc,
					  ze_event_handle_t *to)
{
	struct sim_context *c = SIM_OBJECT(context, SIM_CONTEXT);
	struct sim_event *e;

	SIM_OBJECT(device, SIM_DEVICE);
	SIM_MAY_FAIL();
	e = sim_make(sizeof(*e), SIM_EVENT, c);
	e->counted = e->signaled = true;
	e->flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE |
		   (desc->flags & 1u << 4 ? ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP : 0);
	*to = (ze_event_handle_t)e;
	return ZE_RESULT_SUCCESS;
}

void sim_forget_event(struct sim_event *e)
{
	if (e->pool)
		__atomic_sub_fetch(&e->pool->live, 1, __ATOMIC_RELAXED);
	sim_unmake(&e->object);
}

ze_result_t sim_zeEventDestroy(ze_event_handle_t event)
{
	struct sim_event *e = SIM_OBJECT(event, SIM_EVENT);

	pthread_mutex_lock(&sim_lock);
	sim_pump();
	if (e->users && !e->counted && sim_config.strict)
		sim_die("an event is destroyed that a command will signal");
	e->gone = true; /* allowed while it is used, if it counts */
	if (!e->users)
		sim_forget_event(e);
	pthread_mutex_unlock(&sim_lock);
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeEventHostSignal(ze_event_handle_t event)
{
	struct sim_event *e = SIM_OBJECT(event, SIM_EVENT);

	if (e->counted)
		sim_die("a counted event is signaled by the host");
	pthread_mutex_lock(&sim_lock);
	sim_pump();
	e->signaled = true;
	e->signaled_at = sim_now();
	e->stamps[0] = (struct sim_stamp){ e->signaled_at, e->signaled_at, &sim_devices[0], true };
	sim_submit_moved();
	sim_pump();
	pthread_mutex_unlock(&sim_lock);
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeEventHostReset(ze_event_handle_t event)
{
	struct sim_event *e = SIM_OBJECT(event, SIM_EVENT);

	if (e->counted)
		sim_die("a counted event is reset by the host");
	SIM_MAY_FAIL();
	pthread_mutex_lock(&sim_lock);
	sim_pump();
	e->signaled = false;
	e->stamps[0].written = false;
	pthread_mutex_unlock(&sim_lock);
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeEventHostSynchronize(ze_event_handle_t event, uint64_t timeout)
{
	struct sim_event *e = SIM_OBJECT(event, SIM_EVENT);
	bool done;

	SIM_MAY_FAIL();
	pthread_mutex_lock(&sim_lock);
	done = sim_wait(sim_is_signaled, e, timeout);
	pthread_mutex_unlock(&sim_lock);
	return done ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
}

ze_result_t sim_zeEventQueryStatus(ze_event_handle_t event)
{
	struct sim_event *e = SIM_OBJECT(event, SIM_EVENT);
	bool done;

	SIM_MAY_FAIL();
	pthread_mutex_lock(&sim_lock);
	sim_pump();
	done = e->signaled;
	pthread_mutex_unlock(&sim_lock);
	return done ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
}

/* ---- timestamps ---------------------------------------------------------------------------- */

static void answer(const struct sim_device *d, uint64_t start, uint64_t end,
		   ze_kernel_timestamp_result_t *r)
{
	uint64_t mask = sim_mask(sim_config.bits);

	r->global.kernelStart = r->context.kernelStart = sim_ticks(d, start) & mask;
	r->global.kernelEnd = r->context.kernelEnd = sim_ticks(d, end) & mask;
}

ze_result_t sim_zeEventQueryKernelTimestamp(ze_event_handle_t event,
					    ze_kernel_timestamp_result_t *result)
{
	struct sim_event *e = SIM_OBJECT(event, SIM_EVENT);
	ze_result_t rc = ZE_RESULT_NOT_READY;
	const struct sim_stamp *s;

	SIM_MAY_FAIL();
	if (!(e->flags & (ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP | SIM_MAPPED_TIMESTAMP)))
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	pthread_mutex_lock(&sim_lock);
	sim_pump();
	s = sim_stamp_of(e, e->arm);
	if (e->signaled && s->written) {
		answer(s->device, s->start, s->end, result);
		rc = ZE_RESULT_SUCCESS;
	}
	pthread_mutex_unlock(&sim_lock);
	return rc;
}

/* Each tile begins a little later and ends a little earlier than the one before it. */
ze_result_t sim_zeEventQueryTimestampsExp(ze_event_handle_t event, ze_device_handle_t device,
					  uint32_t *count, ze_kernel_timestamp_result_t *results)
{
	struct sim_event *e = SIM_OBJECT(event, SIM_EVENT);
	struct sim_device *d = SIM_OBJECT(device, SIM_DEVICE);
	uint32_t have = d->tile_count ? d->tile_count : 1;
	const struct sim_stamp *s;

	pthread_mutex_lock(&sim_lock);
	sim_pump();
	s = sim_stamp_of(e, e->arm);
	for (uint32_t i = 0; results && i < *count && i < have && s->written; i++)
		answer(s->device, s->start + i * sim_config.skew_ns,
		       s->end - i * sim_config.skew_ns, &results[i]);
	pthread_mutex_unlock(&sim_lock);
	*count = results && *count < have ? *count : have;
	return s->written ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
}

/* ---- fences -------------------------------------------------------------------------------- */

ze_result_t sim_zeFenceCreate(ze_command_queue_handle_t queue, const ze_fence_desc_t *desc,
			      ze_fence_handle_t *to)
{
	struct sim_queue *q = SIM_OBJECT(queue, SIM_QUEUE);
	struct sim_fence *f;

	SIM_MAY_FAIL();
	f = sim_make(sizeof(*f), SIM_FENCE, q->object.context);
	f->signaled = desc->flags & ZE_FENCE_FLAG_SIGNALED;
	*to = (ze_fence_handle_t)f;
	return ZE_RESULT_SUCCESS;
}

ze_result_t sim_zeFenceDestroy(ze_fence_handle_t fence)
{
	sim_unmake(SIM_OBJECT(fence, SIM_FENCE));
	return ZE_RESULT_SUCCESS;
}

static bool fence_is_signaled(const void *fence)
{
	return ((const struct sim_fence *)fence)->signaled;
}

ze_result_t sim_zeFenceHostSynchronize(ze_fence_handle_t fence, uint64_t timeout)
{
	struct sim_fence *f = SIM_OBJECT(fence, SIM_FENCE);
	bool done;

	pthread_mutex_lock(&sim_lock);
	done = sim_wait(fence_is_signaled, f, timeout);
	pthread_mutex_unlock(&sim_lock);
	return done ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
}

ze_result_t sim_zeFenceQueryStatus(ze_fence_handle_t fence)
{
	return sim_zeFenceHostSynchronize(fence, 0);
}

ze_result_t sim_zeFenceReset(ze_fence_handle_t fence)
{
	struct sim_fence *f = SIM_OBJECT(fence, SIM_FENCE);

	pthread_mutex_lock(&sim_lock);
	f->signaled = false;
	pthread_mutex_unlock(&sim_lock);
	return ZE_RESULT_SUCCESS;
}
