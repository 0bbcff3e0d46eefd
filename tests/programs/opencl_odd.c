/*
 * opencl_odd.c WHAT [N] - a program that uses OpenCL in a way that few would think of, and says how
 * many commands it has queued. What it prints is the same with and without unitrace.
 */
#include "opencl_use.h"

#ifdef HAVE_OPENCL

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

#include "ittnotify.h"

#define ITEMS 64

static int count = 10;

static cl_kernel kernel;
static cl_mem memory;

static void add(cl_command_queue q, cl_uint waits, const cl_event *list, cl_event *event)
{
	const size_t global = ITEMS;

	ENQUEUE(cl.clEnqueueNDRangeKernel(q, kernel, 1, NULL, &global, NULL, waits, list, event));
}

static void add_many(cl_command_queue q, cl_uint waits, const cl_event *list)
{
	for (int i = 0; i < count; i++)
		add(q, waits, list, NULL);
}

static void make_kernel(void)
{
	kernel = opencl_kernel("add");
	memory = opencl_buffer(ITEMS * sizeof(int));
	MUST(cl.clSetKernelArg(kernel, 0, sizeof(cl_mem), &memory));
}

static cl_event make_gate(void)
{
	cl_int code;
	cl_event gate = cl.clCreateUserEvent(cl.context, &code);

	MUST(code);
	return gate;
}

/* ---- what the program can count ------------------------------------------------------------ */

static void show_references(const char *when, cl_command_queue q, cl_event event)
{
	cl_uint of_event = 0, of_queue = 0;

	MUST(cl.clGetEventInfo(event, CL_EVENT_REFERENCE_COUNT, sizeof(of_event), &of_event, NULL));
	MUST(cl.clGetCommandQueueInfo(q, CL_QUEUE_REFERENCE_COUNT, sizeof(of_queue), &of_queue,
				      NULL));
	printf("%s: event %u, queue %u\n", when, of_event, of_queue);
}

/* While commands are under way and when they are complete. */
static void references(void)
{
	cl_command_queue q = opencl_queue(0);
	cl_event gate = make_gate(), event;

	make_kernel();
	add(q, 1, &gate, &event);
	show_references("waiting", q, event);
	add(q, 0, NULL, NULL);
	show_references("two of them", q, event);
	MUST(cl.clRetainEvent(event));
	show_references("retained", q, event);
	MUST(cl.clReleaseEvent(event));
	MUST(cl.clSetUserEventStatus(gate, CL_COMPLETE));
	MUST(cl.clFinish(q));
	show_references("complete", q, event);
}

/* ---- objects come and go ------------------------------------------------------------------- */

/* A context, a kernel and two queues for every command, as careless wrappers do; half are not
 * waited for. */
static void short_lives(void)
{
	for (int i = 0; i < count; i++) {
		cl_command_queue q, other;
		cl_context context;
		cl_event event;
		cl_int code;

		context = cl.clCreateContext(NULL, 1, &cl.device, NULL, NULL, &code);
		MUST(code);
		q = opencl_queue(0);
		make_kernel();
		add(q, 0, NULL, &event);
		other = cl.clCreateCommandQueue(context, cl.device, 0, &code);
		MUST(code);
		MUST(i % 2 ? cl.clFinish(q) : cl.clFlush(q));
		MUST(cl.clRetainCommandQueue(other));
		MUST(cl.clReleaseCommandQueue(other));
		MUST(cl.clReleaseCommandQueue(q));
		MUST(cl.clReleaseCommandQueue(other));
		MUST(cl.clReleaseKernel(kernel));
		MUST(cl.clReleaseMemObject(memory));
		MUST(cl.clReleaseEvent(event));
		MUST(cl.clReleaseContext(context));
	}
}

/* Lets go of everything as soon as it may. */
static void early(void)
{
	cl_command_queue q = opencl_queue(0);

	make_kernel();
	add_many(q, 0, NULL);
	MUST(cl.clFlush(q));
	MUST(cl.clReleaseMemObject(memory));
	MUST(cl.clReleaseKernel(kernel));
	MUST(cl.clReleaseCommandQueue(q));
}

/* ---- commands of other kinds --------------------------------------------------------------- */

