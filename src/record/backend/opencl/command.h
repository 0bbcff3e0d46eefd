/*
 * command.h - a command of OpenCL's, from the call that queues it on.
 *
 * A wrapper that submits a command says what it is, and what it learns is kept until the command is
 * complete: harvest.h. Every command gets an event, ours if the program asked for none.
 */
#ifndef UT_BACKEND_OPENCL_COMMAND_H
#define UT_BACKEND_OPENCL_COMMAND_H

#include "backend/opencl/opencl.h"

enum ut_cl_direction {
	UT_CL_NOWHERE,
	UT_CL_H2D,
	UT_CL_D2H,
	UT_CL_D2D,
};

/* A call that submits a command: lives in its wrapper. */
struct ut_cl_submit {
	enum ut_cl_id id;
	bool reported;         /* the call is recorded */
	struct ut_cl_row *row; /* NULL = the command is not recorded */
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

/* A command under way. */
struct ut_cl_command {
	struct ut_cl_command *next;
	cl_event event; /* one reference is ours */
	uint64_t before, after, correlation, bytes, items;
	const struct ut_cl_shape *shape;
	uint32_t name, thread, track, commands;
	uint32_t number; /* of this slot, from 1 */
	_Atomic uint32_t next_free;
	uint8_t kind, direction;
	bool blocked; /* it had ended when the call returned */
	bool timed;   /* the runtime has said when: */
	cl_int status;
	cl_ulong times[4]; /* queued, submitted, started, ended, of the device's clock */
};

/* It is over and told: its slot is free. */
void ut_cl_command_free(struct ut_cl_command *c);

/* Commands that were given up, because there was no memory or their queue cannot be timed. Reset.
 */
void ut_cl_command_losses(uint64_t *dropped, uint64_t *untimed);

/* In a forked child. */
void ut_cl_command_forked(void);

#endif
