/*
 * report_columns.h - columns that several reports have: those of tensors and of calls inside an op.
 */
#ifndef UT_OPS_REPORT_COLUMNS_H
#define UT_OPS_REPORT_COLUMNS_H

#include <stdbool.h>
#include <stdint.h>

struct ut_ops_report;

/* W, Z, Y, X, LAYOUT, DATA TYPE, MEMORY */
#define UT_OPS_TENSOR_FIELDS 7u
#define UT_OPS_MOST_TENSORS  256u /* each takes seven columns, in every row */

/* The columns of all inputs, or of all outputs; ids are those of columns, plus 1. */
struct ut_ops_tensors {
	uint32_t group; /* of columns */
	bool output;
	uint32_t ids[UT_OPS_MOST_TENSORS][UT_OPS_TENSOR_FIELDS];
};

/* "INPUT_0_W" and its like, made when it is first asked for. index < UT_OPS_MOST_TENSORS. */
uint32_t ut_ops_tensor_column(struct ut_ops_tensors *t, struct ut_ops_report *r, uint32_t index,
			      uint32_t field);

/* "NAME Count" (0) and "NAME Average [ns]" (1), in a group of columns. */
uint32_t ut_ops_call_column(struct ut_ops_report *r, uint32_t group, const char *name,
			    uint32_t field);

#endif
