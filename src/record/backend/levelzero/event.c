/*
 * event.c - contexts, the program's events and pools, and events of our own.
 *
 * Pools of the program's are made with timestamps, whether it wants them or not; a pool that is
 * shared with other processes, or whose events count, is left as it is. A program that asks what a
 * pool has is told what it asked for.
 */
#include <sched.h>
#include <string.h>

#include "backend/levelzero/ze_list.h"
#include "backend/levelzero/ze_measure.h"
#include "backend/levelzero/ze_memory.h"

#define POOL_EVENTS 128u
#define SLOT_BYTES  ((size_t)64 << 10) /* of memory for timestamps that is asked for at once */
#define ALIGN       64u

/* A pool of ours, or memory of ours. */
struct ut_ze_chunk {
	struct ut_ze_chunk *next;
	ze_handle pool;
	void *memory;
	uint32_t used, count;
	struct ut_ze_event *events;
};

static struct ut_handle_table contexts = { .size = sizeof(struct ut_ze_context) };
static struct ut_handle_table events = { .size = sizeof(struct ut_ze_event) };
static struct ut_handle_table pools = { .size = sizeof(struct ut_ze_pool) };
static atomic_flag busy = ATOMIC_FLAG_INIT; /* of what a context has of ours */

static void lock_own(void)
{
	while (atomic_flag_test_and_set_explicit(&busy, memory_order_acquire))
		sched_yield();
}

static void unlock_own(void)
{
	atomic_flag_clear_explicit(&busy, memory_order_release);
}

/* ---- events of ours ------------------------------------------------------------------------ */

static struct ut_ze_chunk *new_pool(struct ut_ze_context *c)
{
	const struct ze_event_pool_desc desc = { .type = ZE_EVENT_POOL_DESC,
						 .flags = ZE_POOL_HOST_VISIBLE | ZE_POOL_TIMESTAMP,
						 .count = POOL_EVENTS };
	struct ut_ze_chunk *k = ut_ze_alloc(sizeof(*k));
	struct ut_ze_new *pool = NULL;

	if (!k)
		return NULL;
	k->events = ut_ze_alloc(POOL_EVENTS * sizeof(*k->events));
	if (!k->events || UT_ZE(zeEventPoolCreate)(ut_ze_handle(&c->item), &desc, 0, NULL, &pool)) {
		ut_ze_free(k->events, POOL_EVENTS * sizeof(*k->events));
		ut_ze_free(k, sizeof(*k));
		return NULL;
	}
	k->pool = pool;
	k->count = POOL_EVENTS;
	return k;
}

/* The next event of a pool that has one left; its place in the pool is ours. */
static struct ut_ze_event *next_of(struct ut_ze_context *c, struct ut_ze_chunk **of)
{
	struct ut_ze_event *e = NULL;

	lock_own();
	for (struct ut_ze_chunk *k = c->pools; k && !e; k = k->next) {
		if (k->used < k->count) {
			e = &k->events[k->used++];
			*of = k;
		}
	}
	unlock_own();
	return e;
}

static struct ut_ze_event *make_own(struct ut_ze_context *c)
{
	struct ze_event_desc desc = { .type = ZE_EVENT_DESC,
				      .signal = ZE_SCOPE_HOST,
				      .wait = ZE_SCOPE_HOST };
	struct ut_ze_new *made = NULL;
	struct ut_ze_chunk *k = NULL;
	struct ut_ze_event *e = next_of(c, &k);

	if (!e) {
		k = new_pool(c);
		if (!k)
			return NULL;
		lock_own();
		k->next = c->pools;
		c->pools = k;
		unlock_own();
		e = next_of(c, &k);
	}
	if (!e)
		return NULL;
	desc.index = (uint32_t)(e - k->events);
	if (UT_ZE(zeEventCreate)(k->pool, &desc, &made))
		return NULL;
	e->handle = made;
	e->context = c;
	e->own = e->timed = true;
	return e;
}

struct ut_ze_event *ut_ze_event_take(struct ut_ze_context *c)
{
	struct ut_ze_event *e;

	lock_own();
	e = c->events;
	if (e)
		c->events = e->next;
	unlock_own();
	return e ? e : make_own(c);
}

