/*
 * ops_tracy_columns.h - the columns of a report from Tracy's files, in order.
 */
#ifndef UT_TT_OPS_TRACY_COLUMNS_H
#define UT_TT_OPS_TRACY_COLUMNS_H

#include <stdbool.h>

#include "ops/report.h"

/* Groups of columns, in order. */
enum ut_tracy_group {
	UT_TRACY_HEAD,
	UT_TRACY_INPUTS,
	UT_TRACY_OUTPUTS,
	UT_TRACY_PROGRAM,
	UT_TRACY_SIZES, /* of kernels; six groups */
	UT_TRACY_MODEL = UT_TRACY_SIZES + 6,
	UT_TRACY_COUNTERS,
	UT_TRACY_CALLS,
};

/* Columns that the code itself speaks of: column id by word. */
#define UT_TRACY_LIST(X)                                                                           \
	X(OP_CODE, "OP CODE")                                                                      \
	X(OP_TYPE, "OP TYPE")                                                                      \
	X(CALL, "GLOBAL CALL COUNT")                                                               \
	X(DEVICE, "DEVICE ID")                                                                     \
	X(ATTRIBUTES, "ATTRIBUTES")                                                                \
	X(FIDELITY, "MATH FIDELITY")                                                               \
	X(SUB_DEVICE, "SUB DEVICE ID")                                                             \
	X(HOST_START, "HOST START TS")                                                             \
	X(HOST_END, "HOST END TS")                                                                 \
	X(HOST_TIME, "HOST DURATION [ns]")                                                         \
	X(LATENCY, "OP TO OP LATENCY [ns]")                                                        \
	X(LATENCY_DM, "OP TO OP LATENCY BR/NRISC START [ns]")                                      \
	X(TRACE, "METAL TRACE ID")                                                                 \
	X(REPLAY, "METAL TRACE REPLAY SESSION ID")                                                 \
	X(COMPUTE_SOURCE, "COMPUTE KERNEL SOURCE")                                                 \
	X(COMPUTE_HASH, "COMPUTE KERNEL HASH")                                                     \
	X(MOVE_SOURCE, "DATA MOVEMENT KERNEL SOURCE")                                              \
	X(MOVE_HASH, "DATA MOVEMENT KERNEL HASH")                                                  \
	X(PROGRAM_HASH, "PROGRAM HASH")                                                            \
	X(CACHE_HIT, "PROGRAM CACHE HIT")                                                          \
	X(IDEAL, "PM IDEAL [ns]")                                                                  \
	X(COMPUTE, "PM COMPUTE [ns]")                                                              \
	X(BANDWIDTH, "PM BANDWIDTH [ns]")                                                          \
	X(INPUT_BW, "PM REQ I BW")                                                                 \
	X(OUTPUT_BW, "PM REQ O BW")                                                                \
	X(FPU_UTIL, "PM FPU UTIL (%)")

enum ut_tracy_word {
#define UT_TRACY_ENUM(word, name) UT_TRACY_##word,
	UT_TRACY_LIST(UT_TRACY_ENUM)
#undef UT_TRACY_ENUM
	UT_TRACY_WORDS
};

struct ut_tracy_columns {
	uint32_t id[UT_TRACY_WORDS];
};

/* Adds all columns that every report has. */
void ut_tracy_columns_init(struct ut_tracy_columns *c, struct ut_ops_report *r);

/* The column of that name that every report has; false if there is none. */
bool ut_tracy_column_find(struct ut_ops_report *r, struct ut_str name, uint32_t *column);

/* Columns of a tensor: field 0 to 6. */
#define UT_TRACY_TENSOR_FIELDS 7u
uint32_t ut_tracy_tensor(struct ut_ops_report *r, bool output, uint32_t index, uint32_t field);

/* "TENSIX_DM_0_max_kernel_size" and its like. */
uint32_t ut_tracy_size(struct ut_ops_report *r, struct ut_str key);

/* Is this what a device's counters said: "FPU Util Max (%)", "Avg FPU util on full grid (%)"? */
bool ut_tracy_is_counter(struct ut_str name);
/* The column for it; index puts it in order. */
uint32_t ut_tracy_counter(struct ut_ops_report *r, struct ut_str name, uint32_t index);

/* "NAME_TT_HOST_FUNC [ns]" */
uint32_t ut_tracy_call(struct ut_ops_report *r, struct ut_str name);

/* Values have no commas in this report: semicolons take their place. */
struct ut_str ut_tracy_text(struct ut_ops_report *r, struct ut_str text);

#endif
