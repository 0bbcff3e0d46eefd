/*
 * ccl_report.h - the -r table: what one process spent in oneCCL, NCCL and gloo, in the layout of
 * the original.
 */
#ifndef UT_SESSION_CCL_REPORT_H
#define UT_SESSION_CCL_REPORT_H

#include <stdint.h>

#include "analyze/summary.h"
#include "model/sink.h"

struct ut_buf;

/* A sink that lets only their tasks and calls through to its summary. */
struct ut_ccl_report {
	struct ut_sink sink; /* first: what importers feed */
	struct ut_summary summary;
	uint32_t last_cat; /* the category looked at last... */
	int last_is_ccl;   /* ... and whether it was oneCCL's; -1 = not looked yet */
};

void ut_ccl_report_init(struct ut_ccl_report *r);
void ut_ccl_report_release(struct ut_ccl_report *r);

/* Closes the summary and appends the table, nothing if there was no task. rank -1 = none. */
void ut_ccl_report_print(struct ut_ccl_report *r, struct ut_buf *to, uint32_t pid, int32_t rank);

#endif
