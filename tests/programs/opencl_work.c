/*
 * opencl_work.c WHAT [N] - a program that uses OpenCL in one way, checks its results, and says how
 * many commands it has queued. What it prints is the same with and without unitrace.
 */
#include "opencl_use.h"

#ifdef HAVE_OPENCL

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#define SIDE    64
#define MOST_MS 150000 /* that something may take which nobody can be told of; only a hang does */

static int count = 10;

static void check(int fine, const char *what)
{
	printf("%s: %s\n", what, fine ? "ok" : "WRONG");
	if (!fine)
		exit(1);
}

static void release(cl_mem m)
{
	MUST(cl.clReleaseMemObject(m));
}

static void set_arg(cl_kernel k, cl_uint at, size_t size, const void *value)
{
	MUST(cl.clSetKernelArg(k, at, size, value));
}

/* N times gemm and scale, in order. */
static void gemm(void)
{
	static float a[SIDE * SIDE], b[SIDE * SIDE], c[SIDE * SIDE];
	const size_t global[2] = { SIDE, SIDE }, local[2] = { 8, 8 }, flat = SIDE * SIDE;
	cl_command_queue q = opencl_queue(0);
	cl_kernel g = opencl_kernel("gemm"), s = opencl_kernel("scale");
	cl_mem ma = opencl_buffer(sizeof(a)), mb = opencl_buffer(sizeof(b)),
	       mc = opencl_buffer(sizeof(c));
	const int n = SIDE;
	const float half = 0.5f;
	int bad = 0;

	for (int i = 0; i < SIDE * SIDE; i++) {
		a[i] = 1;
		b[i] = 2;
	}
	ENQUEUE(cl.clEnqueueWriteBuffer(q, ma, CL_TRUE, 0, sizeof(a), a, 0, NULL, NULL));
	ENQUEUE(cl.clEnqueueWriteBuffer(q, mb, CL_FALSE, 0, sizeof(b), b, 0, NULL, NULL));
	set_arg(g, 0, sizeof(n), &n);
	set_arg(g, 1, sizeof(ma), &ma);
	set_arg(g, 2, sizeof(mb), &mb);
	set_arg(g, 3, sizeof(mc), &mc);
	set_arg(s, 0, sizeof(half), &half);
	set_arg(s, 1, sizeof(mc), &mc);
	for (int i = 0; i < count; i++) {
		ENQUEUE(cl.clEnqueueNDRangeKernel(q, g, 2, NULL, global, local, 0, NULL, NULL));
		ENQUEUE(cl.clEnqueueNDRangeKernel(q, s, 1, NULL, &flat, NULL, 0, NULL, NULL));
	}
	ENQUEUE(cl.clEnqueueReadBuffer(q, mc, CL_TRUE, 0, sizeof(c), c, 0, NULL, NULL));
	for (int i = 0; i < SIDE * SIDE; i++)
		bad += c[i] != SIDE;
	check(!bad, "gemm");
	MUST(cl.clReleaseKernel(g));
	MUST(cl.clReleaseKernel(s));
	release(ma);
	release(mb);
	release(mc);
	MUST(cl.clReleaseCommandQueue(q));
}

static int value_of(cl_command_queue q, cl_mem m)
{
	int value = 0;

	ENQUEUE(cl.clEnqueueReadBuffer(q, m, CL_TRUE, 0, sizeof(value), &value, 0, NULL, NULL));
	return value;
}

static cl_mem zeros(cl_command_queue q, size_t size)
{
	cl_mem m = opencl_buffer(size);
	const int zero = 0;

	ENQUEUE(cl.clEnqueueFillBuffer(q, m, &zero, sizeof(zero), 0, size, 0, NULL, NULL));
	MUST(cl.clFinish(q));
	return m;
}

