/*
 * ops_options.h - what `unitrace ops` was asked for; shared by its files and by profile-this.
 */
#ifndef UT_TT_OPS_OPTIONS_H
#define UT_TT_OPS_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/opt.h"

#define UT_OPS_INPUT  "logs/ops"
#define UT_OPS_OUTPUT "output/ops"
#define UT_OPS_PORT   8050

struct ut_logger;

enum ut_ops_format {
	UT_OPS_AUTO,  /* by what lies in the folder */
	UT_OPS_SEED,  /* a folder per op, columns of 2023 */
	UT_OPS_TRACY, /* exports of Tracy and a device report, columns of 2026 */
	UT_OPS_TRACE, /* traces of ours or of torch.profiler */
};

struct ut_ops_opts {
	const struct ut_logger *logger; /* hears what is left out, and what is odd */
	const char *input, *output, *append;
	const char *const *traces; /* all of them, if input is the first of several */
	int trace_count;
	enum ut_ops_format format;
	struct ut_opt_list analyses; /* of the device's markers */
	uint64_t port;
	bool date, webapp, no_tarball, nested, help;
	bool device_only, legacy, noc_traces; /* 2026 */
};

#endif
