/*
 * queue.c - the program's command queues: the calls that make, release and ask about them,
 * and the rows of the timeline that they have.
 *
 * Queues are made with CL_QUEUE_PROFILING_ENABLE, whether the program wants it or not. A program
 * that did not ask for it gets the answers that it would get without us.
 */
#include <stdio.h>
#include <string.h>

#include "backend/opencl/calls.h"
#include "backend/opencl/harvest.h"

/* So many rows a reader can tell apart: then a queue may also follow one of another context. */
#define ENOUGH_ROWS 64u

struct context {
	struct ut_handle_item item;
	_Atomic uint32_t number;
};

/* One for every address that a queue ever had: small. What is more is in the row. */
struct queue {
	struct ut_handle_item item;
	struct ut_cl_row *_Atomic row; /* NULL when the program has let go of the queue */
	_Atomic uint32_t references;   /* of the program's */
	bool timed;                    /* its commands have times */
	bool forced;                   /* because of us: the program must not notice */
};

static struct ut_handle_table queues = { .size = sizeof(struct queue) };
static struct ut_handle_table contexts = { .size = sizeof(struct context) };

/* ---- rows ---------------------------------------------------------------------------------- */

static struct ut_cl_row *_Atomic last_row;
static _Atomic uint32_t row_count, free_count;

struct ut_cl_row *ut_cl_row_last(void)
{
	return atomic_load(&last_row);
}

static bool opencl_queue_take_row(struct ut_cl_row *r)
{
	bool taken = false;

	if (!atomic_compare_exchange_strong(&r->taken, &taken, true))
		return false;
	atomic_fetch_sub(&free_count, 1);
	return true;
}

static void leave_row(struct queue *q)
{
	struct ut_cl_row *r = atomic_exchange(&q->row, NULL);

	if (!r)
		return;
	atomic_fetch_add(&free_count, 1);
	atomic_store(&r->taken, false);
}

/* A row that a released queue has left; what was queued there has to be told first. */
static struct ut_cl_row *free_row(const struct ut_cl_device *d, bool ordered, uint32_t context)
{
	struct ut_cl_row *other = NULL;

	if (!atomic_load(&free_count))
		return NULL;
	for (struct ut_cl_row *r = ut_cl_row_last(); r; r = r->older) {
		if (r->device != d || r->ordered != ordered || atomic_load(&r->taken) ||
		    atomic_load(&r->waiting))
			continue;
		if (r->context == context && opencl_queue_take_row(r))
			return r;
		other = r;
	}
	return other && atomic_load(&row_count) >= ENOUGH_ROWS && opencl_queue_take_row(other)
		       ? other
		       : NULL;
}

static struct ut_cl_row *new_row(struct ut_cl_device *d, bool ordered, uint32_t context,
				 cl_command_queue queue)
{
	struct ut_cl_row *r = ut_guest_alloc(sizeof(*r));
	char name[96];

	if (!r)
		return NULL;
	snprintf(name, sizeof(name), "OpenCL queue %u%s, context %u",
		 atomic_fetch_add(&row_count, 1) + 1, ordered ? "" : " (out of order)", context);
	r->device = d;
	r->ordered = ordered;
	r->context = context;
	r->id = ut_cl.host->queue(d->id, name, (uint64_t)(uintptr_t)queue);
	atomic_store(&r->taken, true);
	r->older = atomic_load(&last_row);
	while (!atomic_compare_exchange_weak(&last_row, &r->older, r))
		;
	return r;
}

/* ---- what is known about a queue ----------------------------------------------------------- */

/* Contexts are numbered as they come. */
static uint32_t context_number(cl_context context)
{
	static _Atomic uint32_t last;
	struct context *c = ut_handle_item_of(&contexts, context);
	uint32_t none = 0;

	if (c && !atomic_load(&c->number))
		atomic_compare_exchange_strong(&c->number, &none, atomic_fetch_add(&last, 1) + 1);
	return c ? atomic_load(&c->number) : 0;
}

/* After the queue was made, or at the first sight of one that was made behind our back. */
static struct queue *learn_queue(cl_command_queue queue, bool forced)
{
	struct queue *q = ut_handle_item_of(&queues, queue);
	UT_CL_FUNCTION(clGetCommandQueueInfo) ask = UT_CL(clGetCommandQueueInfo, queue);
	cl_command_queue_properties bits = 0;
	cl_context context = NULL;
	cl_device_id device = NULL;
	struct ut_cl_device *d;
	struct ut_cl_row *r;
	bool ordered;

