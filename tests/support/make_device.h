/*
 * make_device.h - device logs made by hand, for the tests of tables and summaries.
 *
 *     struct device_maker m;
 *     make_device_start(&m);
 *     uint32_t q = make_queue(&m, "DEVICE [Fake] cuda:0 #0", "Stream 7");
 *     make_work(&m, q, &(struct made_work){ .name = "gemm", .start = 10, .end = 20 });
 *     make_device_finish(&m);
 */
#ifndef UT_TESTS_SUPPORT_MAKE_DEVICE_H
#define UT_TESTS_SUPPORT_MAKE_DEVICE_H

#include "analyze/device_log.h"
#include "model/trace.h"

struct device_maker {
	struct ut_device_log log;
	struct ut_trace trace; /* of pid 100; ends when make_device_finish() is called */
	uint32_t calls;        /* the track of the calls */
	uint32_t program;      /* its process */
};

/* What is 0 or NULL is not said. */
struct made_work {
	const char *name, *cat; /* "kernel" unless said */
	uint64_t start, end;
	uint64_t queued, submitted, correlation, bytes;
	const char *task, *grid, *block;
	uint64_t registers;
};

void make_device_start(struct device_maker *m);
uint32_t make_queue(struct device_maker *m, const char *device, const char *queue);
void make_work(struct device_maker *m, uint32_t queue, const struct made_work *w);

/* On the only thread, 7; api is "CUDA", "OpenCL", ... */
void make_call(struct device_maker *m, const char *api, const struct made_work *call);

/* An arrow from the calls of the current program to a queue. */
void make_arrow(struct device_maker *m, uint32_t queue, uint64_t number);

/* Another program in the same trace makes the calls, and has the queues, that follow. */
void make_program(struct device_maker *m, uint64_t pid);

/* Recording was paused. */
void make_pause(struct device_maker *m, uint64_t start, uint64_t end);

/* The trace is over, and so is the log. */
void make_device_finish(struct device_maker *m);
void make_device_release(struct device_maker *m);

#endif
