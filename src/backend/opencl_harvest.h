/*
 * opencl_harvest.h - commands that are complete become records.
 *
 * A queue keeps a list of its commands under way. What is complete is told and forgotten:
 *
 * - by every call after which the program knows that things are complete (clFinish and the like),
 *   before it returns: a program that is killed then has lost nothing;
 * - by a thread of ours, a hundred times a second, for programs that do not look. It sleeps when
 *   there is nothing to do. Runtimes have callbacks for this, but they are dear: on an NVIDIA H200
 * a callback takes 13 us of the program's time and 70 us of other threads' (docs/design).
 *
 * One thread at a time works on a list, a few commands at a time.
 */
#ifndef UT_BACKEND_OPENCL_HARVEST_H
#define UT_BACKEND_OPENCL_HARVEST_H

#include <stdatomic.h>

#include "backend/opencl_command.h"

/* A command queue of the program's. */
struct ut_cl_queue {
	struct ut_cl_item item;
	struct ut_cl_device *device;
	uint32_t id; /* host->queue() */
	bool timed;  /* its commands have times */
	bool forced; /* because of us: the program must not notice */
	bool ordered;
	bool has_list;                    /* made with a list of properties: */
	cl_uint property_count;           /* words of it, the closing 0 included */
	cl_queue_properties property[32]; /* as the program gave them */

	_Atomic(struct ut_cl_command *) fresh; /* newest first; anybody adds */
	_Atomic uint32_t waiting;              /* commands on both lists */
	atomic_flag at_work;                   /* whoever has it set owns what follows */
	struct ut_cl_command *first, *last;    /* oldest first */
	uint64_t last_end, last_mapped;        /* of the latest command: the device's time, ours */
};

/* A new command; the queue owns it from now on. is_complete: the call has waited for it. */
void ut_cl_harvest_add(struct ut_cl_queue *q, struct ut_cl_command *c, bool is_complete);

/* Tells what is complete, in all queues, unless another thread is just doing it. */
void ut_cl_harvest_all(void);

/* The same before a call returns that has waited: gives the other thread a moment. */
void ut_cl_harvest_waited(void);

/* The process ends: waits a little for what is still under way. Once. */
void ut_cl_harvest_end(void);

/* In a forked child: what the parent has queued is the parent's. */
void ut_cl_harvest_forked(void);

/* This thread goes into the runtime and comes out again: exit() from in there must not go back. */
extern _Thread_local uint32_t ut_cl_inside;

#endif
