/*
 * ops_tracy_cores.h - how long each core waited between two ops: per_core_op_to_op_times.csv.
 */
#ifndef UT_TT_OPS_TRACY_CORES_H
#define UT_TT_OPS_TRACY_CORES_H

struct ut_ops_report;
struct ut_tt_analysis;
struct ut_tt_log;

/*
 * A row per step from one op to the next, a column per core. What the device's own profiling takes
 * is subtracted, as in the original: 1500 cycles. (Its columns say ns; they are cycles.)
 */
void ut_tracy_cores_put(struct ut_ops_report *r, const struct ut_tt_log *log,
			const struct ut_tt_analysis *a);

#endif
