/*
 * kernels.h - a row per op and chip: when it ran, on how many cores, how long its firmware and its
 * kernels took, which core was slowest, how long the chip did nothing before.
 *
 * In a log of timer numbers there are no ops; a row is then the n-th launch of all cores.
 */
#ifndef UT_TT_KERNELS_H
#define UT_TT_KERNELS_H

#include "base/err.h"
#include "tt/durations.h"

struct ut_out;
struct ut_report_opts;

struct ut_tt_kernel {
	uint32_t chip; /* index */
	uint64_t op;   /* the host's number; of a launch: from 1 */
	int64_t trace, replay;
	uint64_t start; /* its first marker, cycles */
	uint32_t cores;
	uint64_t firmware, kernel; /* from the first start to the last end */
	uint64_t kernel_start, kernel_end;
	int64_t gap;      /* from the end of the kernels before; -1 = there are none */
	uint32_t slowest; /* core; UINT32_MAX = none */
	uint64_t slowest_cycles;
};

struct ut_tt_kernels {
	struct ut_tt_kernel *items;
	size_t count, cap;
};

/* {0} to begin with; chip by chip in order of their start. */
void ut_tt_kernels_find(struct ut_tt_kernels *k, const struct ut_tt_analysis *a);
void ut_tt_kernels_release(struct ut_tt_kernels *k);

/* As a report; as CSV it is device_kernels.csv. -EINVAL: there is no column to order by. */
int ut_tt_kernels_print(const struct ut_tt_kernels *k, const struct ut_tt_log *log,
			struct ut_out *out, const struct ut_report_opts *opts,
			struct ut_err *err) UT_MUST_CHECK;

#endif