void ut_ze_event_give(struct ut_ze_event *e)
{
	struct ut_ze_context *c = e->context;

	atomic_store(&e->run, NULL);
	/* One that cannot be reset is not used again. */
	if (!atomic_load(&c->live) || UT_ZE(zeEventHostReset)(e->handle))
		return;
	lock_own();
	e->next = c->events;
	c->events = e;
	unlock_own();
}

/* ---- memory for timestamps ----------------------------------------------------------------- */

static void *new_memory(struct ut_ze_context *c, size_t bytes)
{
	const struct ze_host_memory_desc desc = { .type = ZE_HOST_MEMORY_DESC };
	struct ut_ze_chunk *k = ut_ze_alloc(sizeof(*k));
	struct ut_ze_new *memory = NULL;

	if (!k || UT_ZE(zeMemAllocHost)(ut_ze_handle(&c->item), &desc, bytes, ALIGN, &memory)) {
		ut_ze_free(k, sizeof(*k));
		return NULL;
	}
	k->memory = memory;
	lock_own();
	k->next = c->slots;
	c->slots = k;
	unlock_own();
	return memory;
}

static struct ut_ze_slot *free_slot(struct ut_ze_context *c, uint32_t count)
{
	struct ut_ze_slot **p = &c->free_slots, *s;

	lock_own();
	while (*p && (*p)->count != count)
		p = &(*p)->next;
	s = *p;
	if (s)
		*p = s->next;
	unlock_own();
	return s;
}

/* Single ones come many at a time, others as they are asked for. */
struct ut_ze_slot *ut_ze_slot_take(struct ut_ze_context *c, uint32_t count)
{
	struct ut_ze_slot *s = free_slot(c, count);
	size_t each = count * sizeof(struct ze_timestamps);
	size_t many = count == 1 ? SLOT_BYTES / each : 1;
	char *memory;

	if (s)
		return s;
	memory = new_memory(c, many * each);
	for (size_t i = 0; memory && i < many; i++) {
		struct ut_ze_slot *one = ut_ze_alloc(sizeof(*one));

		if (!one)
			break;
		one->at = (struct ze_timestamps *)(void *)(memory + i * each);
		one->count = count;
		if (i)
			ut_ze_slot_give(c, one);
		else
			s = one;
	}
	return s;
}

void ut_ze_slot_give(struct ut_ze_context *c, struct ut_ze_slot *s)
{
	if (!s)
		return;
	lock_own();
	s->next = c->free_slots;
	c->free_slots = s;
	unlock_own();
}

/* ---- contexts ------------------------------------------------------------------------------ */

struct ut_ze_context *ut_ze_context_of(ze_handle context)
{
	struct ut_ze_context *c = context ? ut_handle_item_of(&contexts, context) : NULL;

	if (c)
		atomic_store(&c->live, true);
	return c;
}

static void drop_pools(struct ut_ze_context *c)
{
	struct ut_ze_chunk *k = c->pools, *next;

	for (; k; k = next) {
		next = k->next;
		for (uint32_t i = 0; i < k->used; i++) {
			if (k->events[i].handle)
				(void)UT_ZE(zeEventDestroy)(k->events[i].handle);
		}
		(void)UT_ZE(zeEventPoolDestroy)(k->pool);
		ut_ze_free(k->events, POOL_EVENTS * sizeof(*k->events));
		ut_ze_free(k, sizeof(*k));
	}
	c->pools = NULL;
	c->events = NULL;
}

static void drop_memory(struct ut_ze_context *c)
{
	struct ut_ze_chunk *k = c->slots, *next;

	for (; k; k = next) {
		next = k->next;
		(void)UT_ZE(zeMemFree)(ut_ze_handle(&c->item), k->memory);
		ut_ze_free(k, sizeof(*k));
	}
	for (struct ut_ze_slot *s = c->free_slots, *then; s; s = then) {
		then = s->next;
		ut_ze_free(s, sizeof(*s));
	}
	c->slots = NULL;
	c->free_slots = NULL;
}

ze_result ut_zeContextCreate(ze_handle hDriver, const void *desc, ze_made phContext)
{
	ze_result rc = UT_ZE(zeContextCreate)(hDriver, desc, phContext);

	if (!rc && phContext)
		(void)ut_ze_context_of(*phContext);
	return rc;
}

