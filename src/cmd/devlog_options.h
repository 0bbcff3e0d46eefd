/*
 * devlog_options.h - what `unitrace devlog` was asked for; shared by its files.
 */
#ifndef UT_CMD_DEVLOG_OPTIONS_H
#define UT_CMD_DEVLOG_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/opt.h"
#include "cmd/table_options.h"
#include "tt/log_trace.h"

struct ut_arena;

#define UT_DEVLOG_INPUT  "logs/profile_log_device.csv"
#define UT_DEVLOG_TODAY  ".logs/profile_log_device.csv"
#define UT_DEVLOG_OUTPUT "output/device"
#define UT_DEVLOG_PORT   8050

struct ut_devlog_opts {
	const char *input, *output, *setup;
	const char *arch, *compare;
	enum ut_tt_align alignment;
	struct ut_opt_list traces;
	struct ut_table_opts table; /* of --kernels and --compare */
	uint64_t port, mhz, page_bars;
	bool no_print_stats, no_webapp, no_plots, no_artifacts, no_analysis, no_ops, any_arch;
	bool analysis;
	bool kernels, serve, help;
};

/* The table, bound to o. */
const struct ut_opt *ut_devlog_table(struct ut_arena *a, struct ut_devlog_opts *o);

#endif
