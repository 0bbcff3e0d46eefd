/*
 * liveness.h - which processes belong to a session and still run.
 *
 * A process that outlives the program may not have recorded anything yet, so its spool cannot
 * tell; the environment it was started with can.
 */
#ifndef UT_LAUNCH_LIVENESS_H
#define UT_LAUNCH_LIVENESS_H

#include <stddef.h>

/* How many running processes that we may look at have UT_SESSION=dir in their environment. */
size_t ut_liveness_count(const char *dir);

/* Calls fn for every such process, whatever its session: dir is that, pid the process. */
void ut_liveness_each(void (*fn)(void *ctx, const char *dir, const char *pid), void *ctx);

#endif
