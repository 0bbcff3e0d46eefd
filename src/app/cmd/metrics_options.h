/*
 * metrics_options.h - what `unitrace metrics` was asked: options of the command line and of option
 * files, and the plan of charts that they make.
 */
#ifndef UT_CMD_METRICS_OPTIONS_H
#define UT_CMD_METRICS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/opt.h"
#include "metrics/metrics_chart.h"
#include "metrics/metrics_data.h"

struct ut_arena;

/* As they were written; NULL = not given. */
struct ut_metrics_given {
	const char *device, *kernel, *instance, *output, *title, *x_label;
	const char *shaders, *report, *top, *demangler, *cert, *key;
	struct ut_opt_list metrics, throughputs, labels, files;
	const char *annotate;
	bool list, http, https, json, csv, csv_safe, help;
	bool is_folder; /* said, and seen anyway */
	uint64_t port;
};

struct ut_metrics_opts {
	struct ut_metrics_given given;
	const char *input;
	struct ut_metrics_want want;
	struct ut_metrics_plan plan;
	uint64_t top;
	bool source, assembly; /* listings of these instead of the report of stalls */
};

const struct ut_opt *ut_metrics_options(struct ut_arena *a, struct ut_metrics_given *given);

/*
 * Reads the option files, whose options count less than those of the command line, and makes the
 * rest of it; everything lives in the arena but for the lists. -EINVAL: misuse, others: a file
 * cannot be read.
 */
int ut_metrics_options_finalize(struct ut_metrics_opts *o, struct ut_arena *a,
				struct ut_err *err) UT_MUST_CHECK;
void ut_metrics_given_release(struct ut_metrics_given *given);

#endif