ze_result ut_zeContextCreateEx(ze_handle hDriver, const void *desc, uint32_t numDevices,
			       ze_handle *phDevices, ze_made phContext)
{
	ze_result rc = UT_ZE(zeContextCreateEx)(hDriver, desc, numDevices, phDevices, phContext);

	if (!rc && phContext)
		(void)ut_ze_context_of(*phContext);
	return rc;
}

/* What is ours in it goes first; the program has waited for what is its own. */
ze_result ut_zeContextDestroy(ze_handle hContext)
{
	struct ut_ze_context *c = ut_handle_find(&contexts, hContext);

	if (c && ut_ze_lock(UT_ZE_LONG_PATIENCE)) {
		ut_ze_context_ends(c);
		ut_ze_lists_context_ends(c);
		if (ut_ze.query)
			ut_ze_query_context_ends(c);
		atomic_store(&c->live, false);
		drop_pools(c);
		drop_memory(c);
		ut_ze_unlock();
	}
	return UT_ZE(zeContextDestroy)(hContext);
}

/* ---- pools --------------------------------------------------------------------------------- */

/* Does the chain say that its events count? Its type has changed over the versions. */
static bool is_counted(const void *next)
{
	static const uint32_t types[] = { 0x20013, 0x20014, 0x20015 };

	for (const struct ze_base *b = next; b; b = b->next) {
		for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
			if (b->type == types[i])
				return true;
		}
	}
	return false;
}

static void meet_pool(ze_handle pool, ze_handle context, const struct ze_event_pool_desc *desc,
		      bool forced)
{
	struct ut_ze_pool *p = ut_handle_item_of(&pools, pool);

	if (!p)
		return;
	p->context = ut_ze_context_of(context);
	p->asked = desc->flags & (ZE_POOL_TIMESTAMP | ZE_POOL_MAPPED_TIMESTAMP);
	p->forced = forced;
	p->timed = p->asked || forced;
	p->counted = is_counted(desc->next);
}

ze_result ut_zeEventPoolCreate(ze_handle hContext, const void *desc, uint32_t numDevices,
			       ze_handle *phDevices, ze_made phEventPool)
{
	const struct ze_event_pool_desc *given = desc;
	struct ze_event_pool_desc more;
	ze_result rc = ZE_UNINITIALIZED;
	bool forced = false;

	if (!given || !ut_ze.work)
		return UT_ZE(zeEventPoolCreate)(hContext, desc, numDevices, phDevices, phEventPool);
	more = *given;
	if (!(given->flags & (ZE_POOL_TIMESTAMP | ZE_POOL_MAPPED_TIMESTAMP | ZE_POOL_IPC)) &&
	    !is_counted(given->next)) {
		more.flags |= ZE_POOL_TIMESTAMP;
		rc = UT_ZE(zeEventPoolCreate)(hContext, &more, numDevices, phDevices, phEventPool);
		forced = !rc;
	}
	if (rc)
		rc = UT_ZE(zeEventPoolCreate)(hContext, desc, numDevices, phDevices, phEventPool);
	if (!rc && phEventPool)
		meet_pool(*phEventPool, hContext, given, forced);
	return rc;
}

ze_result ut_zeEventPoolOpenIpcHandle(ze_handle hContext, struct ze_ipc hIpc, ze_made phEventPool)
{
	const struct ze_event_pool_desc unknown = { .flags = ZE_POOL_IPC };
	ze_result rc = UT_ZE(zeEventPoolOpenIpcHandle)(hContext, hIpc, phEventPool);

	if (!rc && phEventPool)
		meet_pool(*phEventPool, hContext, &unknown, false);
	return rc;
}

ze_result ut_zeEventPoolGetFlags(ze_handle hEventPool, uint32_t *pFlags)
{
	const struct ut_ze_pool *p = ut_handle_find(&pools, hEventPool);
	ze_result rc = UT_ZE(zeEventPoolGetFlags)(hEventPool, pFlags);

	if (!rc && pFlags && p && p->forced)
		*pFlags &= ~(uint32_t)ZE_POOL_TIMESTAMP;
	return rc;
}

ze_result ut_zeEventPoolDestroy(ze_handle hEventPool)
{
	return UT_ZE(zeEventPoolDestroy)(hEventPool);
}

/* ---- the program's events ------------------------------------------------------------------ */

