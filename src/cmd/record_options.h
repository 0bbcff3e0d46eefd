/*
 * record_options.h - every option of `unitrace record`, checked and ready to use.
 *
 * They are those of Intel's unitrace, so that command lines and scripts written for it keep
 * working, and a few of our own. Owner: the command; ut_record_opts_release() frees the lists.
 */
#ifndef UT_CMD_RECORD_OPTIONS_H
#define UT_CMD_RECORD_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/opt.h"
#include "session/output_names.h"
#include "session/python_package.h"

struct ut_arena;
struct ut_control;
struct ut_device_report;

/* What devices do: seen by backends, see unitrace/backend.h. */
struct ut_device_opts {
	bool call_logging, host_timing, device_timing, kernel_submission, device_timeline;
	bool opencl, chrome_call, chrome_kernel, chrome_device, chrome_sycl;
	bool no_thread, no_engine, demangle, separate_tiles, cuda_pages;
	bool metric_query, metric_sampling, stall_sampling, idle_sampling;
	bool system_time;
	const char *group;
	uint64_t interval_us;
	struct ut_opt_list ranks, devices;
	struct ut_opt_list backend_options; /* "cuda.cupti=PATH" */
	const char *kmd_script;
	const char *include, *include_file, *exclude, *exclude_file;
	const char *reset_event;
	const char *opencl_via; /* auto, layer or icd */
};

struct ut_record_opts {
	bool itt, ccl, dnn, mpi;                     /* --chrome-*-logging of these */
	struct ut_opt_list domains, exclude_domains; /* comma lists of patterns */
	uint32_t groups;                             /* enum ut_control_group */
	struct ut_device_opts device;
	struct ut_python_opts python;
	struct ut_output_opts out;
	const char *spool_dir;
	bool keep_session, ccl_report;
	bool start_paused;
	const char *session, *pause, *resume, *stop;
	uint64_t follow_children;
	uint64_t keep_bytes, keep_ns, max_bytes;
	uint64_t wait_children; /* ns; UINT64_MAX = for ever */
	bool wait_for_all;      /* it was asked for: also for those that have recorded nothing */
	uint64_t teardown_signal;
	int64_t event_buffer; /* -1 = no limit */
	bool tid, pid, verbose;
	bool device_list, metric_list, version, help;
	const char *debug;
};

void ut_record_opts_init(struct ut_record_opts *o);
void ut_record_opts_release(struct ut_record_opts *o);

/* The table for o; lives in the arena. */
const struct ut_opt *ut_record_table(struct ut_arena *a, struct ut_record_opts *o);

/* What no single option can see: exclusions, files that must be there, formats. */
int ut_record_check(struct ut_record_opts *o, struct ut_err *err) UT_MUST_CHECK;

#define UT_MOST_DEVICES 64 /* --devices-to-sample counts them from 0 */

#define UT_RECORD_UNSUPPORTED_HEADING "Accepted, without effect in this version"

/* Those in use of the rows below that heading, as "--stall-sampling, --group"; "" = none. */
const char *ut_record_unsupported(struct ut_arena *a, const struct ut_opt *table);

/* enum ut_want: what backends shall record; 0 = the options ask for no device. */
uint32_t ut_record_want(const struct ut_record_opts *o);

/* Is this rank among those of --ranks-to-sample? Without that option every one is. */
bool ut_record_rank_is_wanted(const struct ut_record_opts *o, int rank);

/* The part of ut_record_apply() that is about devices. */
int ut_record_apply_device(const struct ut_record_opts *o, struct ut_control *control,
			   struct ut_err *err) UT_MUST_CHECK;

/* Which tables of devices to print. */
void ut_record_reports(const struct ut_record_opts *o, struct ut_device_report *report);

/* Writes the settings into a fresh control file. -EINVAL if a list of names is too long. */
int ut_record_apply(const struct ut_record_opts *o, struct ut_control *control,
		    struct ut_err *err) UT_MUST_CHECK;

#endif
