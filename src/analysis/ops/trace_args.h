/*
 * trace_args.h - what a trace says about the tensors and attributes of an op.
 *
 * Read are torch.profiler's arguments ("Input Dims", "Input type"), ours ("shapes") and the names
 * that emit_nvtx makes ("aten::mm, sizes = [[2, 3], [3, 4]]").
 */
#ifndef UT_OPS_TRACE_ARGS_H
#define UT_OPS_TRACE_ARGS_H

#include <stdint.h>

#include "ops/report_columns.h"

struct ut_ops_report;
struct ut_ops_span;
struct ut_out;
struct ut_store;
struct ut_strtab;

struct ut_ops_trace_args {
	struct ut_ops_report *r;
	struct ut_strtab *texts; /* of the report: equal texts are kept once */
	struct ut_out *scratch;
	uint32_t attributes; /* the column */
	struct ut_ops_tensors inputs;
};

/* Puts the cells of one op. */
void ut_ops_trace_args_put(struct ut_ops_trace_args *a, const struct ut_store *store,
			   const struct ut_ops_span *span);

#endif
