/*
 * devlog_options.h - what `unitrace devlog` was asked for; shared by its files.
 */
#ifndef UT_TT_DEVLOG_OPTIONS_H
#define UT_TT_DEVLOG_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/opt.h"
#include "text/table_report.h"
#include "tt/log_trace.h"

struct ut_logger;

#define UT_DEVLOG_INPUT  "logs/profile_log_device.csv"
#define UT_DEVLOG_TRACY  ".logs/profile_log_device.csv"
#define UT_DEVLOG_OUTPUT "output/device"
#define UT_DEVLOG_PORT   8050

struct ut_devlog_opts {
	const struct ut_logger *logger; /* hears what is doubtful, and what is left out */
	const char *input, *output, *setup;
	const char *arch, *compare;
	enum ut_tt_align alignment;
	struct ut_opt_list traces;
	struct ut_report_opts report; /* how tables are printed: --kernels and --compare */
	uint64_t port, mhz, page_bars;
	bool no_print_stats, no_webapp, no_plots, no_artifacts, no_analysis, no_ops, any_arch;
	bool analysis;
	bool kernels, serve, help;
};

#endif
