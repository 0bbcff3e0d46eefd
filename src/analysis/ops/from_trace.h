/*
 * from_trace.h - the ops report from traces: of ours, of torch.profiler, of whoever marks ops or
 * tasks.
 *
 * A row per op that no other op has called, with what it called and what it made devices do; work
 * of devices is joined with the op in which it was submitted. A task has a row if it submitted work
 * outside of any op. Work that nothing is known to have submitted has a row that says why.
 */
#ifndef UT_OPS_FROM_TRACE_H
#define UT_OPS_FROM_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/idmap.h"
#include "model/strtab.h"
#include "ops/trace_args.h"

struct ut_ops_report;
struct ut_store;

struct ut_ops_trace {
	struct ut_ops_report *r;
	bool nested;            /* a row for every op, also for those that an op has called */
	struct ut_strtab texts; /* in the report's arena */
	uint32_t first;         /* of the columns that every report has */
	struct ut_idmap calls;  /* text -> the first of its columns, plus 1 */
	uint32_t call_names;    /* in there */
	struct ut_ops_trace_args args;
};

/* r is initialised and outlives t. */
void ut_ops_trace_init(struct ut_ops_trace *t, struct ut_ops_report *r, bool nested);
void ut_ops_trace_release(struct ut_ops_trace *t);

/* Adds the rows of one trace, in order; rows of the next one follow them. */
void ut_ops_trace_add(struct ut_ops_trace *t, struct ut_store *store);

#endif
