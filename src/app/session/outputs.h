/*
 * outputs.h - from spools to timelines, a table and what was lost. Shared by record and export.
 *
 * init, export (once or more), finish, release. One owner, one thread.
 */
#ifndef UT_SESSION_OUTPUTS_H
#define UT_SESSION_OUTPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/summary.h"
#include "base/arena.h"
#include "base/err.h"
#include "base/opt.h"
#include "base/str.h"
#include "model/trace.h"
#include "session/device_report.h"
#include "session/kernel_report.h"
#include "session/output_names.h"
#include "session/session_event.h"

struct ut_inputs;
struct ut_out;
struct ut_spool_info;
struct ut_store;

/* One file while it is being written. */
struct ut_target {
	const struct ut_exporter *format;
	const char *path;
	struct ut_out *out;
	struct ut_sink *sink;
};

/* What one process has to report, until it is written to a file of its own. */
struct ut_process_report {
	struct ut_output_who who;
	struct ut_buf text, ccl;
};

#define UT_MOST_UNWANTED 8u

struct ut_outputs {
	const struct ut_output_opts *opts;
	struct ut_session_client client;
	bool ccl_report;
	bool marks; /* spools that are stored; the caller removes them, unless it is killed first */
	struct ut_arena arena;
	struct ut_output_names names;
	struct ut_target targets[UT_MAX_FORMATS];
	struct ut_summary summary; /* over all processes, or of one if each has a report */
	struct ut_losses losses;   /* over all processes */
	struct ut_buf ccl;         /* the -r tables so far */
	struct ut_device_report devices;
	struct ut_kernel_report kernels; /* empty as long as nothing was measured */
	uint64_t events;                 /* over all processes */
	uint64_t kmd_sent;               /* events of the system: kmd.h */
	struct ut_opt_list written;      /* a timeline of each process that commands can read */
	/* domains that a filter kept out, the first few, fit for a line of text */
	const char *unwanted[UT_MOST_UNWANTED];
	size_t unwanted_count;
	struct ut_process_report *reports;
	size_t report_count, report_cap;
	struct ut_opt_list stored;   /* timelines that are told of behind the reports */
	struct ut_opt_list measured; /* pairs of a sentence and a file of metrics, behind these */
};

/* client: who hears what was written and lost; NULL = nobody. It is copied. */
void ut_outputs_init(struct ut_outputs *o, const struct ut_output_opts *opts, bool ccl_report,
		     const struct ut_session_client *client);
void ut_outputs_release(struct ut_outputs *o);

/*
 * Reads the spools, writes their timelines and tells which, unless quiet. A spool that
 * cannot be read or written does not stop the others; the first such failure is returned.
 */
int ut_outputs_export(struct ut_outputs *o, const struct ut_spool_info *list, size_t count,
		      struct ut_err *err) UT_MUST_CHECK;

/* The same for traces of any format: each into a file of its own, unless -o names one for all. */
int ut_outputs_convert(struct ut_outputs *o, const struct ut_inputs *in,
		       struct ut_err *err) UT_MUST_CHECK;

/* The summary, -r and device tables, as events or to files; then one event per kind of loss.
 */
int ut_outputs_finish(struct ut_outputs *o, const struct ut_output_who *root,
		      struct ut_err *err) UT_MUST_CHECK;

/* For writers of further files: opened as --overwrite says; told when all is done. */
struct ut_out *ut_outputs_open(struct ut_outputs *o, const char *path);
void ut_outputs_measured(struct ut_outputs *o, const char *path, const char *said);

/* UT_SESSION_EVENT_RESULTS: the last thing before release. */
void ut_outputs_report_results(const struct ut_outputs *o, int32_t rank);

#endif
