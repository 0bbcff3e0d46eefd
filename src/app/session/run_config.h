/*
 * run_config.h - DIR/[rank_R.]unitrace.PID/run_config.json: how a --result-dir run was started.
 */
#ifndef UT_SESSION_RUN_CONFIG_H
#define UT_SESSION_RUN_CONFIG_H

#include "base/err.h"

/* own: unitrace's options; app: the program and its arguments. */
int ut_run_config_write(const char *result_dir, int own_count, const char *const *own,
			int app_count, const char *const *app, struct ut_err *err) UT_MUST_CHECK;

#endif
