/*
 * harvest.h - commands that are complete become records.
 *
 * Every queue has a list of its commands under way. What is complete is told and forgotten:
 *
 * - by every call after which the program knows that things are complete (clFinish and the like),
 *   before it returns: a program that is killed then has lost nothing;
 * - by a thread of ours, a hundred times a second, for programs that do not look. It sleeps when
 *   there is nothing to do. Runtimes have callbacks for this, but they are expensive: on an NVIDIA
 * H200 a callback takes 13 us of the program's time and 70 us of other threads' (docs/design).
 *
 * One thread at a time works on a list, a few commands at a time.
 */
#ifndef UT_BACKEND_OPENCL_HARVEST_H
#define UT_BACKEND_OPENCL_HARVEST_H

#include <stdatomic.h>

#include "backend/opencl/command.h"

/*
 * A row of the timeline and the commands under way in it. A queue has one until it is released;
 * then the next queue that looks alike takes it. So there are as many as there were queues at once.
 */
struct ut_cl_row {
	struct ut_cl_row *older;
	struct ut_cl_device *device;
	uint32_t id;      /* host->queue(); 0 = the user does not want this device */
	uint32_t context; /* the number in its name */
	bool ordered;
	_Atomic bool taken;               /* a queue has it, */
	bool has_list;                    /* made with a list of properties: */
	cl_uint property_count;           /* words of it, the closing 0 included */
	cl_queue_properties property[32]; /* as the program gave them */

	_Atomic(struct ut_cl_command *) fresh; /* newest first; anybody adds */
	_Atomic uint32_t waiting;              /* commands on both lists */
	atomic_flag at_work;                   /* whoever has it set owns what follows */
	struct ut_cl_command *first, *last;    /* oldest first */
	uint64_t last_end, last_mapped;        /* of the latest command: the device's time, ours */
};

/* All rows: follow older. */
struct ut_cl_row *ut_cl_row_last(void);

/* A new command; the row owns it from now on. is_complete: the call has waited for it. */
void ut_cl_harvest_add(struct ut_cl_row *r, struct ut_cl_command *c, bool is_complete);

/* Tells what is complete, in all rows, unless another thread is just doing it. Not after the end,
 * when the runtime may be gone. */
void ut_cl_harvest_all(void);

/* The same, always, before a call of the program's returns that knows that things are complete:
 * gives another thread that is at it a moment. */
void ut_cl_harvest_waited(void);

/* How often the event is referenced, less our own reference. False: we have none. */
bool ut_cl_harvest_references(cl_event event, cl_uint *count);

/* The process ends: waits a little for what is still under way. Once. */
void ut_cl_harvest_end(void);

/* In a forked child: what the parent has queued is the parent's. */
void ut_cl_harvest_forked(void);

/* How deep this thread is in calls of the runtime: exit() inside one must not call it again. */
extern _Thread_local uint32_t ut_cl_inside;

#endif