	if (!q || ask(queue, CL_QUEUE_PROPERTIES, sizeof(bits), &bits, NULL))
		return NULL;
	ask(queue, CL_QUEUE_DEVICE, sizeof(cl_device_id), &device, NULL);
	ask(queue, CL_QUEUE_CONTEXT, sizeof(cl_context), &context, NULL);
	d = ut_cl_device_find(device);
	if (!d)
		return NULL;
	ordered = !(bits & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
	q->timed = bits & CL_QUEUE_PROFILING_ENABLE;
	q->forced = forced && q->timed;
	r = atomic_load(&q->row);
	if (!r || r->device != d || r->ordered != ordered) {
		leave_row(q);
		r = free_row(d, ordered, context_number(context));
		r = r ? r : new_row(d, ordered, context_number(context), queue);
		atomic_store(&q->row, r);
	}
	ut_cl_device_look(d, ut_cl.host->now());
	return q;
}

struct ut_cl_row *ut_cl_queue_row(cl_command_queue queue, bool *untimed)
{
	struct queue *q = ut_handle_find(&queues, queue);
	struct ut_cl_row *r;

	if (!q || !atomic_load_explicit(&q->row, memory_order_relaxed))
		q = queue ? learn_queue(queue, q && q->forced) : NULL;
	r = q ? atomic_load_explicit(&q->row, memory_order_acquire) : NULL;
	if (!r || !r->id)
		return NULL;
	*untimed = !q->timed;
	return q->timed ? r : NULL;
}

bool ut_cl_queue_is_forced(cl_command_queue queue)
{
	const struct queue *q = ut_handle_find(&queues, queue);

	return q && q->forced;
}

/* ---- made and released --------------------------------------------------------------------- */

/* A queue that the program has just been given. NULL: there is nothing to know about it. */
static struct ut_cl_row *meet_queue(cl_command_queue queue, cl_device_id device, bool forced)
{
	struct queue *q = queue && ut_cl.work ? learn_queue(queue, forced) : NULL;
	struct ut_cl_row *r = q ? atomic_load(&q->row) : NULL;

