/*
 * object.c - what we know about the program's devices, kernels and command buffers, and the
 * calls that make them or ask about them; for queues see queue.c.
 */
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "backend/opencl/calls.h"
#include "backend/opencl/cl_text.h"
#include "backend/opencl/harvest.h"

#define SECOND UINT64_C(1000000000)

static struct ut_handle_table devices = { .size = sizeof(struct ut_cl_device) };
static struct ut_handle_table kernels = { .size = sizeof(struct ut_cl_kernel) };
static struct ut_handle_table buffers = { .size = sizeof(struct ut_cl_buffer) };

/* ---- devices ------------------------------------------------------------------------------- */

/* Its place among the devices of its platform: how the program counts them. */
static uint32_t index_of(cl_device_id device)
{
	cl_platform_id platform = NULL;
	cl_device_id list[64];
	cl_uint count = 0;

	UT_CL(clGetDeviceInfo, device)
	(device, CL_DEVICE_PLATFORM, sizeof(cl_platform_id), &platform, NULL);
	if (!platform ||
	    UT_CL(clGetDeviceIDs, platform)(platform, CL_DEVICE_TYPE_ALL, 64, list, &count))
		return 0;
	for (cl_uint i = 0; i < count && i < 64; i++) {
		if (list[i] == device)
			return i;
	}
	return 0;
}

/*
 * What is younger than a device must not even be asked for: the loader would look behind the end of
 * the table of its vendor.
 */
static bool is_at_least(cl_device_id device, char major, char minor)
{
	char text[128] = "";

	UT_CL(clGetDeviceInfo, device)
	(device, CL_DEVICE_VERSION, sizeof(text) - 1, text, NULL);
	if (strncmp(text, "OpenCL ", 7) != 0 || text[8] != '.')
		return false;
	return text[7] > major || (text[7] == major && text[9] >= minor);
}

static void define_device(struct ut_cl_device *d, cl_device_id device)
{
	struct ut_cl_device_text text;

	atomic_store(&d->no_timer, !is_at_least(device, '2', '1'));
	ut_cl_device_text(UT_CL(clGetDeviceInfo, device), device, &text);
	d->id = ut_cl.host->device(&(struct ut_device){ .size = sizeof(struct ut_device),
							.name = text.name,
							.label = text.label,
							.index = index_of(device),
							.api = ut_cl.api });
}

enum {
	UNKNOWN,
	IN_DEFINITION,
	KNOWN,
};

/* Only one thread defines it; the others give it a moment. */
struct ut_cl_device *ut_cl_device_find(cl_device_id device)
{
	struct ut_cl_device *d = device ? ut_handle_item_of(&devices, device) : NULL;
	uint32_t state = UNKNOWN;

	if (!d)
		return NULL;
	if (atomic_compare_exchange_strong(&d->state, &state, IN_DEFINITION)) {
		define_device(d, device);
		atomic_store(&d->state, KNOWN);
	}
	for (int i = 0; i < 1000 && atomic_load(&d->state) != KNOWN; i++)
		sched_yield();
	return d;
}

void ut_cl_device_forked(void)
{
	struct ut_handle_item *i = atomic_load(&devices.last);

	for (; i; i = i->all)
		atomic_flag_clear(&((struct ut_cl_device *)i)->clock.busy);
}

void ut_cl_device_look(struct ut_cl_device *d, uint64_t now)
{
	cl_device_id device = (cl_device_id)(uintptr_t)d->item.handle;
	uint64_t looked = atomic_load_explicit(&d->looked, memory_order_relaxed), before, after;
	UT_CL_FUNCTION(clGetDeviceAndHostTimer) timer;
	cl_ulong there = 0, here = 0;

	if (now - looked < SECOND || !atomic_compare_exchange_strong(&d->looked, &looked, now))
		return;
	if (looked && ut_cl.host->counter)
		ut_cl.host->counter(d->id, ut_cl.key.clock_error, now,
				    (double)ut_cl_clock_error(&d->clock));
	if (atomic_load_explicit(&d->no_timer, memory_order_relaxed))
		return;
	timer = UT_CL(clGetDeviceAndHostTimer, device);
	before = ut_cl.host->now();
	if (!timer || timer(device, &there, &here) || !there) {
		atomic_store(&d->no_timer, true);
		return;
	}
	after = ut_cl.host->now();
	ut_cl_clock_feed(&d->clock, UT_CL_CLOCK_TIMER, there, before, after);
}

/* ---- events -------------------------------------------------------------------------------- */

