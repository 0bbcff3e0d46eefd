/*
 * metrics_files.h - the files of hardware metrics that a recording leaves: which recordings have
 * some, what the files are called, the code of the kernels beside them.
 *
 * open, the events of the recording into the sink, close. One owner, one thread.
 */
#ifndef UT_SESSION_METRICS_FILES_H
#define UT_SESSION_METRICS_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/opt.h"
#include "metrics/metrics_csv_write.h"
#include "session/output_names.h"

struct ut_err;
struct ut_out;
struct ut_outputs;
struct ut_spool_info;
struct ut_trace;

/* A file while it is being written. */
struct ut_metrics_file_out {
	const char *path;
	struct ut_out *out;
	int32_t device; /* -1 = it takes all */
	enum ut_metrics_written kind;
};

struct ut_metrics_files {
	struct ut_outputs *outputs;
	const struct ut_spool_info *info;
	struct ut_output_who who;
	struct ut_metrics_write write;
	struct ut_metrics_file_out *files;
	size_t count, cap;
	bool both;          /* values and stalls: files of their own */
	struct ut_err *err; /* of the first failure */
	int rc;
};

/* False: the recording has no metrics, and nothing was opened. */
bool ut_metrics_files_open(struct ut_metrics_files *m, struct ut_outputs *o,
			   const struct ut_spool_info *info, struct ut_err *err);

/* Everything has been sent: writes what is left. What was written is told by finish. */
int ut_metrics_files_close(struct ut_metrics_files *m, const struct ut_trace *trace) UT_MUST_CHECK;

/* The line about a file of this kind. */
const char *ut_metrics_files_said(enum ut_metrics_written kind);

#endif