/* N commands of a queue without order behind one event. */
static void gated(void)
{
	cl_command_queue q = opencl_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
	cl_event gate = make_gate();

	make_kernel();
	add_many(q, 1, &gate);
	MUST(cl.clSetUserEventStatus(gate, CL_COMPLETE));
	MUST(cl.clFinish(q));
}

static cl_command_queue chain_queue;
static atomic_int links, chain_ended;

static void CL_CALLBACK next_link(cl_event event, cl_int status, void *arg)
{
	cl_event next;

	(void)status, (void)arg;
	MUST(cl.clReleaseEvent(event));
	if (++links == count) {
		chain_ended = 1;
		return;
	}
	add(chain_queue, 0, NULL, &next);
	MUST(cl.clSetEventCallback(next, CL_COMPLETE, next_link, NULL));
	MUST(cl.clFlush(chain_queue));
}

/* Each command is queued by the callback of the one before it. */
static void chain(void)
{
	cl_event first;

	make_kernel();
	chain_queue = opencl_queue(0);
	add(chain_queue, 0, NULL, &first);
	MUST(cl.clSetEventCallback(first, CL_COMPLETE, next_link, NULL));
	MUST(cl.clFlush(chain_queue));
	while (!chain_ended)
		usleep(1000);
	MUST(cl.clFinish(chain_queue));
}

static void CL_CALLBACK count_up(void *arg)
{
	int *counter;

	memcpy(&counter, arg, sizeof(counter));
	(*counter)++;
}

static void native(void)
{
	cl_command_queue q = opencl_queue(0);
	int called = 0, *where = &called;
	cl_device_exec_capabilities can = 0;

	MUST(cl.clGetDeviceInfo(cl.device, CL_DEVICE_EXECUTION_CAPABILITIES, sizeof(can), &can,
				NULL));
	if (!(can & CL_EXEC_NATIVE_KERNEL)) {
		printf("SKIP: no native kernels\n");
		exit(CANNOT_RUN);
	}
	for (int i = 0; i < count; i++) {
		ENQUEUE(cl.clEnqueueNativeKernel(q, count_up, &where, sizeof(where), 0, NULL, NULL,
						 0, NULL, NULL));
		MUST(cl.clEnqueueBarrier(q));
	}
	MUST(cl.clFinish(q));
	printf("called: %d\n", called);
}

typedef void *(CL_API_CALL *create_fn)(cl_uint, const cl_command_queue *, const cl_ulong *,
				       cl_int *);
typedef cl_int(CL_API_CALL *one_fn)(void *);
typedef cl_int(CL_API_CALL *enqueue_fn)(cl_uint, cl_command_queue *, void *, cl_uint,
					const cl_event *, cl_event *);
typedef cl_int(CL_API_CALL *fill_fn)(void *, cl_command_queue, cl_mem, const void *, size_t, size_t,
				     size_t, cl_uint, const cl_uint *, cl_uint *, void *);
typedef cl_int(CL_API_CALL *copy_fn)(void *, cl_command_queue, cl_mem, cl_mem, size_t, size_t,
				     size_t, cl_uint, const cl_uint *, cl_uint *, void *);
typedef cl_int(CL_API_CALL *rect_fn)(void *, cl_command_queue, cl_mem, cl_mem, const size_t *,
				     const size_t *, const size_t *, size_t, size_t, size_t, size_t,
				     cl_uint, const cl_uint *, cl_uint *, void *);
typedef cl_int(CL_API_CALL *barrier_fn)(void *, cl_command_queue, cl_uint, const cl_uint *,
					cl_uint *, void *);

static union {
	void *pointer;
	create_fn create;
	one_fn one;
	enqueue_fn enqueue;
	fill_fn fill;
	copy_fn copy;
	rect_fn rect;
	barrier_fn barrier;
} create, finalize, enqueue, fill, copy, rect, barrier;

static void find(void *to, const char *name)
{
	void *found = cl.clGetExtensionFunctionAddressForPlatform(cl.platform, name);

	if (!found) {
		printf("SKIP: no %s\n", name);
		exit(CANNOT_RUN);
	}
	memcpy(to, &found, sizeof(found));
}