cl_int CL_API_CALL ut_clGetEventProfilingInfo(cl_event event, cl_profiling_info param_name,
					      size_t param_value_size, void *param_value,
					      size_t *param_value_size_ret)
{
	cl_command_queue queue = NULL;

	if (!UT_CL(clGetEventInfo, event)(event, CL_EVENT_COMMAND_QUEUE, sizeof(cl_command_queue),
					  &queue, NULL) &&
	    queue && ut_cl_queue_is_forced(queue))
		return CL_PROFILING_INFO_NOT_AVAILABLE;
	return UT_CL(clGetEventProfilingInfo, event)(event, param_name, param_value_size,
						     param_value, param_value_size_ret);
}

/*
 * A program that looks whether its command is complete: then it has to be told before it knows. One
 * that counts references: ours is not its business.
 */
cl_int CL_API_CALL ut_clGetEventInfo(cl_event event, cl_event_info param_name,
				     size_t param_value_size, void *param_value,
				     size_t *param_value_size_ret)
{
	cl_int code = UT_CL(clGetEventInfo, event)(event, param_name, param_value_size, param_value,
						   param_value_size_ret);
	cl_uint references;
	cl_int status;

	if (code || !param_value)
		return code;
	if (param_name == CL_EVENT_REFERENCE_COUNT) {
		if (ut_cl_harvest_references(event, &references))
			memcpy(param_value, &references, sizeof(references));
	} else if (param_name == CL_EVENT_COMMAND_EXECUTION_STATUS) {
		memcpy(&status, param_value, sizeof(status));
		if (status <= CL_COMPLETE)
			ut_cl_harvest_waited();
	}
	return code;
}

/* ---- kernels ------------------------------------------------------------------------------- */

static struct ut_cl_kernel *learn_kernel(cl_kernel kernel)
{
	struct ut_cl_kernel *k = kernel && ut_cl.work ? ut_handle_item_of(&kernels, kernel) : NULL;
	char name[8192]; /* compilers of C++ make names of some thousand bytes */

	if (!k)
		return NULL;
	name[0] = '\0';
	if (UT_CL(clGetKernelInfo, kernel)(kernel, CL_KERNEL_FUNCTION_NAME, sizeof(name), name,
					   NULL))
		memcpy(name, "?", 2);
	name[sizeof(name) - 1] = '\0';
	k->wanted = ut_cl.host->wants_kernel(name);
	atomic_store(&k->shape, NULL);
	k->name = ut_cl.host->name(name, strlen(name));
	return k;
}

struct ut_cl_kernel *ut_cl_kernel_find(cl_kernel kernel)
{
	struct ut_cl_kernel *k = ut_handle_find(&kernels, kernel);

	return k ? k : learn_kernel(kernel);
}

cl_kernel CL_API_CALL ut_clCreateKernel(cl_program program, const char *kernel_name,
					cl_int *errcode_ret)
{
	cl_kernel kernel = UT_CL(clCreateKernel, program)(program, kernel_name, errcode_ret);

	learn_kernel(kernel);
	return kernel;
}

cl_int CL_API_CALL ut_clCreateKernelsInProgram(cl_program program, cl_uint num_kernels,
					       cl_kernel *list, cl_uint *num_kernels_ret)
{
	cl_uint count = 0;
	cl_int code = UT_CL(clCreateKernelsInProgram, program)(program, num_kernels, list, &count);

	for (cl_uint i = 0; !code && list && i < count && i < num_kernels; i++)
		learn_kernel(list[i]);
	if (!code && num_kernels_ret)
		*num_kernels_ret = count;
	return code;
}

cl_kernel CL_API_CALL ut_clCloneKernel(cl_kernel source_kernel, cl_int *errcode_ret)
{
	cl_kernel kernel = UT_CL(clCloneKernel, source_kernel)(source_kernel, errcode_ret);

	learn_kernel(kernel);
	return kernel;
}

/* ---- command buffers ----------------------------------------------------------------------- */

struct ut_cl_buffer *ut_cl_buffer_find(const void *buffer)
{
	return ut_handle_find(&buffers, buffer);
}

void ut_cl_buffer_grows(const void *buffer)
{
	struct ut_cl_buffer *b = ut_cl_buffer_find(buffer);

	if (b)
		atomic_fetch_add(&b->commands, 1);
}

void *CL_API_CALL ut_clCreateCommandBufferKHR(cl_uint num_queues, const cl_command_queue *list,
					      const cl_ulong *properties, cl_int *errcode_ret)
{
	const void *handle = num_queues && list ? list[0] : NULL;
	void *(CL_API_CALL * next)(cl_uint, const cl_command_queue *, const cl_ulong *, cl_int *) =
		(void *(CL_API_CALL *)(cl_uint, const cl_command_queue *, const cl_ulong *,
				       cl_int *))ut_cl_next(UT_CL_clCreateCommandBufferKHR, handle);
	void *made = next(num_queues, list, properties, errcode_ret);
	struct ut_cl_buffer *b = made ? ut_handle_item_of(&buffers, made) : NULL;

	if (b) {
		b->queue = num_queues && list ? list[0] : NULL;
		atomic_store(&b->commands, 0);
	}
	return made;
}