/* A chain of N kernels in a queue that keeps no order, each with an event for the next. */
static void unordered(void)
{
	cl_command_queue q = opencl_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
	cl_kernel k = opencl_kernel("add");
	cl_mem m = zeros(q, SIDE * sizeof(int));
	const size_t global = SIDE;
	cl_event previous = NULL, next;

	set_arg(k, 0, sizeof(m), &m);
	for (int i = 0; i < count; i++) {
		ENQUEUE(cl.clEnqueueNDRangeKernel(q, k, 1, NULL, &global, NULL, previous ? 1 : 0,
						  previous ? &previous : NULL, &next));
		if (previous)
			MUST(cl.clReleaseEvent(previous));
		previous = next;
	}
	ENQUEUE(cl.clEnqueueBarrierWithWaitList(q, 0, NULL, NULL));
	MUST(cl.clWaitForEvents(1, &previous));
	MUST(cl.clReleaseEvent(previous));
	MUST(cl.clFinish(q));
	check(value_of(q, m) == count, "chain");
	MUST(cl.clReleaseKernel(k));
	release(m);
	MUST(cl.clReleaseCommandQueue(q));
}

static cl_mem make_image(void)
{
	const cl_image_format format = { CL_RGBA, CL_UNORM_INT8 };
	const cl_image_desc desc = { .image_type = CL_MEM_OBJECT_IMAGE2D,
				     .image_width = SIDE,
				     .image_height = SIDE };
	cl_int code;
	cl_mem image = cl.clCreateImage(cl.context, CL_MEM_READ_WRITE, &format, &desc, NULL, &code);

	MUST(code);
	return image;
}

static void images(void)
{
	static unsigned char from[SIDE * SIDE * 4], to[SIDE * SIDE * 4];
	const size_t origin[3] = { 0, 0, 0 }, region[3] = { SIDE, SIDE, 1 };
	const float red[4] = { 1, 0, 0, 1 };
	cl_command_queue q = opencl_queue(0);
	cl_mem a = make_image(), b = make_image(), plain = opencl_buffer(sizeof(to));
	size_t pitch = 0;
	cl_int code;
	void *mapped;

	for (size_t i = 0; i < sizeof(from); i++)
		from[i] = (unsigned char)(i * 7);
	ENQUEUE(cl.clEnqueueWriteImage(q, a, CL_TRUE, origin, region, 0, 0, from, 0, NULL, NULL));
	ENQUEUE(cl.clEnqueueCopyImage(q, a, b, origin, origin, region, 0, NULL, NULL));
	ENQUEUE(cl.clEnqueueCopyImageToBuffer(q, b, plain, origin, region, 0, 0, NULL, NULL));
	ENQUEUE(cl.clEnqueueFillImage(q, b, red, origin, region, 0, NULL, NULL));
	ENQUEUE(cl.clEnqueueCopyBufferToImage(q, plain, b, 0, origin, region, 0, NULL, NULL));
	ENQUEUE(cl.clEnqueueReadImage(q, b, CL_TRUE, origin, region, 0, 0, to, 0, NULL, NULL));
	check(!memcmp(from, to, sizeof(to)), "image");
	mapped = cl.clEnqueueMapImage(q, b, CL_TRUE, CL_MAP_READ, origin, region, &pitch, NULL, 0,
				      NULL, NULL, &code);
	ENQUEUE(code);
	check(!memcmp(from, mapped, SIDE * 4), "mapped image");
	ENQUEUE(cl.clEnqueueUnmapMemObject(q, b, mapped, 0, NULL, NULL));
	MUST(cl.clFinish(q));
	release(a);
	release(b);
	release(plain);
	MUST(cl.clReleaseCommandQueue(q));
}

