/*
 * sampling.h - samples of the program's CPU time, for as long as a session lasts.
 *
 * What cannot be had is told once, with what to do about it; the session goes on without.
 */
#ifndef UT_SESSION_SAMPLING_H
#define UT_SESSION_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct ut_arena;
struct ut_sampler;
struct ut_session;
struct ut_session_client;
struct ut_session_plan;

struct ut_sampling {
	const struct ut_session_plan *plan;
	const struct ut_session_client *client;
	const struct ut_session *session;
	struct ut_sampler *sampler; /* NULL = none is taken */
	bool timers;                /* the program samples itself */
};

/*
 * Before the program is started: who takes the samples? *preload is a library that it has to load,
 * or NULL. collector: the path of that.
 */
void ut_sampling_prepare(struct ut_sampling *s, struct ut_arena *a, const char *collector,
			 const char **preload);

/* The process is about to execute the program. Does nothing if the plan does not ask for it. */
void ut_sampling_start(struct ut_sampling *s, pid_t pid);
/* The process is running; -1: all of them. What goes wrong is an error here. */
int ut_sampling_attach(struct ut_sampling *s, pid_t pid, struct ut_err *err) UT_MUST_CHECK;

void ut_sampling_stop(struct ut_sampling *s); /* twice is fine */
/* How the process ended goes into the last file of its samples. */
void ut_sampling_ended(const struct ut_session *session, uint32_t pid, int status);

#endif
