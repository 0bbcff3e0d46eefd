/*
 * queue.c - queues, fences, and the calls that execute lists.
 *
 * Before a list is executed whose last execution is not told yet, a readout of that one is put in
 * front of it (readout.c); the same for events of other runs that the list will signal or reset.
 */
#include <string.h>

#include "backend/levelzero/ze_list.h"
#include "backend/levelzero/ze_memory.h"

struct fence {
	struct ut_handle_item item;
	struct ut_ze_queue *queue;
};

static struct ut_handle_table queues = { .size = sizeof(struct ut_ze_queue) };
static struct ut_handle_table fences = { .size = sizeof(struct fence) };

struct ut_ze_queue *ut_ze_queue_find(ze_handle queue)
{
	return queue ? ut_handle_find(&queues, queue) : NULL;
}

/* ---- queues -------------------------------------------------------------------------------- */

ze_result ut_zeCommandQueueCreate(ze_handle hContext, ze_handle hDevice, const void *desc,
				  ze_made phCommandQueue)
{
	ze_result rc = UT_ZE(zeCommandQueueCreate)(hContext, hDevice, desc, phCommandQueue);
	const struct ze_queue_desc *d = desc;
	struct ut_ze_queue *q;

	if (rc || !ut_ze.work || !phCommandQueue)
		return rc;
	q = ut_handle_item_of(&queues, *phCommandQueue);
	if (q) {
		(void)ut_ze_context_of(hContext);
		q->device = ut_ze_device_find(hDevice);
		q->stream.device = q->device;
		q->stream.ordered = false;
		q->stream.synchronous = d && d->mode == ZE_QUEUE_SYNCHRONOUS;
		q->stream.last_end = 0;
		q->stream.row = ut_ze_device_row(q->device, d ? d->ordinal : 0, d ? d->index : 0);
		ut_ze_stream_add(&q->stream);
	}
	return rc;
}

ze_result ut_zeCommandQueueDestroy(ze_handle hCommandQueue)
{
	struct ut_ze_queue *q = ut_ze_queue_find(hCommandQueue);

	if (q)
		ut_ze_stream_waited(&q->stream, 0);
	return UT_ZE(zeCommandQueueDestroy)(hCommandQueue);
}

ze_result ut_zeCommandQueueSynchronize(ze_handle hCommandQueue, uint64_t timeout)
{
	struct ut_ze_queue *q = ut_ze_queue_find(hCommandQueue);
	uint64_t submitted = q ? atomic_load(&q->stream.submitted) : 0;
	ze_result rc = UT_ZE(zeCommandQueueSynchronize)(hCommandQueue, timeout);

	if (rc == ZE_SUCCESS && q)
		ut_ze_stream_waited(&q->stream, submitted);
	return rc;
}

ze_result ut_zeDeviceSynchronize(ze_handle hDevice)
{
	ze_result rc = UT_ZE(zeDeviceSynchronize)(hDevice);

	for (struct ut_ze_stream *s = ut_ze_stream_last(); !rc && s; s = s->older)
		ut_ze_stream_waited(s, 0);
	return rc;
}

/* ---- fences -------------------------------------------------------------------------------- */

ze_result ut_zeFenceCreate(ze_handle hCommandQueue, const void *desc, ze_made phFence)
{
	ze_result rc = UT_ZE(zeFenceCreate)(hCommandQueue, desc, phFence);
	struct fence *f = !rc && phFence ? ut_handle_item_of(&fences, *phFence) : NULL;

	if (f)
		f->queue = ut_ze_queue_find(hCommandQueue);
	return rc;
}

static void passed(ze_handle fence, ze_result rc)
{
	const struct fence *f = rc == ZE_SUCCESS ? ut_handle_find(&fences, fence) : NULL;

	if (f && f->queue)
		ut_ze_stream_waited(&f->queue->stream, 0);
}

ze_result ut_zeFenceHostSynchronize(ze_handle hFence, uint64_t timeout)
{
	ze_result rc = UT_ZE(zeFenceHostSynchronize)(hFence, timeout);

	passed(hFence, rc);
	return rc;
}

ze_result ut_zeFenceQueryStatus(ze_handle hFence)
{
	ze_result rc = UT_ZE(zeFenceQueryStatus)(hFence);

	passed(hFence, rc);
	return rc;
}

ze_result ut_zeFenceDestroy(ze_handle hFence)
{
	return UT_ZE(zeFenceDestroy)(hFence);
}

/* ---- lists that are executed --------------------------------------------------------------- */