/* A command buffer of four commands, none a kernel, with parameters as of version 0.9.0. */
static void command_buffer(void)
{
	const size_t bytes = ITEMS * sizeof(int), none[3] = { 0 }, box[3] = { bytes, 1, 1 };
	cl_command_queue q = opencl_queue(0);
	cl_mem from = opencl_buffer(bytes), to = opencl_buffer(bytes);
	int seven = 7, got[ITEMS] = { 0 };
	cl_uint filled = 0, passed = 0;
	cl_int code;
	void *b;

	find(&create, "clCreateCommandBufferKHR");
	find(&finalize, "clFinalizeCommandBufferKHR");
	find(&enqueue, "clEnqueueCommandBufferKHR");
	find(&fill, "clCommandFillBufferKHR");
	find(&copy, "clCommandCopyBufferKHR");
	find(&rect, "clCommandCopyBufferRectKHR");
	find(&barrier, "clCommandBarrierWithWaitListKHR");
	b = create.create(1, &q, NULL, &code);
	MUST(code);
	MUST(fill.fill(b, NULL, from, &seven, sizeof(seven), 0, bytes, 0, NULL, &filled, NULL));
	MUST(barrier.barrier(b, NULL, 1, &filled, &passed, NULL));
	MUST(copy.copy(b, NULL, from, to, 0, 0, bytes / 2, 1, &passed, NULL, NULL));
	MUST(rect.rect(b, NULL, from, to, none, none, box, bytes, bytes, bytes, bytes, 1, &passed,
		       NULL, NULL));
	printf("refused: %d\n", copy.copy(b, NULL, from, NULL, 0, 0, 4, 0, NULL, NULL, NULL));
	MUST(finalize.one(b));
	for (int i = 0; i < count; i++) {
		ENQUEUE(enqueue.enqueue(0, NULL, b, 0, NULL, NULL));
		MUST(cl.clFinish(q));
	}
	ENQUEUE(cl.clEnqueueReadBuffer(q, to, CL_TRUE, 0, bytes, got, 0, NULL, NULL));
	printf("copied: %d %d\n", got[0], got[ITEMS - 1]);
}

/* Commands before, during and after a pause; if held, those before it run only after it. */
static void pause_between(bool held)
{
	cl_command_queue q = opencl_queue(0);
	cl_event gate = make_gate();

	make_kernel();
	__itt_resume();
	add_many(q, held, held ? &gate : NULL);
	if (!held)
		MUST(cl.clFinish(q));
	__itt_pause();
	add_many(q, 0, NULL);
	MUST(cl.clSetUserEventStatus(gate, CL_COMPLETE));
	MUST(cl.clFinish(q));
	__itt_resume();
	add_many(q, 0, NULL);
	MUST(cl.clFinish(q));
}

static void paused(void)
{
	pause_between(false);
}

static void paused_under_way(void)
{
	pause_between(true);
}

/* ---- what OpenCL refuses ------------------------------------------------------------------- */

