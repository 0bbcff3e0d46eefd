/*
 * ze_measure.h - hardware metrics, between the files of the Level Zero backend: ze_measure.c has
 * what all kinds share, query.c measures each kernel (-q), stream.c the device over time (-k) and
 * instructions that wait (--stall-sampling). At most one of the three is on.
 */
#ifndef UT_BACKEND_LEVELZERO_ZE_MEASURE_H
#define UT_BACKEND_LEVELZERO_ZE_MEASURE_H

#include "backend/levelzero/ze_run.h"

/* ---- each kernel (query.c) ----------------------------------------------------------------- */

/* A query for the next kernel of a list; NULL = it is not to be measured. */
struct ut_ze_query *ut_ze_query_take(struct ut_ze_context *c, struct ut_ze_device *d,
				     const struct ut_ze_facts *kernel);
/* Around the kernel; false: it was not put there. */
bool ut_ze_query_begin(struct ut_ze_query *q, ze_handle list);
bool ut_ze_query_end(struct ut_ze_query *q, ze_handle list);
/* The kernel is complete. Under the lock. */
void ut_ze_query_tell(struct ut_ze_query *q, const struct ut_work *w);
/* It may be used again: by the same command if that is kept. */
void ut_ze_query_give(struct ut_ze_query *q, bool kept);
void ut_ze_query_context_ends(struct ut_ze_context *c);

#endif
