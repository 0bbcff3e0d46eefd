/*
 * ze_run.h - commands from the call that submits them until they are told.
 *
 * A command of an immediate list runs when it is appended, one of a regular list each time that the
 * list is executed. Either is a run: some commands, each with an event. A stream is what works
 * through runs: a queue, or an immediate list. Runs are told, command by command, as they are
 * complete:
 *
 * - by every call after which the program knows that things are complete, before it returns: a
 *   program that is killed then has lost nothing;
 * - by a thread of ours, a hundred times a second (helper.h);
 * - before an event is reset, used again or destroyed.
 *
 * What is said here to be under the lock is: ut_ze_lock() and its kin.
 */
#ifndef UT_BACKEND_LEVELZERO_ZE_RUN_H
#define UT_BACKEND_LEVELZERO_ZE_RUN_H

#include "backend/levelzero/ze_objects.h"

struct ut_ze_readout;
struct ut_ze_query;

struct ut_ze_command {
	uint32_t name;
	uint8_t kind;     /* enum ut_work_kind */
	uint8_t from, to; /* 1 + enum ze_memory_kind; 0 = it moves nothing */
	bool silent;      /* the user does not want to see it */
	uint64_t bytes, appended;
	const struct ut_ze_shape *shape;
	const struct ut_ze_facts *kernel; /* NULL = it is none */
	struct ut_ze_event *event;        /* NULL = nobody knows when it ran */
	struct ut_ze_query *query;        /* its hardware metrics; NULL = none */
	struct ut_ze_slot *slot;          /* its timestamps are put there, inside the list */
	uint64_t mutable_id;              /* by which the program may change it; 0 = not */
};

/* The commands of a regular list, as long as the list or a run needs them. */
struct ut_ze_program {
	uint32_t references; /* under the lock */
	uint32_t count, room;
	struct ut_ze_command *commands;
	struct ut_ze_event **resets; /* of the program's, that it resets */
	uint32_t reset_count, reset_room;
	struct ut_ze_run *run; /* the last one, until it is told */
	struct ut_ze_readout *readouts;
	struct ut_ze_context *context;
	struct ut_ze_device *device;
	uint32_t ordinal;
	struct ut_ze_event *end; /* signaled when all is done; only where slots need it */
	bool blind;              /* its events may have been signaled by an earlier run */
	uint32_t executed;       /* how often */
};

enum ut_ze_command_state {
	UT_ZE_WAITING,
	UT_ZE_READING, /* its timestamps are on their way to the run's readout */
	UT_ZE_REPORTED,
};

struct ut_ze_stream;

struct ut_ze_run {
	struct ut_ze_run *next;
	struct ut_ze_stream *stream;
	struct ut_ze_program *program; /* NULL: one is its only command */
	struct ut_ze_command *commands;
	uint8_t *states; /* enum ut_ze_command_state */
	uint32_t count, left, thread, number;
	uint64_t correlation, submitted;
	uint64_t order; /* in its stream, from 1 on */
	struct ut_ze_readout *readout;
	/* The run of the same list before it: until that is told, events say nothing of this one.
	 */
	struct ut_ze_run *before, *after;
	bool silent, blind;
	bool mixed; /* its list was executed again meanwhile, or before it was told */
	struct ut_ze_command one;
	uint8_t one_state;
};

/* Part of what is known of a queue or list, and there for ever like that. */
struct ut_ze_stream {
	struct ut_ze_stream *older; /* all of them: follow it */
	_Atomic bool listed;
	_Atomic(struct ut_ze_run *) fresh; /* newest first; anybody adds */
	_Atomic uint32_t waiting;          /* runs on both lists */
	_Atomic uint64_t submitted;        /* runs so far */
	struct ut_ze_run *first, *last;    /* oldest first; under the lock */
	struct ut_ze_device *device;
	struct ut_ze_row *row; /* NULL = nothing of it is recorded */
	bool ordered, synchronous;
	uint64_t last_end; /* of the latest command, ours */
};