/* Buffers in every other way. */
static void buffers(void)
{
	static int from[SIDE * SIDE], to[SIDE * SIDE];
	const size_t origin[3] = { 0, 0, 0 }, box[3] = { SIDE * sizeof(int), SIDE, 1 };
	const size_t row = SIDE * sizeof(int);
	cl_command_queue q = opencl_queue(0);
	cl_mem a = zeros(q, sizeof(from)), b = zeros(q, sizeof(to));
	cl_int code;
	int *mapped;

	for (int i = 0; i < SIDE * SIDE; i++)
		from[i] = i;
	ENQUEUE(cl.clEnqueueWriteBufferRect(q, a, CL_TRUE, origin, origin, box, row, 0, row, 0,
					    from, 0, NULL, NULL));
	ENQUEUE(cl.clEnqueueCopyBufferRect(q, a, b, origin, origin, box, row, 0, row, 0, 0, NULL,
					   NULL));
	ENQUEUE(cl.clEnqueueCopyBuffer(q, b, a, 0, 0, sizeof(to), 0, NULL, NULL));
	ENQUEUE(cl.clEnqueueMigrateMemObjects(q, 1, &a, 0, 0, NULL, NULL));
	ENQUEUE(cl.clEnqueueMarkerWithWaitList(q, 0, NULL, NULL));
	ENQUEUE(cl.clEnqueueReadBufferRect(q, a, CL_TRUE, origin, origin, box, row, 0, row, 0, to,
					   0, NULL, NULL));
	check(!memcmp(from, to, sizeof(to)), "rect");
	mapped = cl.clEnqueueMapBuffer(q, a, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, sizeof(to), 0,
				       NULL, NULL, &code);
	ENQUEUE(code);
	mapped[0] = 4711;
	ENQUEUE(cl.clEnqueueUnmapMemObject(q, a, mapped, 0, NULL, NULL));
	check(value_of(q, a) == 4711, "mapped");
	release(a);
	release(b);
	MUST(cl.clReleaseCommandQueue(q));
}

static void svm(void)
{
	const size_t size = SIDE * sizeof(int), global = SIDE;
	cl_device_svm_capabilities can = 0;
	cl_command_queue q;
	cl_kernel k;
	const int two = 2;
	int *a, *b;

	cl.clGetDeviceInfo(cl.device, CL_DEVICE_SVM_CAPABILITIES, sizeof(can), &can, NULL);
	if (!(can & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER)) {
		printf("SKIP: no shared virtual memory\n");
		exit(CANNOT_RUN);
	}
	q = opencl_queue(0);
	k = opencl_kernel("add");
	a = cl.clSVMAlloc(cl.context, CL_MEM_READ_WRITE, size, 0);
	b = cl.clSVMAlloc(cl.context, CL_MEM_READ_WRITE, size, 0);
	ENQUEUE(cl.clEnqueueSVMMemFill(q, a, &two, sizeof(two), size, 0, NULL, NULL));
	MUST(cl.clSetKernelArgSVMPointer(k, 0, a));
	ENQUEUE(cl.clEnqueueNDRangeKernel(q, k, 1, NULL, &global, NULL, 0, NULL, NULL));
	ENQUEUE(cl.clEnqueueSVMMemcpy(q, CL_TRUE, b, a, size, 0, NULL, NULL));
	ENQUEUE(cl.clEnqueueSVMMap(q, CL_TRUE, CL_MAP_READ, b, size, 0, NULL, NULL));
	check(b[0] == 3 && b[SIDE - 1] == 3, "svm");
	ENQUEUE(cl.clEnqueueSVMUnmap(q, b, 0, NULL, NULL));
	MUST(cl.clFinish(q));
	cl.clSVMFree(cl.context, a);
	cl.clSVMFree(cl.context, b);
	MUST(cl.clReleaseKernel(k));
	MUST(cl.clReleaseCommandQueue(q));
}

static atomic_int called;

static void CL_CALLBACK on_complete(cl_event event, cl_int status, void *arg)
{
	(void)event;
	called += status == CL_COMPLETE && arg == &called;
}

/* One is ours, one may be the runtime's; whoever else has looked at the event lets go of it. */
static cl_uint settled_references(cl_event event)
{
	cl_uint references = 0;

	for (int i = 0; i < MOST_MS && (!i || references > 2); i++) {
		if (i)
			usleep(1000);
		MUST(cl.clGetEventInfo(event, CL_EVENT_REFERENCE_COUNT, sizeof(references),
				       &references, NULL));
	}
	return references;
}

