/*
 * opencl_use.h - what the test programs that use OpenCL share. The loader is opened at run time, so
 * that they are built without it; without its headers they only say that they cannot do anything.
 */
/* limits: one list of what OpenCL offers */
#ifndef OPENCL_USE_H
#define OPENCL_USE_H

#if defined(__has_include)
#if __has_include(<CL/cl.h>)
#define HAVE_OPENCL 1
#endif
#endif

#include <stdio.h>

#define CANNOT_RUN 77

#ifdef HAVE_OPENCL

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#include <CL/cl.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define OPENCL_FUNCTIONS(X)                                                                        \
	X(clGetPlatformIDs)                                                                        \
	X(clGetDeviceIDs)                                                                          \
	X(clGetDeviceInfo)                                                                         \
	X(clCreateContext)                                                                         \
	X(clReleaseContext)                                                                        \
	X(clCreateCommandQueue)                                                                    \
	X(clCreateCommandQueueWithProperties)                                                      \
	X(clRetainCommandQueue)                                                                    \
	X(clReleaseCommandQueue)                                                                   \
	X(clGetCommandQueueInfo)                                                                   \
	X(clCreateProgramWithSource)                                                               \
	X(clBuildProgram)                                                                          \
	X(clReleaseProgram)                                                                        \
	X(clCreateKernel)                                                                          \
	X(clCreateKernelsInProgram)                                                                \
	X(clCloneKernel)                                                                           \
	X(clReleaseKernel)                                                                         \
	X(clSetKernelArg)                                                                          \
	X(clSetKernelArgSVMPointer)                                                                \
	X(clCreateBuffer)                                                                          \
	X(clCreateImage)                                                                           \
	X(clReleaseMemObject)                                                                      \
	X(clEnqueueNDRangeKernel)                                                                  \
	X(clEnqueueTask)                                                                           \
	X(clEnqueueReadBuffer)                                                                     \
	X(clEnqueueWriteBuffer)                                                                    \
	X(clEnqueueCopyBuffer)                                                                     \
	X(clEnqueueFillBuffer)                                                                     \
	X(clEnqueueReadBufferRect)                                                                 \
	X(clEnqueueWriteBufferRect)                                                                \
	X(clEnqueueCopyBufferRect)                                                                 \
	X(clEnqueueReadImage)                                                                      \
	X(clEnqueueWriteImage)                                                                     \
	X(clEnqueueCopyImage)                                                                      \
	X(clEnqueueCopyImageToBuffer)                                                              \
	X(clEnqueueCopyBufferToImage)                                                              \
	X(clEnqueueFillImage)                                                                      \
	X(clEnqueueMapBuffer)                                                                      \
	X(clEnqueueMapImage)                                                                       \
	X(clEnqueueUnmapMemObject)                                                                 \
	X(clEnqueueNativeKernel)                                                                   \
	X(clEnqueueMarker)                                                                         \
	X(clEnqueueMarkerWithWaitList)                                                             \
	X(clEnqueueBarrier)                                                                        \
	X(clEnqueueBarrierWithWaitList)                                                            \
	X(clEnqueueMigrateMemObjects)                                                              \
	X(clEnqueueSVMMemcpy)                                                                      \
	X(clEnqueueSVMMemFill)                                                                     \
	X(clEnqueueSVMMap)                                                                         \
	X(clEnqueueSVMUnmap)                                                                       \
	X(clSVMAlloc)                                                                              \
	X(clSVMFree)                                                                               \
	X(clFlush)                                                                                 \
	X(clFinish)                                                                                \
	X(clWaitForEvents)                                                                         \
	X(clCreateUserEvent)                                                                       \
	X(clSetUserEventStatus)                                                                    \
	X(clSetEventCallback)                                                                      \
	X(clGetEventInfo)                                                                          \
	X(clGetEventProfilingInfo)                                                                 \
	X(clRetainEvent)                                                                           \
	X(clReleaseEvent)                                                                          \
	X(clGetExtensionFunctionAddressForPlatform)

static struct {
#define X(name) __typeof__(&name) name;
	OPENCL_FUNCTIONS(X)
#undef X
	cl_platform_id platform;
	cl_device_id device;
	cl_context context;
	cl_program program;
	unsigned int enqueued; /* successful calls with an event parameter */
} cl;

