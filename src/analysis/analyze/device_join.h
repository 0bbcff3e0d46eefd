/*
 * device_join.h - which call submitted which piece of work: the part of device_log.h that knows.
 *
 * Both carry the number that the runtime gave them, which counts in one process only. A trace of
 * several programs (merged, or of several ranks) has the same numbers many times, so that each
 * process of a device needs its program: arrows tell, or that only one program of its rank called.
 * Where neither does, the work has no caller. Traces of Intel's tool have no numbers: there,
 * the arrow that ends where work begins tells when the call began. Memory: 40 bytes for each call
 * that submitted; while a trace is read, some 60 for each arrow that was told.
 */
#ifndef UT_ANALYZE_DEVICE_JOIN_H
#define UT_ANALYZE_DEVICE_JOIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/idmap.h"

struct ut_device_work;
struct ut_trace;

/* A call that may have submitted something. */
struct ut_device_submit {
	uint64_t correlation, start, end;
	uint32_t source, process, thread;
};

/* Where an arrow leaves, and where it ends. */
struct ut_device_leave {
	uint64_t time;
	uint32_t process;
};

struct ut_device_arrival {
	uint64_t time, arrow;
	uint32_t track;
};

/* What is known of a process of the trace. */
struct ut_device_owner {
	bool calls;       /* it has submitted something */
	bool has_arrow;   /* one leads to it */
	uint32_t program; /* 1 + the process whose work this is; 0 = not known yet */
	uint64_t arrow;
};

struct ut_device_join {
	struct ut_device_submit *submits;
	size_t submit_count, submit_cap;

	/* the trace that is being read */
	struct ut_arena arena;
	struct ut_device_owner *owners; /* by process */
	size_t owner_cap;
	struct ut_device_leave *leaves;
	size_t leave_count, leave_cap;
	struct ut_idmap leave_of; /* number of an arrow -> 1 + index of its leaving */
	struct ut_device_arrival *arrivals;
	size_t arrival_count, arrival_cap;
};

void ut_device_join_init(struct ut_device_join *j);
void ut_device_join_release(struct ut_device_join *j);

void ut_device_join_call(struct ut_device_join *j, const struct ut_device_submit *s);

/*
 * An arrow leaves a program, or ends on a track of a process of a device. Only worth telling if
 * there are several programs, or no numbers.
 */
void ut_device_join_leaves(struct ut_device_join *j, uint64_t arrow,
			   const struct ut_device_leave *from);
void ut_device_join_arrives(struct ut_device_join *j, uint32_t process,
			    const struct ut_device_arrival *at);

/* After the last event of a trace, whose works are those from first to below end. */
void ut_device_join_end_trace(struct ut_device_join *j, const struct ut_trace *t,
			      struct ut_device_work *works, size_t first, size_t end);

/* After the last trace: all works learn when they were called for, and by which thread. */
void ut_device_join_finish(struct ut_device_join *j, struct ut_device_work *works, size_t count);

/* What came before a start, or 0 if it cannot have: another clock's, as converted traces have. */
uint64_t ut_device_sane(uint64_t before, uint64_t start);

#endif
