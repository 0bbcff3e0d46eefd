/*
 * libfake_opencl.c - a vendor of OpenCL's that pretends: one device that finishes every command the
 * moment it is queued. It is an old one, OpenCL 1.2, and its table of functions ends where that
 * version's ends, right before a page that nobody may touch. Its clock runs far from everybody
 * else's. It counts the events that nobody has released. FAKE_NO_PROFILING=1: it refuses queues
 * with profiling. FAKE_SIGNAL=1: clFlush() raises SIGUSR1 while it holds the lock of events.
 */
#define OPENCL_LIBRARY
#include "opencl_use.h"

#ifdef HAVE_OPENCL

#include <CL/cl_icd.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define EXPORT     __attribute__((visibility("default")))
#define CLOCK_AWAY UINT64_C(987654321000000)
#define STEP       10u /* ns from queued to submitted, and so on */

/* Every object begins with the table; so do loaders find their way. */
struct object {
	const cl_icd_dispatch *table;
	atomic_int references;
	const char *name;
	cl_command_queue queue;
	cl_command_queue_properties bits;
	cl_ulong queued;
};

static struct object platform, device;
static atomic_int live_events;
static pthread_mutex_t event_lock = PTHREAD_MUTEX_INITIALIZER;

static cl_ulong device_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (cl_ulong)t.tv_sec * 1000000000u + (cl_ulong)t.tv_nsec + CLOCK_AWAY;
}

static struct object *make(const char *name)
{
	struct object *o = calloc(1, sizeof(*o));

	o->table = platform.table;
	o->references = 1;
	o->name = name;
	return o;
}

static cl_int answer(const void *from, size_t size, size_t room, void *to, size_t *size_ret)
{
	if (to && room < size)
		return CL_INVALID_VALUE;
	if (to)
		memcpy(to, from, size);
	if (size_ret)
		*size_ret = size;
	return CL_SUCCESS;
}

#define TEXT(text) answer(text, strlen(text) + 1, size, value, size_ret)
#define VALUE(v)   answer(&(v), sizeof(v), size, value, size_ret)

static cl_int platform_info(cl_platform_id p, cl_platform_info what, size_t size, void *value,
			    size_t *size_ret)
{
	(void)p;
	switch (what) {
	case CL_PLATFORM_VERSION:
		return TEXT("OpenCL 1.2 fake");
	case CL_PLATFORM_EXTENSIONS:
		return TEXT("cl_khr_icd");
	case 0x0920: /* CL_PLATFORM_ICD_SUFFIX_KHR */
		return TEXT("FAKE");
	default:
		return TEXT("fake");
	}
}

static cl_int device_ids(cl_platform_id p, cl_device_type type, cl_uint room, cl_device_id *list,
			 cl_uint *count)
{
	(void)p;
	if (!(type & (CL_DEVICE_TYPE_ACCELERATOR | CL_DEVICE_TYPE_DEFAULT)))
		return CL_DEVICE_NOT_FOUND;
	if (list && room)
		list[0] = (cl_device_id)&device;
	if (count)
		*count = 1;
	return CL_SUCCESS;
}

static cl_int device_info(cl_device_id d, cl_device_info what, size_t size, void *value,
			  size_t *size_ret)
{
	const cl_device_type type = CL_DEVICE_TYPE_ACCELERATOR;
	const struct object *p = &platform;

	(void)d;
	if (what == CL_DEVICE_TYPE)
		return VALUE(type);
	if (what == CL_DEVICE_PLATFORM)
		return VALUE(p);
	if (what == CL_DEVICE_VERSION)
		return TEXT("OpenCL 1.2 fake");
	return what == CL_DEVICE_NAME ? TEXT("Fake device") : CL_INVALID_VALUE;
}

static cl_context
create_context(const cl_context_properties *list, cl_uint count, const cl_device_id *devices,
	       void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *arg,
	       cl_int *code)
{
	(void)list, (void)count, (void)devices, (void)notify, (void)arg;
	if (code)
		*code = CL_SUCCESS;
	return (cl_context)make("context");
}

static cl_int release(struct object *o)
{
	if (atomic_fetch_sub(&o->references, 1) == 1)
		free(o);
	return CL_SUCCESS;
}

static cl_int release_context(cl_context o)
{
	return release((struct object *)o);
}

static cl_int release_queue(cl_command_queue o)
{
	return release((struct object *)o);
}

static cl_int release_mem(cl_mem o)
{
	return release((struct object *)o);
}

static cl_int release_program(cl_program o)
{
	return release((struct object *)o);
}

static cl_int release_kernel(cl_kernel o)
{
	return release((struct object *)o);
}

static cl_command_queue create_queue(cl_context c, cl_device_id d, cl_command_queue_properties bits,
				     cl_int *code)
{
	const char *no = getenv("FAKE_NO_PROFILING");
	struct object *o;

	(void)c, (void)d;
	if (no && no[0] == '1' && bits & CL_QUEUE_PROFILING_ENABLE) {
		if (code)
			*code = CL_INVALID_QUEUE_PROPERTIES;
		return NULL;
	}
	o = make("queue");
	o->bits = bits;
	if (code)
		*code = CL_SUCCESS;
	return (cl_command_queue)o;
}