/* The kernels of the tests. */
static const char *const opencl_source =
	"__kernel void gemm(int n, __global const float *a, __global const float *b,\n"
	"                   __global float *c)\n"
	"{\n"
	"	int i = get_global_id(0), j = get_global_id(1);\n"
	"	float sum = 0;\n"
	"	for (int k = 0; k < n; k++)\n"
	"		sum += a[i * n + k] * b[k * n + j];\n"
	"	c[i * n + j] = sum;\n"
	"}\n"
	"__kernel void scale(float f, __global float *c) { c[get_global_id(0)] *= f; }\n"
	"__kernel void add(__global int *a) { a[get_global_id(0)] += 1; }\n"
	"__kernel void wait(__global int *a, int rounds)\n"
	"{\n"
	"	int x = a[get_global_id(0)];\n"
	"	for (int i = 0; i < rounds; i++)\n"
	"		x = x * 1103515245 + 12345;\n"
	"	a[get_global_id(0)] = x;\n"
	"}\n";

/* Ends the program when OpenCL answers otherwise than with success. */
static inline void must_be(cl_int code, const char *what, int line)
{
	if (code != CL_SUCCESS) {
		printf("line %d: %s gives %d\n", line, what, code);
		exit(1);
	}
}

#define MUST(call) must_be((call), #call, __LINE__)
/* A call that puts one command into a queue. */
#define ENQUEUE(call) (MUST(call), cl.enqueued++)

static inline int opencl_load(void)
{
	void *library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
	void *found;

	if (!library) {
		printf("SKIP: %s\n", dlerror());
		return 0;
	}
#define X(name)                                                                                    \
	found = dlsym(library, #name);                                                             \
	memcpy(&cl.name, &found, sizeof(found));                                                   \
	if (!found) {                                                                              \
		printf("SKIP: the loader has no " #name "\n");                                     \
		return 0;                                                                          \
	}
	OPENCL_FUNCTIONS(X)
#undef X
	return 1;
}

/* Everything up to a built program; 0 and a word when this machine has no OpenCL. */
static inline int opencl_start(void)
{
	const char *source = opencl_source, *choice = getenv("OPENCL_TEST_PLATFORM");
	cl_uint chosen = choice ? (cl_uint)atoi(choice) : 0, found = 0;
	cl_platform_id list[16];
	cl_int code;

	if (!opencl_load())
		return 0;
	if (cl.clGetPlatformIDs(16, list, &found) || chosen >= found ||
	    cl.clGetDeviceIDs(list[chosen], CL_DEVICE_TYPE_ALL, 1, &cl.device, NULL)) {
		printf("SKIP: no OpenCL device\n");
		return 0;
	}
	cl.platform = list[chosen];
	cl.context = cl.clCreateContext(NULL, 1, &cl.device, NULL, NULL, &code);
	MUST(code);
	cl.program = cl.clCreateProgramWithSource(cl.context, 1, &source, NULL, &code);
	MUST(code);
	MUST(cl.clBuildProgram(cl.program, 1, &cl.device, "", NULL, NULL));
	return 1;
}

static inline cl_command_queue opencl_queue(cl_command_queue_properties bits)
{
	const cl_queue_properties list[] = { CL_QUEUE_PROPERTIES, bits, 0 };
	cl_int code;
	cl_command_queue queue = cl.clCreateCommandQueueWithProperties(cl.context, cl.device,
								       bits ? list : NULL, &code);

	MUST(code);
	return queue;
}

static inline cl_mem opencl_buffer(size_t size)
{
	cl_int code;
	cl_mem made = cl.clCreateBuffer(cl.context, CL_MEM_READ_WRITE, size, NULL, &code);

	MUST(code);
	return made;
}

static inline cl_kernel opencl_kernel(const char *name)
{
	cl_int code;
	cl_kernel made = cl.clCreateKernel(cl.program, name, &code);

	MUST(code);
	return made;
}

static inline void opencl_end(void)
{
	MUST(cl.clReleaseProgram(cl.program));
	MUST(cl.clReleaseContext(cl.context));
}

#elif !defined(OPENCL_LIBRARY) /* of a library, which has no main() */

int main(void)
{
	printf("SKIP: built without the headers of OpenCL\n");
	return CANNOT_RUN;
}

#endif
#endif
