/*
 * record_run.h - a session as a command line runs it: its events are printed, Ctrl-C while results
 * are written says where the recording is, and what did not start gets its own exit status.
 */
#ifndef UT_CMD_RECORD_RUN_H
#define UT_CMD_RECORD_RUN_H

#include <stdint.h>

struct ut_cmd;
struct ut_record_view;
struct ut_session_plan;
struct ut_session_result;

struct ut_record_run {
	const struct ut_cmd *cmd; /* who is told about a misuse */
	const struct ut_session_plan *plan;
	struct ut_record_view *view;
	const char *event_log; /* a file for what is told, instead of the terminal; NULL = none */
	/* The timelines that commands can read; gone when it returns. May be NULL. */
	void (*results)(void *ctx, const char *const *paths, uint64_t count);
	void *ctx;
};

/* The exit status; -1: to end as the program did, which result tells. */
int ut_record_run(const struct ut_record_run *run, struct ut_session_result *result);

#endif