/* The program's own callbacks, and events that it keeps longer than we do. */
static void callbacks(void)
{
	cl_command_queue q = opencl_queue(0);
	cl_kernel k = opencl_kernel("add");
	cl_mem m = zeros(q, SIDE * sizeof(int));
	cl_event *events = calloc((size_t)count, sizeof(cl_event));
	const size_t global = SIDE;
	cl_uint references = 0;
	cl_int status = 1;

	set_arg(k, 0, sizeof(m), &m);
	for (int i = 0; i < count; i++) {
		ENQUEUE(cl.clEnqueueNDRangeKernel(q, k, 1, NULL, &global, NULL, 0, NULL,
						  &events[i]));
		MUST(cl.clSetEventCallback(events[i], CL_COMPLETE, on_complete, &called));
	}
	MUST(cl.clFlush(q));
	while (status != CL_COMPLETE)
		MUST(cl.clGetEventInfo(events[count - 1], CL_EVENT_COMMAND_EXECUTION_STATUS,
				       sizeof(status), &status, NULL));
	MUST(cl.clFinish(q));
	for (int i = 0; i < MOST_MS && called < count; i++)
		usleep(1000);
	check(called == count, "callbacks");
	for (int i = 0; i < count; i++) {
		references = settled_references(events[i]);
		MUST(cl.clReleaseEvent(events[i]));
	}
	printf("references: %u\n", references);
	free(events);
	MUST(cl.clReleaseKernel(k));
	release(m);
	MUST(cl.clReleaseCommandQueue(q));
}

/* Commands that wait for a word of the program's. */
static void user_events(void)
{
	cl_command_queue q = opencl_queue(0);
	cl_kernel k = opencl_kernel("add");
	cl_mem m = zeros(q, SIDE * sizeof(int));
	const size_t global = SIDE;
	cl_int code, status = -1;
	cl_event gate = cl.clCreateUserEvent(cl.context, &code), last = NULL;

	MUST(code);
	set_arg(k, 0, sizeof(m), &m);
	for (int i = 0; i < count; i++)
		ENQUEUE(cl.clEnqueueNDRangeKernel(q, k, 1, NULL, &global, NULL, i ? 0 : 1,
						  i ? NULL : &gate, i == count - 1 ? &last : NULL));
	MUST(cl.clFlush(q));
	MUST(cl.clGetEventInfo(last, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status,
			       NULL));
	check(status > CL_COMPLETE, "waiting");
	MUST(cl.clSetUserEventStatus(gate, CL_COMPLETE));
	MUST(cl.clWaitForEvents(1, &last));
	check(value_of(q, m) == count, "released");
	MUST(cl.clReleaseEvent(last));
	MUST(cl.clReleaseEvent(gate));
	MUST(cl.clReleaseKernel(k));
	release(m);
	MUST(cl.clReleaseCommandQueue(q));
}

static void show_queue(const char *what, cl_command_queue q)
{
	cl_command_queue_properties bits = 0;
	cl_queue_properties list[8] = { 0 };
	size_t size = 99;
	cl_int code;

	MUST(cl.clGetCommandQueueInfo(q, CL_QUEUE_PROPERTIES, sizeof(bits), &bits, NULL));
	code = cl.clGetCommandQueueInfo(q, CL_QUEUE_PROPERTIES_ARRAY, sizeof(list), list, &size);
	printf("%s: bits %lu, array %d: %zu bytes, %lu %lu %lu\n", what, (unsigned long)bits, code,
	       size, (unsigned long)list[0], (unsigned long)list[1], (unsigned long)list[2]);
}

static void show_profiling(const char *what, cl_command_queue q, cl_mem m)
{
	const int one = 1;
	cl_ulong start = 0;
	cl_event e;
	cl_int code;

	ENQUEUE(cl.clEnqueueFillBuffer(q, m, &one, sizeof(one), 0, 64, 0, NULL, &e));
	MUST(cl.clWaitForEvents(1, &e));
	code = cl.clGetEventProfilingInfo(e, CL_PROFILING_COMMAND_START, sizeof(start), &start,
					  NULL);
	printf("%s: profiling %d, %s\n", what, code, start ? "a time" : "no time");
	MUST(cl.clReleaseEvent(e));
}