/* What is handed to the driver: the program's lists, with readouts of ours between them. */
struct execution {
	uint32_t count, room;
	ze_handle *lists;
	uint32_t run_count;
	struct ut_ze_run **runs;
	uint32_t read_count;
	struct ut_ze_run **reads; /* whose timestamps are put aside */
	uint32_t given;           /* lists of the program's */
	struct ut_ze_stream *stream;
};

static bool open_execution(struct execution *x, uint32_t count)
{
	/* Each list may need a readout of its last run; of other lists' runs there are few. */
	*x = (struct execution){ .room = 4 * count + 16, .given = count };
	x->lists = ut_ze_alloc(x->room * sizeof(*x->lists));
	x->runs = ut_ze_alloc(x->room * sizeof(struct ut_ze_run *));
	x->reads = ut_ze_alloc(x->room * sizeof(struct ut_ze_run *));
	return x->lists && x->runs && x->reads;
}

static void close_execution(struct execution *x)
{
	ut_ze_free(x->lists, x->room * sizeof(*x->lists));
	ut_ze_free(x->runs, x->room * sizeof(struct ut_ze_run *));
	ut_ze_free(x->reads, x->room * sizeof(struct ut_ze_run *));
}

/* The run has to be read before the device goes on, in this stream. */
static void put_readout(struct execution *x, struct ut_ze_run *r)
{
	struct ut_ze_readout *o =
		r->program && r->stream == x->stream && x->count + x->given < x->room
			? ut_ze_readout_for(r)
			: NULL;

	if (o) {
		x->lists[x->count++] = ut_ze_readout_list(o);
		x->reads[x->read_count++] = r;
	} else {
		ut_ze_run_forget(r);
	}
}

/* An event that the list will signal or reset, and that another run still needs. */
static void free_event(struct execution *x, struct ut_ze_event *e, const struct ut_ze_program *p)
{
	struct ut_ze_run *r = atomic_load(&e->run);

	if (r && r->program != p)
		(void)ut_ze_stream_visit(r->stream, 0);
	r = atomic_load(&e->run);
	if (r && r->program != p)
		put_readout(x, r);
}

static void levelzero_queue_prepare(struct execution *x, struct ut_ze_program *p)
{
	if (p->run)
		(void)ut_ze_stream_visit(p->run->stream, 0);
	if (p->run && !p->run->readout)
		put_readout(x, p->run);
	for (uint32_t i = 0; i < p->reset_count; i++)
		free_event(x, p->resets[i], p);
	for (uint32_t i = 0; i < p->count; i++) {
		struct ut_ze_event *e = p->commands[i].event;

		if (e && !e->own)
			free_event(x, e, p);
	}
}

static void levelzero_queue_add_run(struct execution *x, struct ut_ze_program *p,
				    uint64_t correlation)
{
	struct ut_ze_run *r = p->count ? ut_ze_run_of(p) : NULL;

	if (!r) {
		if (p->count)
			ut_ze_run_dropped(p->count);
		return;
	}
	r->stream = x->stream;
	r->thread = ut_ze_thread();
	r->correlation = correlation;
	r->silent = !ut_ze.host->on();
	r->blind = p->blind;
	r->number = ++p->executed;
	r->before = p->run;
	r->mixed = p->run != NULL;
	if (p->run) {
		p->run->mixed = true;
		p->run->after = r;
	}
	p->run = r;
	x->runs[x->run_count++] = r;
}

/* Under the lock. */
static void plan(struct execution *x, uint32_t count, ze_handle *given, uint64_t correlation)
{
	for (uint32_t i = 0; i < count; i++) {
		struct ut_ze_list *l = ut_ze_list_find(given[i]);

		if (l && l->program) {
			levelzero_queue_prepare(x, l->program);
			levelzero_queue_add_run(x, l->program, correlation);
		}
		x->lists[x->count++] = given[i];
	}
}

static void levelzero_queue_finalize(struct execution *x, struct ut_ze_stream *s, ze_result rc,
				     uint64_t submitted)
{
	for (uint32_t i = 0; rc && i < x->read_count; i++)
		ut_ze_readout_cancel(x->reads[i]);
	for (uint32_t i = 0; i < x->run_count; i++) {
		x->runs[i]->submitted = submitted;
		if (rc)
			ut_ze_run_drop(x->runs[i]);
		else
			ut_ze_run_submit(s, x->runs[i]);
	}
}

