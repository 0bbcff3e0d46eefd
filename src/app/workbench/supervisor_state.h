/*
 * supervisor_state.h - state.json: how a run goes, as its supervisor writes it down.
 */
#ifndef UT_WORKBENCH_SUPERVISOR_STATE_H
#define UT_WORKBENCH_SUPERVISOR_STATE_H

#include <stdbool.h>

#include "workbench/data_dir.h"

struct ut_supervisor_state {
	enum ut_result_state state;
	double started, ended; /* s since 1970; 0 = not yet */
	int status;            /* of the program, as from waitpid(); -1 = unknown */
	const char *trouble;   /* "" = none */
	bool is_killed;
};

/* A full disk is no reason to stop: what is there then still says that somebody is at it. */
void ut_supervisor_state_write(int at, const struct ut_supervisor_state *s);

#endif