/* What the program asks about must not show that somebody is watching. */
static void queries(void)
{
	const cl_command_queue_properties order = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
	cl_command_queue q[4];
	cl_mem m = opencl_buffer(64);
	cl_event none;
	cl_int code;
	char what[16];

	q[0] = cl.clCreateCommandQueue(cl.context, cl.device, 0, &code);
	MUST(code);
	q[1] = opencl_queue(0);
	q[2] = opencl_queue(order);
	q[3] = opencl_queue(order | CL_QUEUE_PROFILING_ENABLE);
	for (int i = 0; i < 4; i++) {
		snprintf(what, sizeof(what), "queue %d", i);
		show_queue(what, q[i]);
		show_profiling(what, q[i], m);
	}
	printf("bad device: %p %d\n", (void *)cl.clCreateCommandQueue(cl.context, NULL, 0, &code),
	       code);
	printf("bad queue: %d\n", cl.clFinish(NULL));
	printf("bad marker: %d\n", cl.clEnqueueMarker(q[0], NULL));
	ENQUEUE(cl.clEnqueueMarker(q[0], &none));
	MUST(cl.clReleaseEvent(none));
	printf("bad read: %d\n",
	       cl.clEnqueueReadBuffer(q[0], m, CL_TRUE, 60, 64, &code, 0, NULL, NULL));
	for (int i = 0; i < 4; i++) {
		MUST(cl.clFinish(q[i]));
		MUST(cl.clReleaseCommandQueue(q[i]));
	}
	release(m);
}

/* A command buffer with three kernels, run N times. */
static void command_buffer(void)
{
	typedef void *(CL_API_CALL * create_fn)(cl_uint, const cl_command_queue *, const cl_ulong *,
						cl_int *);
	typedef cl_int(CL_API_CALL * one_fn)(void *);
	typedef cl_int(CL_API_CALL * enqueue_fn)(cl_uint, cl_command_queue *, void *, cl_uint,
						 const cl_event *, cl_event *);
	typedef cl_int(CL_API_CALL * kernel_fn)(
		void *, cl_command_queue, const cl_ulong *, cl_kernel, cl_uint, const size_t *,
		const size_t *, const size_t *, cl_uint, const cl_uint *, cl_uint *, void *);
	union {
		void *pointer;
		create_fn create;
		one_fn one;
		enqueue_fn enqueue;
		kernel_fn kernel;
	} create, finalize, end, enqueue, kernel;
	const size_t global = SIDE;
	cl_command_queue q = opencl_queue(0);
	cl_kernel k = opencl_kernel("add");
	cl_mem m = zeros(q, SIDE * sizeof(int));
	cl_int code;
	void *b;

#define ADDRESS(name) cl.clGetExtensionFunctionAddressForPlatform(cl.platform, name)
	create.pointer = ADDRESS("clCreateCommandBufferKHR");
	kernel.pointer = ADDRESS("clCommandNDRangeKernelKHR");
	finalize.pointer = ADDRESS("clFinalizeCommandBufferKHR");
	enqueue.pointer = ADDRESS("clEnqueueCommandBufferKHR");
	end.pointer = ADDRESS("clReleaseCommandBufferKHR");
	if (!create.pointer || !kernel.pointer || !enqueue.pointer) {
		printf("SKIP: no command buffers\n");
		exit(CANNOT_RUN);
	}
	set_arg(k, 0, sizeof(m), &m);
	b = create.create(1, &q, NULL, &code);
	MUST(code);
	for (int i = 0; i < 3; i++)
		MUST(kernel.kernel(b, NULL, NULL, k, 1, NULL, &global, NULL, 0, NULL, NULL, NULL));
	MUST(finalize.one(b));
	for (int i = 0; i < count; i++) {
		ENQUEUE(enqueue.enqueue(0, NULL, b, 0, NULL, NULL));
		MUST(cl.clFinish(q)); /* one at a time */
	}
	check(value_of(q, m) == 3 * count, "command buffer");
	MUST(end.one(b));
	MUST(cl.clReleaseKernel(k));
	release(m);
	MUST(cl.clReleaseCommandQueue(q));
}

