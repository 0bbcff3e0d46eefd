/*
 * logs.h - device logs as texts, for the tests of this room.
 */
#ifndef UT_TESTS_TTDEV_LOGS_H
#define UT_TESTS_TTDEV_LOGS_H

#include "base/err.h"
#include "tt/devlog.h"

#define OLD_HEAD                                                                                   \
	"ARCH: grayskull, CHIP_FREQ[MHz]: 1000\n"                                                  \
	"PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset]\n"
#define ZONE_HEAD                                                                                  \
	"ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 64\n"                         \
	"PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], "     \
	"data, run host ID, trace id, trace id counter, zone name, type, source line, "            \
	"source file, meta data\n"

/* Reads text, step bytes at a time; the caller releases log, also on failure. */
int ut_test_read(struct ut_tt_log *log, const char *text, size_t step, struct ut_err *err);

#endif
