/*
 * session_plan.h - what a session shall do: which program, what to record of it, what to make of
 * the recording. Put together by a client, which has checked it, and read by everybody else.
 *
 * Owner: the client; ut_session_plan_release() frees the lists. Texts are not owned.
 */
#ifndef UT_SESSION_SESSION_PLAN_H
#define UT_SESSION_SESSION_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/disk_space.h"
#include "base/err.h"
#include "base/opt.h"
#include "launch/cpu/perf.h"
#include "session/output_names.h"
#include "session/python_package.h"

struct ut_control;
struct ut_device_report;
struct ut_session_client;

/* What devices do: seen by backends, see unitrace/backend.h. */
struct ut_device_opts {
	bool call_logging, host_timing, device_timing, kernel_submission, device_timeline;
	bool opencl, chrome_call, chrome_kernel, chrome_device, chrome_sycl;
	bool no_thread, no_engine, demangle, separate_tiles, cuda_pages;
	bool metric_query, metric_sampling, stall_sampling, idle_sampling;
	bool system_time;
	const char *group, *metric_file;
	uint64_t interval_us;      /* 0 = what is usual */
	const char *instances;     /* of each kernel, "1-3,7"; NULL = all */
	const char *cache_control; /* none or all; NULL = none */
	const char *clock_control; /* none or base; NULL = none */
	struct ut_opt_list ranks, devices;
	struct ut_opt_list backend_options; /* "cuda.cupti=PATH" */
	const char *kmd_script;
	const char *include, *include_file, *exclude, *exclude_file;
	const char *reset_event;
	const char *opencl_via; /* auto, layer or icd */
};

enum ut_sampling_by {
	UT_SAMPLING_AUTO,  /* by the kernel, if it lets us */
	UT_SAMPLING_PERF,  /* or not at all */
	UT_SAMPLING_TIMER, /* by the program itself */
};

/* CPU time of the program and its children, by samples: launch/cpu/sampler.h. */
struct ut_sampling_opts {
	uint64_t hz; /* 0 = none */
	enum ut_sampling_by by;
	enum ut_perf_event event;
	enum ut_stacks_by stacks;
	bool waits;           /* where threads wait, too */
	uint64_t stack_bytes; /* of UT_STACKS_DWARF */
	int64_t pid;          /* a process that is running already; -1: all of them; 0: none */
	uint64_t duration;    /* ns of those; 0 = until the user has had enough */
};

/* Memory that the program allocates: src/record/backend/memory. */
struct ut_memory_opts {
	bool on;
	uint64_t interval; /* bytes for each that is looked at; 0 = what is usual, 1 = each block */
};

struct ut_session_plan {
	/* the program */
	int argc, own_count;
	const char *const *argv; /* closed by NULL */
	const char *const *own;  /* how it was asked for, for run_config.json */
	const char *library;     /* the collector; NULL = the one that belongs to this program */

	/* what to record */
	bool itt, ccl, dnn, mpi;                     /* --chrome-*-logging of these */
	struct ut_opt_list domains, exclude_domains; /* comma lists of patterns */
	uint32_t groups;                             /* enum ut_control_group */
	struct ut_device_opts device;
	struct ut_python_opts python;
	struct ut_sampling_opts sampling;
	struct ut_memory_opts memory;
	bool start_paused;
	bool one_switch;     /* of all processes of the run: theirs, and that of those outside */
	bool wait_for_all;   /* it was asked for: also for those that have recorded nothing */
	bool no_peer_clocks; /* hosts of a job do not compare their clocks while it runs */
	const char *name;    /* by which others pause and resume it; NULL = none */
	uint64_t follow_children;
	uint64_t resume_after, stop_after; /* ns from the start on; 0 = never */
	uint64_t keep_bytes, keep_ns, max_bytes;
	struct ut_disk_reserve reserve;
	uint64_t wait_children; /* ns; UINT64_MAX = for ever */

	/* what to make of it */
	struct ut_output_opts out;
	const char *spool_dir; /* where the recording lies meanwhile; NULL = beside the results */
	bool keep_session, ccl_report;
	bool tid, pid; /* in the lines of calls */
	bool shapes;   /* kernels of different sizes are different rows */
};

/* Control files have a bit for each device, from 0 on; the last one is for all with higher numbers.
 */
#define UT_MOST_DEVICES 64

/* What is usual. */
void ut_session_plan_init(struct ut_session_plan *p);
void ut_session_plan_release(struct ut_session_plan *p);

/* enum ut_want: what backends shall record; 0 = no device is asked for. */
uint32_t ut_session_plan_want(const struct ut_session_plan *p);

/* Is this rank among those whose devices are recorded? Without a list every one is. */
bool ut_session_plan_wants_rank(const struct ut_session_plan *p, int rank);

/* Can what it asks of hardware metrics be done? -EINVAL, or -ENOENT for a group. */
int ut_session_plan_check_metrics(const struct ut_session_plan *p,
				  struct ut_err *err) UT_MUST_CHECK;

/* Tells backends through their options what to measure. */
int ut_session_plan_apply_metrics(const struct ut_session_plan *p, struct ut_control *control,
				  const struct ut_session_client *client,
				  struct ut_err *err) UT_MUST_CHECK;

/* Which tables of devices to print. */
void ut_session_plan_reports(const struct ut_session_plan *p, struct ut_device_report *report);

/* Writes the settings into a fresh control file. -EINVAL if a list of names is too long. */
int ut_session_plan_apply(const struct ut_session_plan *p, struct ut_control *control,
			  const struct ut_session_client *client, struct ut_err *err) UT_MUST_CHECK;

/* The part of it that is about devices. */
int ut_session_plan_apply_device(const struct ut_session_plan *p, struct ut_control *control,
				 const struct ut_session_client *client,
				 struct ut_err *err) UT_MUST_CHECK;

#endif