/* Kernels made in every way, and queues made and released again and again. */
static void objects(void)
{
	const size_t one = 1;
	cl_kernel list[8], copy;
	cl_uint made = 0;
	cl_command_queue q = opencl_queue(0);
	cl_mem m = zeros(q, 64);
	cl_int code;

	MUST(cl.clCreateKernelsInProgram(cl.program, 8, list, &made));
	check(made == 4, "kernels");
	copy = cl.clCloneKernel(list[0], &code);
	if (!code)
		MUST(cl.clReleaseKernel(copy));
	for (cl_uint i = 0; i < made; i++)
		MUST(cl.clReleaseKernel(list[i]));
	for (int i = 0; i < count; i++) {
		cl_kernel k = opencl_kernel("add");
		cl_command_queue other = opencl_queue(0);

		set_arg(k, 0, sizeof(m), &m);
		ENQUEUE(cl.clEnqueueNDRangeKernel(other, k, 1, NULL, &one, NULL, 0, NULL, NULL));
		MUST(cl.clFinish(other));
		MUST(cl.clReleaseCommandQueue(other));
		MUST(cl.clReleaseKernel(k));
	}
	check(value_of(q, m) == count, "objects");
	release(m);
	MUST(cl.clReleaseCommandQueue(q));
}

static cl_command_queue shared_queue;
static atomic_uint by_threads;

static void *thread_work(void *arg)
{
	cl_command_queue q = arg ? opencl_queue(0) : shared_queue;
	cl_kernel k = opencl_kernel("add");
	cl_mem m = opencl_buffer(SIDE * sizeof(int));
	const size_t global = SIDE;

	set_arg(k, 0, sizeof(m), &m);
	for (int i = 0; i < count; i++) {
		MUST(cl.clEnqueueNDRangeKernel(q, k, 1, NULL, &global, NULL, 0, NULL, NULL));
		by_threads++;
		if (i % 16 == 15)
			MUST(cl.clFinish(q));
	}
	MUST(cl.clFinish(q));
	MUST(cl.clReleaseKernel(k));
	release(m);
	if (arg)
		MUST(cl.clReleaseCommandQueue(q));
	return NULL;
}

/* Two threads that share a queue, two that have one each. */
static void threads(void)
{
	pthread_t t[4];

	shared_queue = opencl_queue(0);
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, thread_work, i < 2 ? NULL : &t[i]);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	cl.enqueued += by_threads;
	check(by_threads == 4 * (unsigned int)count, "threads");
	MUST(cl.clReleaseCommandQueue(shared_queue));
}

static void say_enqueued(void)
{
	printf("enqueued %u\n", cl.enqueued);
	fflush(stdout);
}

static void add_many(cl_command_queue q, cl_mem m)
{
	cl_kernel k = opencl_kernel("add");
	const size_t global = SIDE;

	set_arg(k, 0, sizeof(m), &m);
	for (int i = 0; i < count; i++)
		ENQUEUE(cl.clEnqueueNDRangeKernel(q, k, 1, NULL, &global, NULL, 0, NULL, NULL));
}

/* Dies at once when everything is complete. */
static void killed(void)
{
	cl_command_queue q = opencl_queue(0);
	cl_mem m = zeros(q, SIDE * sizeof(int));

	add_many(q, m);
	MUST(cl.clFinish(q));
	say_enqueued();
	kill(getpid(), SIGKILL);
}

/* Says that it has queued everything, looks at nothing, and waits to be killed. */
static void asleep(void)
{
	cl_command_queue q = opencl_queue(0);
	cl_mem m = zeros(q, SIDE * sizeof(int));

	add_many(q, m);
	MUST(cl.clFlush(q));
	say_enqueued();
	for (;;)
		pause();
}

/* Leaves while a command waits for something that never happens. */
static void unfinished(void)
{
	const int one = 1;
	cl_command_queue q = opencl_queue(0);
	cl_mem m = zeros(q, 64);
	cl_int code;
	cl_event never = cl.clCreateUserEvent(cl.context, &code);

	MUST(code);
	say_enqueued();
	MUST(cl.clEnqueueFillBuffer(q, m, &one, sizeof(one), 0, 64, 1, &never, NULL));
	fflush(stdout);
	_Exit(0);
}

