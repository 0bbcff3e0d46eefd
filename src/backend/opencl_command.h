/*
 * opencl_command.h - a command's way from the call that queues it to the record of what the device
 * did.
 *
 * Every command gets an event, ours if the program asked for none, and is put on the list of its
 * queue. What is complete is told and forgotten: by whoever queues the next command, by calls after
 * which the program knows that things are complete, and, for a program that does neither, by a
 * callback on one of the waiting commands. Commands of a queue that keeps no order are told by a
 * callback each.
 *
 * One thread at a time works on a list; who comes second leaves the work to the first. So nobody
 * waits, and a record is in the spool before the program can know that its command is complete, or
 * a moment later.
 */
#ifndef UT_BACKEND_OPENCL_COMMAND_H
#define UT_BACKEND_OPENCL_COMMAND_H

#include "backend/opencl.h"

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
	_Atomic(struct ut_cl_command *) done;  /* told of by their callbacks */
	struct ut_cl_command *first, *last;    /* oldest first; for whoever is at work */
	_Atomic uint32_t at_work;              /* who that is */
	_Atomic bool armed;                    /* a callback is to come */
	_Atomic uint32_t waiting;              /* commands on any of the lists */
	uint64_t pace;                         /* ns that a command takes, roughly */
	uint64_t last_end, last_mapped;        /* of the latest command: the device's time, ours */
};

enum ut_cl_direction {
	UT_CL_NOWHERE,
	UT_CL_H2D,
	UT_CL_D2H,
	UT_CL_D2D,
};

/* A call that submits a command: lives in its wrapper. */
struct ut_cl_submit {
	enum ut_cl_id id;
	bool told;                 /* the call is recorded */
	struct ut_cl_queue *queue; /* NULL = the command is not recorded */
	cl_event own;
	cl_event *event; /* the program's, or &own */
	uint64_t before, after, correlation;
	uint32_t name, kind;
	enum ut_cl_direction direction;
	uint64_t bytes;
	uint32_t commands; /* in a command buffer */
	uint64_t items;    /* when there is no shape */
	const struct ut_cl_shape *shape;
};

/* In this order. Is the command to be recorded? Then say what it is. */
bool ut_cl_submit_opens(struct ut_cl_submit *s, cl_command_queue queue, const cl_event *event);

void ut_cl_say_work(struct ut_cl_submit *s, enum ut_work_kind kind);
void ut_cl_say_copy(struct ut_cl_submit *s, enum ut_cl_direction direction, uint64_t bytes);
void ut_cl_say_fill(struct ut_cl_submit *s, uint64_t bytes);
void ut_cl_say_kernel(struct ut_cl_submit *s, cl_kernel kernel, uint32_t dimensions,
		      const size_t *global, const size_t *local);
void ut_cl_say_buffer(struct ut_cl_submit *s, const void *buffer);

/* Just before the call; gives the event to hand on. */
cl_event *ut_cl_submit_begin(struct ut_cl_submit *s, cl_event *event);
/* Right after it; gives back the event that the program handed over. */
cl_event *ut_cl_submit_end(struct ut_cl_submit *s);
/* When everything about the call is recorded. */
void ut_cl_submit_done(struct ut_cl_submit *s, cl_int code, bool is_complete);

/* Tells what is complete of one queue (at most so many), or of all. */
void ut_cl_harvest(struct ut_cl_queue *q, uint32_t most);
void ut_cl_harvest_all(void);
/* The same, and waits a little for whoever was at it already: before a call that waits returns. */
void ut_cl_harvest_complete(void);

/* The process ends: waits a little for what is still under way. */
void ut_cl_drain(void);

/* In a forked child: what the parent has queued is the parent's. */
void ut_cl_forget_commands(void);

#endif