static cl_int queue_info(cl_command_queue q, cl_command_queue_info what, size_t size, void *value,
			 size_t *size_ret)
{
	const struct object *o = (struct object *)q, *d = &device, *none = NULL;

	if (what == CL_QUEUE_PROPERTIES)
		return VALUE(o->bits);
	return what == CL_QUEUE_DEVICE ? VALUE(d) : VALUE(none);
}

static cl_program create_program(cl_context c, cl_uint count, const char **source,
				 const size_t *lengths, cl_int *code)
{
	(void)c, (void)count, (void)source, (void)lengths;
	if (code)
		*code = CL_SUCCESS;
	return (cl_program)make("program");
}

static cl_int build(cl_program p, cl_uint count, const cl_device_id *devices, const char *options,
		    void(CL_CALLBACK *notify)(cl_program, void *), void *arg)
{
	(void)p, (void)count, (void)devices, (void)options, (void)notify, (void)arg;
	return CL_SUCCESS;
}

static cl_kernel create_kernel(cl_program p, const char *name, cl_int *code)
{
	(void)p;
	if (code)
		*code = CL_SUCCESS;
	return (cl_kernel)make(strdup(name));
}

static cl_int kernel_info(cl_kernel k, cl_kernel_info what, size_t size, void *value,
			  size_t *size_ret)
{
	const struct object *o = (struct object *)k;

	return what == CL_KERNEL_FUNCTION_NAME ? TEXT(o->name) : CL_INVALID_VALUE;
}

static cl_int set_arg(cl_kernel k, cl_uint at, size_t size, const void *value)
{
	(void)k, (void)at, (void)size, (void)value;
	return CL_SUCCESS;
}

static cl_mem create_buffer(cl_context c, cl_mem_flags flags, size_t size, void *host, cl_int *code)
{
	(void)c, (void)flags, (void)size, (void)host;
	if (code)
		*code = CL_SUCCESS;
	return (cl_mem)make("buffer");
}

/* ---- commands and events ------------------------------------------------------------------- */

static cl_int enqueue(cl_command_queue q, cl_event *event)
{
	struct object *e;

	if (!event)
		return CL_SUCCESS;
	e = make("event");
	e->queue = q;
	e->queued = device_now();
	live_events++;
	*event = (cl_event)e;
	return CL_SUCCESS;
}

/* limits: OpenCL's parameters */
static cl_int enqueue_kernel(cl_command_queue q, cl_kernel k, cl_uint dimensions,
			     const size_t *offset, const size_t *global, const size_t *local,
			     cl_uint count, const cl_event *list, cl_event *event)
{
	(void)k, (void)dimensions, (void)offset, (void)global, (void)local, (void)count, (void)list;
	return enqueue(q, event);
}

/* limits: OpenCL's parameters */
static cl_int enqueue_read(cl_command_queue q, cl_mem m, cl_bool blocks, size_t offset, size_t size,
			   void *to, cl_uint count, const cl_event *list, cl_event *event)
{
	(void)m, (void)blocks, (void)offset, (void)count, (void)list;
	memset(to, 0, size);
	return enqueue(q, event);
}

/* The extension of Intel's, for memory that both sides see. */
/* limits: OpenCL's parameters */
static cl_int enqueue_memcpy(cl_command_queue q, cl_bool blocks, void *to, const void *from,
			     size_t size, cl_uint count, const cl_event *list, cl_event *event)
{
	(void)blocks, (void)count, (void)list;
	memcpy(to, from, size);
	return enqueue(q, event);
}

static cl_int event_info(cl_event e, cl_event_info what, size_t size, void *value, size_t *size_ret)
{
	struct object *o = (struct object *)e;
	cl_uint references = (cl_uint)o->references;
	cl_int status = CL_COMPLETE;

	pthread_mutex_lock(&event_lock);
	pthread_mutex_unlock(&event_lock);
	if (what == CL_EVENT_COMMAND_QUEUE)
		return VALUE(o->queue);
	return what == CL_EVENT_REFERENCE_COUNT ? VALUE(references) : VALUE(status);
}

static cl_int event_times(cl_event e, cl_profiling_info what, size_t size, void *value,
			  size_t *size_ret)
{
	const struct object *o = (struct object *)e;
	const struct object *q = (struct object *)o->queue;
	cl_ulong time = o->queued + STEP * (what - CL_PROFILING_COMMAND_QUEUED);

	if (!(q->bits & CL_QUEUE_PROFILING_ENABLE))
		return CL_PROFILING_INFO_NOT_AVAILABLE;
	return VALUE(time);
}

static cl_int retain_event(cl_event e)
{
	((struct object *)e)->references++;
	return CL_SUCCESS;
}

