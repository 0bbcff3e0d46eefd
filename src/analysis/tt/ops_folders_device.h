/*
 * ops_folders_device.h - how long one op took on the device, from a log of its own (timer numbers).
 */
#ifndef UT_TT_OPS_FOLDERS_DEVICE_H
#define UT_TT_OPS_FOLDERS_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum ut_ops_time {
	UT_OPS_FW,
	UT_OPS_KERNEL,
	UT_OPS_BRISC,
	UT_OPS_NCRISC,
	UT_OPS_TRISC0,
	UT_OPS_TRISC1,
	UT_OPS_TRISC2,
	UT_OPS_TIMES
};

struct ut_ops_device {
	uint64_t cores;
	uint64_t start, end;      /* first and last marker of any kind, cycles */
	bool found[UT_OPS_TIMES]; /* a RISC that the op does not use has no time */
	uint64_t ns[UT_OPS_TIMES];
};

/* Only the first chip of the log counts. */
int ut_ops_device_read(struct ut_ops_device *d, const char *path, struct ut_err *err) UT_MUST_CHECK;

/* Cycles as ns, rounded as Python rounds: half to even. */
uint64_t ut_ops_ns(uint64_t cycles, uint64_t mhz);

#endif