typedef cl_int(CL_API_CALL *buffer_kernel_fn)(void *, cl_command_queue, const cl_ulong *, cl_kernel,
					      cl_uint, const size_t *, const size_t *,
					      const size_t *, cl_uint, const cl_uint *, cl_uint *,
					      void *);

/* limits: OpenCL's parameters, NOLINTNEXTLINE(readability-function-size) */
cl_int CL_API_CALL ut_clCommandNDRangeKernelKHR(
	void *command_buffer, cl_command_queue command_queue, const cl_ulong *properties,
	cl_kernel kernel, cl_uint work_dim, const size_t *global_work_offset,
	const size_t *global_work_size, const size_t *local_work_size,
	cl_uint num_sync_points_in_wait_list, const cl_uint *sync_point_wait_list,
	cl_uint *sync_point, void *mutable_handle)
{
	buffer_kernel_fn next =
		(buffer_kernel_fn)ut_cl_next(UT_CL_clCommandNDRangeKernelKHR, command_buffer);
	cl_int code = next(command_buffer, command_queue, properties, kernel, work_dim,
			   global_work_offset, global_work_size, local_work_size,
			   num_sync_points_in_wait_list, sync_point_wait_list, sync_point,
			   mutable_handle);

	if (!code)
		ut_cl_buffer_grows(command_buffer);
	return code;
}

/* ---- sizes --------------------------------------------------------------------------------- */

#define MOST_SHAPES 4096u

static struct ut_cl_shape *_Atomic shapes[2 * MOST_SHAPES];
static _Atomic uint32_t shape_count;

static uint32_t shape_text(const size_t *sizes)
{
	char text[96];
	int len;

	if (!sizes[0])
		return 0;
	len = sizes[2]   ? snprintf(text, sizeof(text), "%zux%zux%zu", sizes[0], sizes[1], sizes[2])
	      : sizes[1] ? snprintf(text, sizeof(text), "%zux%zu", sizes[0], sizes[1])
			 : snprintf(text, sizeof(text), "%zu", sizes[0]);
	return ut_cl.host->name(text, (size_t)len);
}

/* Not base/hashtab.h: threads of the traced program find and add at once, without a lock. */
static const struct ut_cl_shape *find_shape(const size_t sizes[6])
{
	uint64_t hash = 0;

	for (int i = 0; i < 6; i++)
		hash = (hash ^ sizes[i]) * UINT64_C(0x9e3779b97f4a7c15);
	for (uint64_t at = hash >> 40;; at++) {
		struct ut_cl_shape *_Atomic *slot = &shapes[at % (2 * MOST_SHAPES)];
		struct ut_cl_shape *s = atomic_load(slot), *other = NULL;

		if (s && !memcmp(s->sizes, sizes, sizeof(s->sizes)))
			return s;
		if (s)
			continue;
		/* A program with new sizes at every launch must not fill the memory. */
		if (atomic_fetch_add(&shape_count, 1) >= MOST_SHAPES)
			return NULL;
		s = ut_guest_alloc(sizeof(*s));
		if (!s)
			return NULL;
		memcpy(s->sizes, sizes, sizeof(s->sizes));
		s->global = shape_text(sizes);
		s->local = shape_text(sizes + 3);
		if (atomic_compare_exchange_strong(slot, &other, s))
			return s;
		at--; /* look at what came into the slot meanwhile */
	}
}

const struct ut_cl_shape *ut_cl_shape(struct ut_cl_kernel *k, uint32_t dimensions,
				      const size_t *global, const size_t *local)
{
	const struct ut_cl_shape *s = atomic_load_explicit(&k->shape, memory_order_acquire);
	size_t sizes[6] = { 0 };

	for (uint32_t i = 0; i < dimensions && i < 3; i++) {
		sizes[i] = global ? global[i] : 0;
		sizes[3 + i] = local ? local[i] : 0;
	}
	if (s && !memcmp(s->sizes, sizes, sizeof(sizes)))
		return s;
	s = find_shape(sizes);
	atomic_store_explicit(&k->shape, s, memory_order_release);
	return s;
}

uint64_t ut_cl_box_bytes(const size_t *region)
{
	return region ? (uint64_t)region[0] * region[1] * region[2] : 0;
}

uint64_t ut_cl_image_bytes(cl_mem image, const size_t *region)
{
	size_t element = 0;

	if (!image || !region ||
	    UT_CL(clGetImageInfo, image)(image, CL_IMAGE_ELEMENT_SIZE, sizeof(element), &element,
					 NULL))
		return 0;
	return ut_cl_box_bytes(region) * element;
}
