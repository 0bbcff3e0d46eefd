/*
 * stats_device.h - `unitrace stats --device`: how the devices of saved traces were used.
 */
#ifndef UT_CMD_STATS_DEVICE_H
#define UT_CMD_STATS_DEVICE_H

#include "base/err.h"
#include "text/table_report.h"

struct ut_words;

struct ut_stats_device {
	struct ut_report_opts report; /* its order is checked: ut_device_check_sort() */
	unsigned int threads;
};

/* Reads the traces that the words name and prints. */
int ut_stats_device(const struct ut_stats_device *o, const struct ut_words *words,
		    struct ut_err *err) UT_MUST_CHECK;

#endif
