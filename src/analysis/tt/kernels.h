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
	uint64_t core_cycles; /* of the kernels of each core, added up */
	uint32_t number;      /* in the order in which they were found */
};

struct ut_tt_kernels {
	struct ut_tt_kernel *items;
	size_t count, cap;
};

/* {0} to begin with; of a chip (its index) or of all, chip by chip in order of their start. */
void ut_tt_kernels_find(struct ut_tt_kernels *k, const struct ut_tt_analysis *a, uint32_t chip);
void ut_tt_kernels_release(struct ut_tt_kernels *k);

/* What one lane did for one op: from its first to its last marker of a kernel. */
struct ut_tt_share {
	uint32_t kernel, lane; /* indices */
	uint64_t start, cycles;
};

struct ut_tt_shares {
	struct ut_tt_share *items;
	size_t count, cap;
	size_t ops_left; /* ops that are not told apart: there are too many */
};

/* {0} to begin with; of kernels that were found for the same chip, by kernel. About `most` of them
 * at most: then only of the longest ops. */
void ut_tt_shares_find(struct ut_tt_shares *s, const struct ut_tt_kernels *k,
		       const struct ut_tt_analysis *a, uint32_t chip, size_t most);
void ut_tt_shares_release(struct ut_tt_shares *s);

/* As a report; as CSV it is device_kernels.csv. -EINVAL: there is no column to order by. */
int ut_tt_kernels_print(const struct ut_tt_kernels *k, const struct ut_tt_log *log,
			struct ut_out *out, const struct ut_report_opts *opts,
			struct ut_err *err) UT_MUST_CHECK;

#endif