/* How the lists get to the device. */
struct way {
	enum ut_ze_id id;
	ze_handle to;
	ze_handle fence;
	const void *next;
	ze_handle signal;
	uint32_t wait_count;
	ze_handle *waits;
	uint64_t correlation;
};

static ze_result hand_over(const struct way *w, uint32_t count, ze_handle *lists)
{
	if (w->id == UT_ZE_zeCommandQueueExecuteCommandLists)
		return UT_ZE(zeCommandQueueExecuteCommandLists)(w->to, count, lists, w->fence);
	if (w->id == UT_ZE_zeCommandListImmediateAppendCommandListsExp)
		return UT_ZE(zeCommandListImmediateAppendCommandListsExp)(
			w->to, count, lists, w->signal, w->wait_count, w->waits);
	return UT_ZE(zeCommandListImmediateAppendCommandListsWithParameters)(
		w->to, count, lists, w->next, w->signal, w->wait_count, w->waits);
}

/* Not under the lock: a queue may wait until all is done. */
static ze_result execute(const struct way *w, struct ut_ze_stream *s, uint32_t count,
			 ze_handle *lists)
{
	struct execution x = { 0 };
	bool ours = s && s->device && lists && open_execution(&x, count) &&
		    ut_ze_lock(UT_ZE_LONG_PATIENCE);
	uint64_t submitted;
	ze_result rc;

	if (ours) {
		x.stream = s;
		plan(&x, count, lists, w->correlation);
		ut_ze_unlock();
	}
	submitted = ut_ze.host->now();
	rc = ours ? hand_over(w, x.count, x.lists) : hand_over(w, count, lists);
	if (ours && ut_ze_lock(UT_ZE_LONG_PATIENCE)) {
		levelzero_queue_finalize(&x, s, rc, submitted);
		ut_ze_unlock();
	}
	close_execution(&x);
	if (s && s->synchronous)
		ut_ze_stream_waited(s, 0);
	return rc;
}

ze_result ut_zeCommandQueueExecuteCommandLists(ze_handle hCommandQueue, uint32_t numCommandLists,
					       ze_handle *phCommandLists, ze_handle hFence,
					       uint64_t correlation)
{
	const struct way w = { .id = UT_ZE_zeCommandQueueExecuteCommandLists,
			       .to = hCommandQueue,
			       .fence = hFence,
			       .correlation = correlation };
	struct ut_ze_queue *q = ut_ze.work ? ut_ze_queue_find(hCommandQueue) : NULL;

	return execute(&w, q ? &q->stream : NULL, numCommandLists, phCommandLists);
}

static struct ut_ze_stream *levelzero_queue_stream_of(ze_handle list)
{
	struct ut_ze_list *l = ut_ze.work ? ut_ze_list_find(list) : NULL;

	return l && l->immediate && !l->capturing ? &l->stream : NULL;
}

/* limits: Level Zero's, NOLINTBEGIN(readability-function-size) */
ze_result
ut_zeCommandListImmediateAppendCommandListsExp(ze_handle hCommandListImmediate,
					       uint32_t numCommandLists, ze_handle *phCommandLists,
					       ze_handle hSignalEvent, uint32_t numWaitEvents,
					       ze_handle *phWaitEvents, uint64_t correlation)
{
	const struct way w = { .id = UT_ZE_zeCommandListImmediateAppendCommandListsExp,
			       .to = hCommandListImmediate,
			       .signal = hSignalEvent,
			       .wait_count = numWaitEvents,
			       .waits = phWaitEvents,
			       .correlation = correlation };

	return execute(&w, levelzero_queue_stream_of(hCommandListImmediate), numCommandLists,
		       phCommandLists);
}

/* limits: Level Zero's */
ze_result ut_zeCommandListImmediateAppendCommandListsWithParameters(
	ze_handle hCommandListImmediate, uint32_t numCommandLists, ze_handle *phCommandLists,
	const void *pNext, ze_handle hSignalEvent, uint32_t numWaitEvents, ze_handle *phWaitEvents,
	uint64_t correlation)
{
	const struct way w = { .id = UT_ZE_zeCommandListImmediateAppendCommandListsWithParameters,
			       .to = hCommandListImmediate,
			       .next = pNext,
			       .signal = hSignalEvent,
			       .wait_count = numWaitEvents,
			       .waits = phWaitEvents,
			       .correlation = correlation };

	return execute(&w, levelzero_queue_stream_of(hCommandListImmediate), numCommandLists,
		       phCommandLists);
}
/* NOLINTEND(readability-function-size) */