static cl_int release_event(cl_event e)
{
	live_events -= ((struct object *)e)->references == 1;
	return release((struct object *)e);
}

static cl_int set_callback(cl_event e, cl_int type,
			   void(CL_CALLBACK *notify)(cl_event, cl_int, void *), void *arg)
{
	(void)type;
	notify(e, CL_COMPLETE, arg);
	return CL_SUCCESS;
}

static cl_int wait_for(cl_uint count, const cl_event *list)
{
	(void)count, (void)list;
	return CL_SUCCESS;
}

static cl_int flush(cl_command_queue q)
{
	const char *raises = getenv("FAKE_SIGNAL");

	(void)q;
	pthread_mutex_lock(&event_lock);
	if (raises && raises[0] == '1')
		raise(SIGUSR1);
	pthread_mutex_unlock(&event_lock);
	return CL_SUCCESS;
}

static cl_int finish(cl_command_queue q)
{
	(void)q;
	return CL_SUCCESS;
}

/* ---- the table ----------------------------------------------------------------------------- */

static int fake_live_events(void)
{
	return live_events;
}

static void *address(const char *name)
{
	union {
		void *pointer;
		int (*count)(void);
		cl_int (*copy)(cl_command_queue, cl_bool, void *, const void *, size_t, cl_uint,
			       const cl_event *, cl_event *);
		cl_int (*platforms)(cl_uint, cl_platform_id *, cl_uint *);
	} found = { 0 };

	if (!strcmp(name, "clFakeLiveEvents"))
		found.count = fake_live_events;
	if (!strcmp(name, "clEnqueueMemcpyINTEL"))
		found.copy = enqueue_memcpy;
	return found.pointer;
}

static void *address_for_platform(cl_platform_id p, const char *name)
{
	(void)p;
	return address(name);
}

static void fill_table(cl_icd_dispatch *t)
{
	t->clGetPlatformInfo = platform_info;
	t->clGetDeviceIDs = device_ids;
	t->clGetDeviceInfo = device_info;
	t->clCreateContext = create_context;
	t->clReleaseContext = release_context;
	t->clCreateCommandQueue = create_queue;
	t->clReleaseCommandQueue = release_queue;
	t->clGetCommandQueueInfo = queue_info;
	t->clCreateBuffer = create_buffer;
	t->clReleaseMemObject = release_mem;
	t->clCreateProgramWithSource = create_program;
	t->clReleaseProgram = release_program;
	t->clBuildProgram = build;
	t->clCreateKernel = create_kernel;
	t->clReleaseKernel = release_kernel;
	t->clGetKernelInfo = kernel_info;
	t->clSetKernelArg = set_arg;
	t->clEnqueueNDRangeKernel = enqueue_kernel;
	t->clEnqueueReadBuffer = enqueue_read;
	t->clGetEventInfo = event_info;
	t->clGetEventProfilingInfo = event_times;
	t->clRetainEvent = retain_event;
	t->clReleaseEvent = release_event;
	t->clSetEventCallback = set_callback;
	t->clWaitForEvents = wait_for;
	t->clFlush = flush;
	t->clFinish = finish;
	t->clGetExtensionFunctionAddressForPlatform = address_for_platform;
}

/* Exactly up to the end of OpenCL 1.2, with the end at the end of a page. */
static const cl_icd_dispatch *make_table(void)
{
	const size_t length = offsetof(cl_icd_dispatch, clCreateCommandQueueWithProperties);
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *pages =
		mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	cl_icd_dispatch whole = { 0 };

	if (pages == MAP_FAILED)
		return NULL;
	fill_table(&whole);
	memcpy(pages + page - length, &whole, length);
	mprotect(pages, page, PROT_READ);
	mprotect(pages + page, page, PROT_NONE);
	return (const cl_icd_dispatch *)(pages + page - length);
}

EXPORT cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint room, cl_platform_id *list,
						 cl_uint *count);
EXPORT void *CL_API_CALL clGetExtensionFunctionAddress(const char *name);

EXPORT cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint room, cl_platform_id *list, cl_uint *count)
{
	if (!platform.table)
		platform.table = device.table = make_table();
	if (list && room)
		list[0] = (cl_platform_id)&platform;
	if (count)
		*count = 1;
	return CL_SUCCESS;
}

EXPORT cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id p, cl_platform_info what, size_t size,
					    void *value, size_t *size_ret)
{
	return platform_info(p, what, size, value, size_ret);
}

EXPORT void *CL_API_CALL clGetExtensionFunctionAddress(const char *name)
{
	union {
		void *pointer;
		cl_int(CL_API_CALL *platforms)(cl_uint, cl_platform_id *, cl_uint *);
	} ours = { .platforms = clIcdGetPlatformIDsKHR };

	return strcmp(name, "clIcdGetPlatformIDsKHR") ? address(name) : ours.pointer;
}

#else

int fake_opencl_is_not_built(void);
int fake_opencl_is_not_built(void)
{
	return 0;
}

#endif