static void errors(void)
{
	const size_t one[3] = { 1, 1, 1 };
	cl_command_queue q = opencl_queue(0);
	cl_event untouched = (cl_event)&cl, *event = &untouched;
	size_t size = 0;
	cl_int code = 0;
	int value = 0;

#define SHOW(call) printf("%d: %d\n", __LINE__, call)
	make_kernel();
	SHOW(cl.clEnqueueNDRangeKernel(q, kernel, 0, NULL, one, NULL, 0, NULL, event));
	SHOW(cl.clEnqueueNDRangeKernel(q, kernel, 77, NULL, &one[2], NULL, 0, NULL, event));
	SHOW(cl.clEnqueueNDRangeKernel(NULL, kernel, 1, NULL, one, NULL, 0, NULL, event));
	SHOW(cl.clEnqueueReadBuffer(q, NULL, CL_TRUE, 0, 4, &value, 0, NULL, event));
	SHOW(cl.clEnqueueReadBuffer(q, memory, CL_TRUE, 0, 4, NULL, 0, NULL, event));
	SHOW(cl.clEnqueueReadBuffer(q, memory, CL_TRUE, 0, 4, &value, 1, NULL, event));
	SHOW(cl.clEnqueueReadBuffer(q, memory, CL_TRUE, 9999, 4, &value, 0, NULL, NULL));
	SHOW(cl.clEnqueueReadImage(q, memory, CL_TRUE, one, one, 0, 0, &value, 0, NULL, event));
	SHOW(cl.clEnqueueReadImage(q, memory, CL_TRUE, NULL, NULL, 0, 0, &value, 0, NULL, event));
	SHOW(!cl.clEnqueueMapBuffer(q, memory, CL_TRUE, CL_MAP_READ, 0, 9999, 0, NULL, event,
				    &code));
	SHOW(code);
	SHOW(cl.clEnqueueUnmapMemObject(q, memory, &value, 0, NULL, NULL));
	SHOW(cl.clWaitForEvents(0, NULL));
	SHOW(cl.clGetEventInfo(NULL, CL_EVENT_REFERENCE_COUNT, 4, &value, NULL));
	SHOW(cl.clGetCommandQueueInfo(q, CL_QUEUE_PROPERTIES, 1, &value, &size));
	SHOW(cl.clGetCommandQueueInfo(q, 0x9999, 4, &value, &size));
	SHOW(!cl.clCreateKernel(cl.program, "nobody", &code));
	SHOW(code);
	SHOW(!cl.clCreateCommandQueue(cl.context, cl.device, 1u << 20, &code));
	SHOW(code);
	SHOW(untouched == (cl_event)&cl);
}

/* A name as compilers of C++ make them; only a pretended vendor has such a kernel. */
static void long_name(void)
{
	char name[5001];
	const size_t one = 1;
	cl_int code;
	cl_command_queue q = cl.clCreateCommandQueue(cl.context, cl.device, 0, &code);

	MUST(code);
	memset(name, 'k', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	kernel = opencl_kernel(name);
	ENQUEUE(cl.clEnqueueNDRangeKernel(q, kernel, 1, NULL, &one, NULL, 0, NULL, NULL));
	MUST(cl.clFinish(q));
}

/* ---- endings ------------------------------------------------------------------------------- */

static cl_command_queue late_queue;

static void say_enqueued(void)
{
	printf("enqueued %u\n", cl.enqueued);
	fflush(stdout);
}

/* When everybody else has cleaned up already. */
__attribute__((destructor)) static void use_it_late(void)
{
	if (!late_queue)
		return;
	add_many(late_queue, 0, NULL);
	MUST(cl.clFinish(late_queue));
	say_enqueued();
}

static void late(void)
{
	cl_command_queue q = opencl_queue(0);

	make_kernel();
	add_many(q, 0, NULL);
	MUST(cl.clFinish(q));
	late_queue = q;
	exit(0);
}

static void leave(int signal)
{
	/* that is the point: NOLINTNEXTLINE(bugprone-signal-handler) */
	exit(signal == SIGUSR1 ? 3 : 4);
}

/* A handler that ends the program while it is inside the runtime, which holds a lock there. */
static void signalled(void)
{
	cl_int code;
	cl_command_queue q = cl.clCreateCommandQueue(cl.context, cl.device, 0, &code);

	MUST(code);
	make_kernel();
	signal(SIGUSR1, leave);
	add(q, 0, NULL, NULL);
	MUST(cl.clFlush(q)); /* the pretended vendor raises the signal: FAKE_SIGNAL */
}

static const struct {
	const char *name;
	void (*work)(void);
} ways[] = {
	{ "references", references },
	{ "short-lives", short_lives },
	{ "early", early },
	{ "gated", gated },
	{ "chain", chain },
	{ "native", native },
	{ "command-buffer", command_buffer },
	{ "paused", paused },
	{ "paused-under-way", paused_under_way },
	{ "errors", errors },
	{ "long-name", long_name },
	{ "late", late },
	{ "signalled", signalled },
};

int main(int argc, char **argv)
{
	if (argc > 2)
		count = atoi(argv[2]);
	for (size_t i = 0; argc > 1 && i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (strcmp(argv[1], ways[i].name))
			continue;
		if (!opencl_start())
			return CANNOT_RUN;
		ways[i].work();
		say_enqueued();
		return 0;
	}
	return 2;
}

#endif
