/*
 * steps.h - the steps of an import, in their order (state.h), and what they are made of.
 */
#ifndef UT_IMPORT_SPOOL_STEPS_H
#define UT_IMPORT_SPOOL_STEPS_H

#include "import/spool/state.h"

/* The scan: a definition; a record of a thread; the order of parts of threads. */
void ut_spool_scan_definition(struct ut_spool_import *im, const struct ut_spool_rec *r);
void ut_spool_scan_long(struct ut_spool_import *im, uint32_t thread, uint64_t ticks,
			const struct ut_spool_rec *r);
void ut_spool_sort_parts(struct ut_spool_import *im);

/* Makes everything ready, and takes it down. */
void ut_spool_import_init(struct ut_spool_import *im);
void ut_spool_import_release(struct ut_spool_import *im);

/* The clock as it is known by now. */
void ut_spool_finalize_clock(struct ut_spool_import *im, const char *path);

/* Up to now; times that were told before stay. The oldest pair makes room. */
void ut_spool_clock_go_on(struct ut_spool_import *im, const struct ut_clock_pair *now);

/* So many spans never ended. */
void ut_spool_count_unfinished(struct ut_spool_import *im, uint64_t count);

/* One end of an arrow from a call to its work, bound to the span. */
void ut_spool_send_arrow(struct ut_spool_import *im, const struct ut_event *span, enum ut_kind kind,
			 uint32_t number);

/* One end of an arrow between tasks. */
void ut_spool_send_flow(struct ut_spool_import *im, const struct ut_spool_flow *f,
			const struct ut_event *span);

/* The steps. */
void ut_spool_import_submits(struct ut_spool_import *im); /* after the scan */
/* The calls of a thread that were told of when they were over, by their start; how many. */
size_t ut_spool_calls_of(struct ut_spool_import *im, uint32_t tid, struct ut_spool_work **calls);
void ut_spool_import_devices(struct ut_spool_import *im); /* after the threads */
void ut_spool_sort_lanes(struct ut_spool_import *im);
void ut_spool_omp_finalize(struct ut_spool_import *im); /* after sort_lanes */
void ut_spool_send_lanes(struct ut_spool_import *im);
void ut_spool_import_threads(struct ut_spool_import *im);
void ut_spool_import_flows(struct ut_spool_import *im); /* after the first look at the threads */
void ut_spool_flows_go_on(struct ut_spool_import *im, uint64_t ticks); /* of one that is followed */
void ut_spool_import_cross(struct ut_spool_import *im);
void ut_spool_import_memory(struct ut_spool_import *im); /* last: memory_books.h */
void ut_spool_memory_release(struct ut_spool_memory *m);

/* The last step for a recording that is followed: what is known from earlier times is kept. */
struct ut_spool_cross *ut_spool_cross_new(struct ut_spool_import *im);
void ut_spool_cross_go_on(struct ut_spool_cross *x);
void ut_spool_cross_free(struct ut_spool_cross *x);

#endif
