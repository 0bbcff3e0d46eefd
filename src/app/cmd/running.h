/*
 * running.h - recordings that are under way, found by the processes that are recorded.
 */
#ifndef UT_CMD_RUNNING_H
#define UT_CMD_RUNNING_H

#include <stdbool.h>

struct ut_arena;

/*
 * The directory of the session that was started last: of those with this name, or, without a name,
 * of those whose program was started in this directory or that lie in it. NULL = there is none.
 */
const char *ut_running_find(struct ut_arena *a, const char *name);

#endif