/* The same through exit(), so that everybody gets a last chance. */
static void unfinished_exit(void)
{
	const int one = 1;
	cl_command_queue q = opencl_queue(0);
	cl_mem m = zeros(q, 64);
	cl_int code;
	cl_event never = cl.clCreateUserEvent(cl.context, &code);

	MUST(code);
	MUST(cl.clEnqueueFillBuffer(q, m, &one, sizeof(one), 0, 64, 1, &never, NULL));
	say_enqueued();
	exit(0);
}

/* Leaves without waiting: what is under way will be complete in a moment. */
static void hasty(void)
{
	cl_command_queue q = opencl_queue(0);
	cl_mem m = zeros(q, SIDE * sizeof(int));

	add_many(q, m);
	MUST(cl.clFlush(q));
	say_enqueued();
	exit(0);
}

/* A child that is forked while commands are under way, and does nothing with OpenCL. */
static void forks(void)
{
	cl_command_queue q = opencl_queue(0);
	cl_mem m = zeros(q, SIDE * sizeof(int));
	int status = -1;
	pid_t pid;

	add_many(q, m);
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		exit(0);
	waitpid(pid, &status, 0);
	MUST(cl.clFinish(q));
	check(value_of(q, m) == count && status == 0, "fork");
}

/* Only what the fake vendor of libfake_opencl.c can do; asks it for events that were left over. */
static void simple(void)
{
	union {
		void *pointer;
		int (*count)(void);
		cl_int(CL_API_CALL *copy)(cl_command_queue, cl_bool, void *, const void *, size_t,
					  cl_uint, const cl_event *, cl_event *);
	} live, copy;
	const size_t global[3] = { 4, 5, 6 };
	cl_kernel k = opencl_kernel("add");
	cl_mem m = opencl_buffer(64);
	cl_int code;
	cl_command_queue q = cl.clCreateCommandQueue(cl.context, cl.device, 0, &code);
	cl_event event;
	int a = 1, b = 0;

	MUST(code);
	set_arg(k, 0, sizeof(m), &m);
	for (int i = 0; i < count; i++) {
		ENQUEUE(cl.clEnqueueNDRangeKernel(q, k, 3, NULL, global, NULL, 0, NULL,
						  i % 2 ? &event : NULL));
		if (i % 2)
			MUST(cl.clReleaseEvent(event));
	}
	copy.pointer =
		cl.clGetExtensionFunctionAddressForPlatform(cl.platform, "clEnqueueMemcpyINTEL");
	if (copy.pointer)
		ENQUEUE(copy.copy(q, CL_TRUE, &b, &a, sizeof(a), 0, NULL, NULL));
	ENQUEUE(cl.clEnqueueReadBuffer(q, m, CL_TRUE, 0, 4, &a, 0, NULL, NULL));
	MUST(cl.clFinish(q));
	live.pointer = cl.clGetExtensionFunctionAddressForPlatform(cl.platform, "clFakeLiveEvents");
	printf("events left over: %d\n", live.pointer ? live.count() : 0);
	MUST(cl.clReleaseKernel(k));
	release(m);
	MUST(cl.clReleaseCommandQueue(q));
}

static const struct {
	const char *name;
	void (*work)(void);
} ways[] = {
	{ "simple", simple },         { "gemm", gemm },
	{ "unordered", unordered },   { "images", images },
	{ "buffers", buffers },       { "svm", svm },
	{ "callbacks", callbacks },   { "user-events", user_events },
	{ "queries", queries },       { "command-buffer", command_buffer },
	{ "objects", objects },       { "threads", threads },
	{ "killed", killed },         { "asleep", asleep },
	{ "unfinished", unfinished }, { "unfinished-exit", unfinished_exit },
	{ "hasty", hasty },           { "forks", forks },
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
		opencl_end();
		say_enqueued();
		return 0;
	}
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		printf("%s\n", ways[i].name);
	return 2;
}

#endif