	if (q)
		atomic_store(&q->references, 1);
	else if (queue)
		(void)ut_cl_device_find(device); /* tables of calls name its kind */
	if (r)
		r->has_list = false;
	return r;
}

cl_command_queue CL_API_CALL ut_clCreateCommandQueue(cl_context context, cl_device_id device,
						     cl_command_queue_properties properties,
						     cl_int *errcode_ret)
{
	UT_CL_FUNCTION(clCreateCommandQueue) next = UT_CL(clCreateCommandQueue, context);
	cl_command_queue_properties more = properties | CL_QUEUE_PROFILING_ENABLE;
	cl_command_queue queue = NULL;

	if (ut_cl.work && more != properties)
		queue = next(context, device, more, errcode_ret);
	if (!queue) {
		more = properties;
		queue = next(context, device, properties, errcode_ret);
	}
	meet_queue(queue, device, more != properties);
	return queue;
}

/*
 * The list with our bit in it; false if nothing has to be done or it is too long for us. A queue on
 * the device is not ours to time.
 */
static bool add_profiling(const cl_queue_properties *from, cl_queue_properties to[32],
			  cl_uint *count)
{
	bool has_bits = false;
	cl_uint n = 0;

	for (; from && from[n] && n < 28; n += 2) {
		to[n] = from[n];
		to[n + 1] = from[n + 1];
		if (from[n] != CL_QUEUE_PROPERTIES)
			continue;
		has_bits = true;
		if (from[n + 1] & (CL_QUEUE_PROFILING_ENABLE | CL_QUEUE_ON_DEVICE))
			return false;
		to[n + 1] |= CL_QUEUE_PROFILING_ENABLE;
	}
	if (from && from[n])
		return false;
	*count = from ? n + 1 : 0;
	if (!has_bits) {
		to[n++] = CL_QUEUE_PROPERTIES;
		to[n++] = CL_QUEUE_PROFILING_ENABLE;
	}
	to[n] = 0;
	return true;
}

typedef cl_command_queue(CL_API_CALL *make_queue_fn)(cl_context, cl_device_id,
						     const cl_queue_properties *, cl_int *);

/* limits: what OpenCL gives, and where to hand it on */
static cl_command_queue make_queue(make_queue_fn next, cl_context context, cl_device_id device,
				   const cl_queue_properties *properties, cl_int *errcode_ret)
{
	cl_queue_properties list[32];
	cl_command_queue queue = NULL;
	bool forced = false;
	cl_uint count = 0;
	struct ut_cl_row *r;

	if (ut_cl.work && add_profiling(properties, list, &count)) {
		queue = next(context, device, list, errcode_ret);
		forced = queue != NULL;
	}
	if (!queue)
		queue = next(context, device, properties, errcode_ret);
	r = meet_queue(queue, device, forced);
	if (r) {
		r->has_list = true;
		r->property_count = count;
		if (forced && count)
			memcpy(r->property, properties, count * sizeof(*properties));
	}
	return queue;
}

cl_command_queue CL_API_CALL
ut_clCreateCommandQueueWithProperties(cl_context context, cl_device_id device,
				      const cl_queue_properties *properties, cl_int *errcode_ret)
{
	return make_queue(UT_CL(clCreateCommandQueueWithProperties, context), context, device,
			  properties, errcode_ret);
}

cl_command_queue CL_API_CALL
ut_clCreateCommandQueueWithPropertiesKHR(cl_context context, cl_device_id device,
					 const cl_queue_properties *properties, cl_int *errcode_ret)
{
	return make_queue(
		(make_queue_fn)ut_cl_next(UT_CL_clCreateCommandQueueWithPropertiesKHR, context),
		context, device, properties, errcode_ret);
}

cl_int CL_API_CALL ut_clRetainCommandQueue(cl_command_queue command_queue)
{
	struct queue *q = ut_handle_find(&queues, command_queue);
	cl_int code = UT_CL(clRetainCommandQueue, command_queue)(command_queue);

	if (q && !code)
		atomic_fetch_add(&q->references, 1);
	return code;
}

/* What we know goes first: as soon as the queue is gone another thread may be given its address. */
cl_int CL_API_CALL ut_clReleaseCommandQueue(cl_command_queue command_queue)
{
	struct queue *q = ut_handle_find(&queues, command_queue);

	if (q && atomic_load(&q->references) && atomic_fetch_sub(&q->references, 1) == 1)
		leave_row(q);
	return UT_CL(clReleaseCommandQueue, command_queue)(command_queue);
}

/* ---- asked about --------------------------------------------------------------------------- */

/* An answer in the way of OpenCL's queries. */
static cl_int opencl_queue_answer(const void *from, size_t size, size_t room, void *to,
				  size_t *size_ret)
{
	if (to && room < size)
		return CL_INVALID_VALUE;
	if (to && size)
		memcpy(to, from, size);
	if (size_ret)
		*size_ret = size;
	return CL_SUCCESS;
}

#ifndef CL_QUEUE_PROPERTIES_ARRAY
#define CL_QUEUE_PROPERTIES_ARRAY 0x1098
#endif

cl_int CL_API_CALL ut_clGetCommandQueueInfo(cl_command_queue command_queue,
					    cl_command_queue_info param_name,
					    size_t param_value_size, void *param_value,
					    size_t *param_value_size_ret)
{
	struct queue *q = ut_handle_find(&queues, command_queue);
	const struct ut_cl_row *r = q && q->forced ? atomic_load(&q->row) : NULL;
	cl_command_queue_properties bits;
	cl_int code;

	if (r && r->has_list && param_name == CL_QUEUE_PROPERTIES_ARRAY)
		return opencl_queue_answer(r->property, r->property_count * sizeof(*r->property),
					   param_value_size, param_value, param_value_size_ret);
	code = UT_CL(clGetCommandQueueInfo, command_queue)(
		command_queue, param_name, param_value_size, param_value, param_value_size_ret);
	if (q && q->forced && param_name == CL_QUEUE_PROPERTIES && !code && param_value) {
		memcpy(&bits, param_value, sizeof(bits));
		bits &= ~(cl_command_queue_properties)CL_QUEUE_PROFILING_ENABLE;
		memcpy(param_value, &bits, sizeof(bits));
	}
	return code;
}

/* OpenCL 1.0 could change a queue; a runtime that still can may take our bit away. */
cl_int CL_API_CALL ut_clSetCommandQueueProperty(cl_command_queue command_queue,
						cl_command_queue_properties properties,
						cl_bool enable,
						cl_command_queue_properties *old_properties)
{
	const cl_command_queue_properties ours = CL_QUEUE_PROFILING_ENABLE;
	struct queue *q = ut_handle_find(&queues, command_queue);
	bool forced = q && q->forced;
	cl_int code = UT_CL(clSetCommandQueueProperty, command_queue)(command_queue, properties,
								      enable, old_properties);

	if (code || !ut_cl.work)
		return code;
	if (forced && old_properties)
		*old_properties &= ~ours;
	learn_queue(command_queue, forced && !(properties & ours));
	return code;
}
