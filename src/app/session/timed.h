/*
 * timed.h - a recording that begins or ends some time after its program.
 */
#ifndef UT_SESSION_TIMED_H
#define UT_SESSION_TIMED_H

#include <stdint.h>

struct ut_control;
struct ut_session_plan;

struct ut_timed {
	const struct ut_session_plan *plan;
	struct ut_control *control;
	uint64_t start;        /* ns; 0 = the program has not started */
	uint64_t resume, stop; /* when; 0 = never, or done */
};

/* Before the program starts: the switch is where the plan wants it to be. */
void ut_timed_begin(struct ut_timed *t, const struct ut_session_plan *plan,
		    struct ut_control *control);

/* Does what is due now (CLOCK_MONOTONIC), and returns when to look again; 0 = never. */
uint64_t ut_timed_look(struct ut_timed *t, uint64_t now);

#endif