/* ---- the lock (helper.c) ------------------------------------------------------------------- */

bool ut_ze_try_lock(void);
/* Waits for it, not for ever; false: it is not to be had, or this thread has it. */
bool ut_ze_lock(uint64_t patience_ns);
void ut_ze_unlock(void);

#define UT_ZE_PATIENCE      UINT64_C(50000000)   /* ns, where it can be done later */
#define UT_ZE_LONG_PATIENCE UINT64_C(2000000000) /* where it cannot */

/* ---- runs (run.c) -------------------------------------------------------------------------- */

/* A run of one command; NULL = there is no memory. */
struct ut_ze_run *ut_ze_run_new(void);
/* A run of a list's commands; under the lock. */
struct ut_ze_run *ut_ze_run_of(struct ut_ze_program *p);
void ut_ze_run_drop(struct ut_ze_run *r);
/* It has been submitted: the stream owns it from now on. */
void ut_ze_run_submit(struct ut_ze_stream *s, struct ut_ze_run *r);

/*
 * Tells what is complete. proven: so many runs are, whatever their events say: what .submitted was
 * before the call that has waited for them. Under the lock.
 */
uint32_t ut_ze_stream_visit(struct ut_ze_stream *s, uint64_t proven);
/* The same with the lock taken, for calls after which things are complete. */
void ut_ze_stream_waited(struct ut_ze_stream *s, uint64_t proven);

/* All that were ever made. */
struct ut_ze_stream *ut_ze_stream_last(void);
void ut_ze_stream_add(struct ut_ze_stream *s);

/* Tells the command if it is complete; false: it is not. Under the lock. */
bool ut_ze_run_send(struct ut_ze_run *r, uint32_t index, bool proven);
/* Nobody will ever know when what is left of it ran, or this command: told like that. Under the
 * lock. */
void ut_ze_run_give_up(struct ut_ze_run *r);
void ut_ze_run_forget_event(struct ut_ze_run *r, uint32_t index);
/* The same for all that is not on its way to a readout. */
void ut_ze_run_forget(struct ut_ze_run *r);
/* A context goes: what is under way in it is told or given up, what is ours there is destroyed.
 * Under the lock. */
void ut_ze_context_ends(struct ut_ze_context *c);

void ut_ze_program_drop(struct ut_ze_program *p); /* under the lock */

/* How many commands were told without times, or not at all. Reset. */
void ut_ze_run_losses(uint64_t *untimed, uint64_t *dropped);
void ut_ze_run_dropped(uint64_t commands);
void ut_ze_runs_forked(void);

/* ---- reading timestamps on the device (readout.c) ------------------------------------------ */

/*
 * A list of ours that reads the timestamps of a run's events and resets those that are ours, so
 * that the run's list can be executed again while it is still being executed. NULL: it cannot be
 * made. It is to be executed in the same stream, and waits for nothing but what is before it there:
 * whoever waits for an event of the program's may wait for ever. Under the lock.
 */
struct ut_ze_readout *ut_ze_readout_for(struct ut_ze_run *r);
ze_handle ut_ze_readout_list(const struct ut_ze_readout *o);
/* Can it be done on engines of this kind? */
bool ut_ze_readout_works(const struct ut_ze_device *d, uint32_t ordinal);
/* The same for the only command of a run, as a command of the program's own in-order list. False:
 * it cannot be done. */
bool ut_ze_readout_append(struct ut_ze_run *r, ze_handle list);
/* It was not submitted after all. */
void ut_ze_readout_cancel(struct ut_ze_run *r);
/* Has it been executed? */
bool ut_ze_readout_done(const struct ut_ze_readout *o, bool proven);
void ut_ze_readout_get(const struct ut_ze_readout *o, uint32_t index, struct ze_timestamps *t);
/* The run is told: another may have it. */
void ut_ze_readout_give(struct ut_ze_readout *o);
/* The list of the runs is gone. */
void ut_ze_readouts_drop(struct ut_ze_program *p);

#endif
