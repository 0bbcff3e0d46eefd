/*
 * stats_device.h - `unitrace stats --device`: how the devices of saved traces were used.
 */
#ifndef UT_CMD_STATS_DEVICE_H
#define UT_CMD_STATS_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct ut_words;

struct ut_stats_device {
	bool json, csv; /* neither: for people */
	uint64_t rows;  /* of the table of kernels; 0 = all */
	unsigned int threads;
};

/* Reads the traces that the words name and prints. */
int ut_stats_device(const struct ut_stats_device *o, const struct ut_words *words,
		    struct ut_err *err) UT_MUST_CHECK;

#endif