struct ut_ze_event *ut_ze_event_find(ze_handle event)
{
	return event ? ut_handle_find(&events, event) : NULL;
}

static struct ut_ze_event *meet_event(ze_handle event, struct ut_ze_context *context)
{
	struct ut_ze_event *e = ut_handle_item_of(&events, event);

	if (!e)
		return NULL;
	e->context = context;
	e->handle = event;
	e->last = (struct ze_ticks){ 0 };
	atomic_store(&e->run, NULL);
	atomic_store(&e->live, true);
	return e;
}

ze_result ut_zeEventCreate(ze_handle hEventPool, const void *desc, ze_made phEvent)
{
	ze_result rc = UT_ZE(zeEventCreate)(hEventPool, desc, phEvent);
	const struct ut_ze_pool *p = ut_handle_find(&pools, hEventPool);
	struct ut_ze_event *e = !rc && phEvent && p ? meet_event(*phEvent, p->context) : NULL;

	if (e) {
		e->timed = p->timed;
		e->asked = p->asked;
		e->counted = p->counted;
	}
	return rc;
}

void ut_ze_event_met(ze_handle context, ze_handle event, const struct ze_counted_event_desc *desc)
{
	struct ut_ze_event *e = meet_event(event, ut_ze_context_of(context));

	if (!e)
		return;
	e->counted = true;
	e->timed = e->asked =
		desc && desc->flags & (ZE_COUNTED_TIMESTAMP | ZE_COUNTED_MAPPED_TIMESTAMP);
}

ze_result ut_zeEventCounterBasedCreate(ze_handle hContext, ze_handle hDevice, const void *desc,
				       ze_made phEvent)
{
	ze_result rc = UT_ZE(zeEventCounterBasedCreate)(hContext, hDevice, desc, phEvent);

	if (!rc && phEvent)
		ut_ze_event_met(hContext, *phEvent, desc);
	return rc;
}

/*
 * The event is about to lose what it knows. What it stands for is told, if it is complete; if it is
 * not, nobody will know when it ran.
 */
static void let_go(struct ut_ze_event *e, bool for_good)
{
	struct ut_ze_run *r = atomic_load(&e->run);

	if (!r || !ut_ze_lock(UT_ZE_LONG_PATIENCE))
		return;
	r = atomic_load(&e->run);
	if (r) {
		(void)ut_ze_stream_visit(r->stream, 0);
		r = atomic_load(&e->run);
	}
	if (r && for_good)
		ut_ze_run_forget_event(r, e->index);
	ut_ze_unlock();
}

ze_result ut_zeEventDestroy(ze_handle hEvent)
{
	struct ut_ze_event *e = ut_ze_event_find(hEvent);

	if (e && atomic_load(&e->live)) {
		let_go(e, true);
		atomic_store(&e->live, false);
	}
	return UT_ZE(zeEventDestroy)(hEvent);
}

ze_result ut_zeEventHostReset(ze_handle hEvent)
{
	struct ut_ze_event *e = ut_ze_event_find(hEvent);

	if (e)
		let_go(e, false);
	return UT_ZE(zeEventHostReset)(hEvent);
}

/* It is signaled: so is what it stands for complete, and what came before it. */
static void signaled(ze_handle event, ze_result rc)
{
	struct ut_ze_event *e = rc == ZE_SUCCESS ? ut_ze_event_find(event) : NULL;

	if (e && atomic_load(&e->run))
		ut_ze_stream_waited(atomic_load(&e->stream), 0);
}

ze_result ut_zeEventHostSynchronize(ze_handle hEvent, uint64_t timeout)
{
	ze_result rc = UT_ZE(zeEventHostSynchronize)(hEvent, timeout);

	signaled(hEvent, rc);
	return rc;
}

ze_result ut_zeEventQueryStatus(ze_handle hEvent)
{
	ze_result rc = UT_ZE(zeEventQueryStatus)(hEvent);

	signaled(hEvent, rc);
	return rc;
}

/* ---- fork ---------------------------------------------------------------------------------- */

void ut_ze_events_forked(void)
{
	unlock_own();
	for (struct ut_handle_item *i = atomic_load(&events.last); i; i = i->all)
		atomic_store(&((struct ut_ze_event *)i)->run, NULL);
}
