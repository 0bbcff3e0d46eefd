/*
 * record_table.c - the options of `unitrace record` as tables, a heading at a time.
 */
#include "cmd/record_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/size.h"
#include "base/str.h"
#include "wire/control.h"

#define MAX_ROWS       128
#define MOST_HZ        50000
#define LEAST_INTERVAL UINT64_C(1024)
#define MOST_INTERVAL  (UINT64_C(1) << 40)
#define COUNT(a)       (sizeof(a) / sizeof((a)[0]))

/* Tables are put together in one array; record_options.c finds the parts by their headings. */
struct rows {
	struct ut_arena *arena;
	struct ut_opt *items;
	size_t count;
};

static void record_table_add(struct rows *r, const struct ut_opt *table, size_t count)
{
	if (r->count + count > MAX_ROWS)
		abort();
	memcpy(r->items + r->count, table, count * sizeof(*table));
	r->count += count;
}

static int record_table_add_group(struct ut_record_opts *o, const char *word, size_t len)
{
	static const struct {
		const char *name;
		uint32_t bit;
	} groups[] = {
		{ "sync", UT_GROUP_SYNC },
		{ "heap", UT_GROUP_HEAP },
		{ "stitch", UT_GROUP_STITCH },
	};

	for (size_t i = 0; i < COUNT(groups); i++) {
		if (strlen(groups[i].name) == len && !strncmp(groups[i].name, word, len)) {
			o->plan.groups |= groups[i].bit;
			return 0;
		}
	}
	return -EINVAL;
}

static int set_groups(void *ctx, const char *value, struct ut_err *err)
{
	const char *p = value;

	do {
		size_t len = strcspn(p, ",");

		if (record_table_add_group(ctx, p, len))
			return ut_err_set(err, -EINVAL,
					  "'%.*s' is not a group; known are: sync, heap, stitch",
					  (int)len, p);
		p += len;
	} while (*p++);
	return 0;
}

static int set_format(void *ctx, const char *value, struct ut_err *err)
{
	struct ut_record_opts *o = ctx;

	return ut_output_add_formats(&o->plan.out, value, err);
}

static int set_keep_last(void *ctx, const char *value, struct ut_err *err)
{
	struct ut_record_opts *o = ctx;
	int rc = ut_size_or_time_parse(value, &o->plan.keep_bytes, &o->plan.keep_ns, err);

	if (!rc && !o->plan.keep_bytes && !o->plan.keep_ns)
		return ut_err_set(err, -EINVAL, "nothing would be kept");
	return rc;
}

static int set_max_size(void *ctx, const char *value, struct ut_err *err)
{
	struct ut_record_opts *o = ctx;

	return ut_size_parse(value, &o->plan.max_bytes, err);
}

static int set_disk_reserve(void *ctx, const char *value, struct ut_err *err)
{
	struct ut_record_opts *o = ctx;

	return ut_disk_reserve_parse(value, &o->plan.reserve, err);
}

static int set_wait_children(void *ctx, const char *value, struct ut_err *err)
{
	struct ut_record_opts *o = ctx;

	o->plan.wait_for_all = true;
	if (!strcmp(value, "forever")) {
		o->plan.wait_children = UINT64_MAX;
		return 0;
	}
	return ut_time_parse(value, &o->plan.wait_children, err);
}

static int set_after(const char *value, uint64_t *to, struct ut_err *err)
{
	int rc = ut_time_parse(value, to, err);

	return !rc && !*to ? ut_err_set(err, -EINVAL, "0 is no time to wait") : rc;
}

static int set_resume_after(void *ctx, const char *value, struct ut_err *err)
{
	struct ut_record_opts *o = ctx;

	return set_after(value, &o->plan.resume_after, err);
}

static int set_stop_after(void *ctx, const char *value, struct ut_err *err)
{
	struct ut_record_opts *o = ctx;

	return set_after(value, &o->plan.stop_after, err);
}

static int set_event_buffer(void *ctx, const char *value, struct ut_err *err)
{
	struct ut_record_opts *o = ctx;
	char *end;
	long long n;

	errno = 0;
	n = strtoll(value, &end, 10);
	if (end == value || *end || errno || n < -1)
		return ut_err_set(err, -EINVAL,
				  "'%s' is not a number of events (-1 = no limit, 0 or more)",
				  value);
	o->event_buffer = n;
	return 0;
}

static void add_what(struct rows *r, struct ut_record_opts *o)
{
	const struct ut_opt table[] = {
		ut_opt_heading("What to record"),
		ut_opt_flag(0, "chrome-itt-logging", &o->plan.itt,
			    "ITT tasks, events, counters, ... of every domain (the default)"),
		ut_opt_flag(0, "chrome-ccl-logging", &o->plan.ccl,
			    "of libraries, only oneCCL, NCCL and PyTorch"),
		ut_opt_flag(0, "chrome-dnn-logging", &o->plan.dnn,
			    "of libraries, only oneDNN and PyTorch"),
		ut_opt_flag(0, "chrome-mpi-logging", &o->plan.mpi,
			    "MPI calls and messages, with bytes and peers; of libraries, only MPI "
			    "and PyTorch"),
		ut_opt_flag(0, "no-peer-clocks", &o->plan.no_peer_clocks,
			    "do not compare the clocks of a job's hosts over their network while "
			    "it runs"),
		ut_opt_strs(0, "itt-domains", "GLOB[,GLOB]", &o->plan.domains,
			    "only ITT domains that fit a pattern with * and ?"),
		ut_opt_strs(0, "itt-exclude-domains", "GLOB[,GLOB]", &o->plan.exclude_domains,
			    "all ITT domains but these"),
		ut_opt_words(ut_opt_call("itt-groups", "GROUP[,GROUP]", set_groups, o,
					 "also record these groups, which may slow the program: "
					 "sync, heap, stitch"),
			     "sync heap stitch"),
		ut_opt_flag('r', "ccl-summary-report", &o->plan.ccl_report,
			    "a table of oneCCL, NCCL and gloo operations after the run"),
	};

	record_table_add(r, table, COUNT(table));
}

static int set_sampling(void *ctx, const char *value, struct ut_err *err)
{
	struct ut_record_opts *o = ctx;
	char *end;
	unsigned long hz = value ? strtoul(value, &end, 10) : UT_SAMPLING_HZ;

	if (value && (*end || end == value || hz < 1 || hz > MOST_HZ))
		return ut_err_set(err, -EINVAL,
				  "'%s' is not a number of samples per second from 1 to %d", value,
				  MOST_HZ);
	o->plan.sampling.hz = hz;
	return 0;
}

static int set_call_graph(void *ctx, const char *value, struct ut_err *err)
{
	static const struct {
		const char *word;
		enum ut_stacks_by stacks;
	} words[] = { { "auto", UT_STACKS_DWARF },
		      { "dwarf", UT_STACKS_DWARF },
		      { "fp", UT_STACKS_FP },
		      { "lbr", UT_STACKS_LBR },
		      { "none", UT_STACKS_NONE } };
	struct ut_record_opts *o = ctx;

	for (size_t i = 0; i < COUNT(words); i++) {
		if (!strcmp(words[i].word, value)) {
			o->plan.sampling.stacks = words[i].stacks;
			return 0;
		}
	}
	return ut_err_set(err, -EINVAL, "'%s' is none of auto, dwarf, fp, lbr, none", value);
}

static int set_event(void *ctx, const char *value, struct ut_err *err)
{
	static const char *const words[] = { "auto", "cycles", "cpu-clock" };
	struct ut_record_opts *o = ctx;

	for (size_t i = 0; i < COUNT(words); i++) {
		if (!strcmp(words[i], value)) {
			o->plan.sampling.event = (enum ut_perf_event)i;
			return 0;
		}
	}
	return ut_err_set(err, -EINVAL, "'%s' is none of auto, cycles, cpu-clock", value);
}

static int set_by(void *ctx, const char *value, struct ut_err *err)
{
	static const char *const words[] = { "auto", "perf", "timer" };
	struct ut_record_opts *o = ctx;

	for (size_t i = 0; i < COUNT(words); i++) {
		if (!strcmp(words[i], value)) {
			o->plan.sampling.by = (enum ut_sampling_by)i;
			return 0;
		}
	}
	return ut_err_set(err, -EINVAL, "'%s' is none of auto, perf, timer", value);
}

static int set_attach(void *ctx, const char *value, struct ut_err *err)
{
	struct ut_record_opts *o = ctx;
	char *end;
	long pid = strtol(value, &end, 10);

	if (end == value || *end || pid < 1 || pid > INT32_MAX)
		return ut_err_set(err, -EINVAL, "'%s' is not the number of a process", value);
	o->plan.sampling.pid = pid;
	return 0;
}

static int set_all(void *ctx, const char *value, struct ut_err *err)
{
	struct ut_record_opts *o = ctx;

	(void)value;
	(void)err;
	o->plan.sampling.pid = -1;
	return 0;
}

static int set_duration(void *ctx, const char *value, struct ut_err *err)
{
	struct ut_record_opts *o = ctx;

	return ut_time_parse(value, &o->plan.sampling.duration, err);
}

static void add_sampling(struct rows *r, struct ut_record_opts *o)
{
	const struct ut_opt table[] = {
		ut_opt_heading("CPU samples"),
		ut_opt_optional(ut_opt_call("sampling", "HZ", set_sampling, o,
					    "what the program spends its CPU time on: HZ samples "
					    "per second of each thread that runs (1000), with "
					    "stacks; all processes go into one timeline")),
		ut_opt_words(ut_opt_call("call-graph", "auto|dwarf|fp|lbr|none", set_call_graph, o,
					 "how stacks are found: from a copy of the stack and the "
					 "tables of the files, which all programs have (dwarf; "
					 "auto, the default, is that), by frame pointers, which "
					 "need less room, by the last calls that the CPU remembers "
					 "(lbr), or not at all"),
			     "auto dwarf fp lbr none"),
		ut_opt_words(
			ut_opt_call("sampling-event", "auto|cycles|cpu-clock", set_event, o,
				    "what makes the kernel sample: cycles, counted by the CPU, "
				    "or its own clock; auto takes cycles where there are some"),
			"auto cycles cpu-clock"),
		ut_opt_flag(0, "sampling-waits", &o->plan.sampling.waits,
			    "with --sampling: where threads wait, too, and what for: locks, I/O, "
			    "sleep (the kernel has to let us look: root, CAP_PERFMON)"),
		ut_opt_words(ut_opt_call("sampling-by", "auto|perf|timer", set_by, o,
					 "who takes samples: the kernel (perf), the program itself "
					 "(timer), or the program only if the kernel refuses "
					 "(auto, the default)"),
			     "auto perf timer"),
		ut_opt_letter('p', ut_opt_call("attach", "PID", set_attach, o,
					       "no program, but a process that is running: samples "
					       "of it until Ctrl-C; it does not notice")),
		ut_opt_letter('a', ut_opt_call("all-processes", NULL, set_all, o,
					       "samples of everything that runs on this machine")),
		ut_opt_call("duration", "TIME", set_duration, o,
			    "with --attach and --all-processes: end after this time (10s, 500ms)"),
	};

	record_table_add(r, table, COUNT(table));
}

/* "each", or bytes for each that is looked at. */
static int set_memory(void *ctx, const char *value, struct ut_err *err)
{
	struct ut_record_opts *o = ctx;
	struct ut_memory_opts *m = &o->plan.memory;
	int rc = 0;

	m->on = true;
	m->interval = 0;
	if (value && !strcmp(value, "each"))
		m->interval = 1;
	else if (value)
		rc = ut_size_parse(value, &m->interval, err);
	if (!rc && value && m->interval != 1 &&
	    (m->interval < LEAST_INTERVAL || m->interval > MOST_INTERVAL))
		return ut_err_set(err, -EINVAL, "'%s' is neither 'each' nor a size from 1K to 1T",
				  value);
	return rc;
}

static void add_memory(struct rows *r, struct ut_record_opts *o)
{
	const struct ut_opt table[] = {
		ut_opt_heading("Memory"),
		ut_opt_words(ut_opt_optional(ut_opt_call(
				     "memory", "BYTES|each", set_memory, o,
				     "what the program allocates, where, and what it never frees: "
				     "by samples, as many as it can spare, or one for BYTES on "
				     "average; or each allocation, which is exact and costs more. "
				     "'unitrace memory' reports it")),
			     "each"),
	};

	record_table_add(r, table, COUNT(table));
}

static void add_output(struct rows *r, struct ut_record_opts *o)
{
	const struct ut_opt table[] = {
		ut_opt_heading("Results"),
		ut_opt_words(ut_opt_str('o', "output", "FILE", &o->plan.out.output,
					"the timeline if FILE ends like one (.json, .pftrace, "
					"...), else the text reports, with the process id put "
					"before the suffix; %p %h %r %q{VAR} stand for process "
					"id, host, rank, variable"),
			     "<file>"),
		ut_opt_words(ut_opt_str(0, "output-dir-path", "DIR", &o->plan.out.dir,
					"put the timelines there; made if missing"),
			     "<dir>"),
		ut_opt_words(ut_opt_str(0, "result-dir", "DIR", &o->plan.out.result_dir,
					"put everything there, in a folder per process"),
			     "<dir>"),
		ut_opt_words(ut_opt_letter(
				     'f', ut_opt_call("format", "FORMAT[,FORMAT]", set_format, o,
						      ut_str_fmt(r->arena, "%s; may be repeated",
								 ut_output_format_list(r->arena)))),
			     ut_output_format_words(r->arena)),
		ut_opt_flag(0, "overwrite", &o->plan.out.overwrite,
			    "replace existing results instead of adding -2, -3, ... to the name"),
		ut_opt_flag(0, "no-summary", &o->plan.out.no_summary, "no table after the run"),
		ut_opt_u64(0, "summary-rows", "N", &o->plan.out.summary_rows,
			   "rows of that table, 0 for all (20)"),
		ut_opt_flag(0, "quiet", &o->plan.out.quiet, "say nothing but problems"),
		ut_opt_words(
			ut_opt_str(0, "event-log", "FILE", &o->event_log,
				   "write the events of the recording there, as lines of JSON; "
				   "the terminal shows problems only"),
			"<file>"),
		ut_opt_hidden(ut_opt_str(0, "news", "FILE", &o->event_log, "the same")),
		ut_opt_flag('v', "verbose", &o->verbose,
			    "say more about the run; kernels by size in device tables"),
	};

	record_table_add(r, table, COUNT(table));
}

static void add_view(struct rows *r, struct ut_record_opts *o)
{
	const struct ut_opt table[] = {
		ut_opt_heading("Looking at it"),
		ut_opt_flag(0, "view", &o->view.on,
			    "show the recording in a browser, from the beginning on and as it "
			    "grows; ends with Ctrl-C after the program"),
		ut_opt_flag(0, "once", &o->view.opts.once,
			    "with --view: end when the last page is closed"),
		ut_opt_range(ut_opt_u64(0, "port", "N", &o->view.opts.port,
					"with --view: listen on this port (one that is free)"),
			     0, 65535),
		ut_opt_flag(0, "no-browser", &o->view.opts.no_browser,
			    "with --view: only print the address, do not open a browser"),
	};

	record_table_add(r, table, COUNT(table));
}

static void add_control(struct rows *r, struct ut_record_opts *o)
{
	const struct ut_opt table[] = {
		ut_opt_heading("When to record"),
		ut_opt_flag(0, "start-paused", &o->plan.start_paused,
			    "wait for __itt_resume() or PTI_ENABLE_COLLECTION=1"),
		ut_opt_flag(0, "conditional-collection", &o->plan.start_paused,
			    "the old name of --start-paused"),
		ut_opt_flag(
			0, "one-switch", &o->plan.one_switch,
			"pausing and resuming, by whichever process or from outside, counts for "
			"all of them; what unitrace serve uses"),
		ut_opt_call("resume-after", "TIME", set_resume_after, o,
			    "begin paused, and resume after this time (10s, 500ms)"),
		ut_opt_call("stop-after", "TIME", set_stop_after, o,
			    "end the recording after this time; the program goes on"),
		ut_opt_str(0, "session", "NAME", &o->plan.name,
			   "give the run a name for the three options below"),
		ut_opt_str(0, "pause", "NAME", &o->pause, "pause the running session NAME"),
		ut_opt_str(0, "resume", "NAME", &o->resume, "let it go on"),
		ut_opt_str(0, "stop", "NAME", &o->stop, "end its recording; the programs go on"),
		ut_opt_call("keep-last", "SIZE|TIME", set_keep_last, o,
			    "flight recorder: keep the last 64M, or the last 10s, per process"),
		ut_opt_call("max-size", "SIZE", set_max_size, o,
			    "stop recording a process that has filled this much disk"),
		ut_opt_call("disk-reserve", "SIZE|PERCENT|0", set_disk_reserve, o,
			    "stop recording, and writing results, before less than this is free "
			    "on the disk (5%, at least 2GiB); 0: fill it"),
	};

	record_table_add(r, table, COUNT(table));
}

static void add_processes(struct rows *r, struct ut_record_opts *o)
{
	const struct ut_opt table[] = {
		ut_opt_heading("Processes and storage"),
		ut_opt_words(ut_opt_range(ut_opt_u64(0, "follow-child-process", "0|1",
						     &o->plan.follow_children,
						     "record the program's children, too (1)"),
					  0, 1),
			     "0 1"),
		ut_opt_call("wait-children", "SECONDS|forever", set_wait_children, o,
			    "how long to wait for children that outlive the program (1)"),
		ut_opt_range(ut_opt_u64(0, "teardown-on-signal", "N", &o->teardown_signal,
					"accepted; not needed: nothing recorded is lost, whatever "
					"signal ends the program"),
			     1, 64),
		ut_opt_call("chrome-event-buffer-size", "N", set_event_buffer, o,
			    "accepted; not needed: every event is in the file at once"),
		ut_opt_words(ut_opt_str(0, "spool-dir", "DIR", &o->plan.spool_dir,
					"where to keep the recording until it is exported"),
			     "<dir>"),
		ut_opt_flag(0, "keep-session", &o->plan.keep_session,
			    "keep it afterwards, for 'unitrace export'"),
	};

	record_table_add(r, table, COUNT(table));
}

static void add_device_logging(struct rows *r, struct ut_record_opts *o)
{
	struct ut_device_opts *d = &o->plan.device;
	const struct ut_opt table[] = {
		ut_opt_heading("Devices (CUDA, OpenCL, Level Zero)"),
		ut_opt_flag(0, "chrome-kernel-logging", &d->chrome_kernel,
			    "device work, the calls that submit it and arrows between them"),
		ut_opt_flag(0, "chrome-device-logging", &d->chrome_device, "device work only"),
		ut_opt_flag(0, "chrome-call-logging", &d->chrome_call, "every call of the runtime"),
		ut_opt_flag(0, "chrome-sycl-logging", &d->chrome_sycl,
			    "SYCL: command groups, what depends on what, waits and memory"),
		ut_opt_words(ut_opt_str(0, "chrome-kmd-logging", "SCRIPT", &d->kmd_script,
					"what the system's drivers do, by a script for bpftrace"),
			     "<file>"),
		ut_opt_flag('c', "call-logging", &d->call_logging,
			    "a line for each call as it begins and ends, with its arguments"),
		ut_opt_flag('h', "host-timing", &d->host_timing,
			    "a table of the time spent in runtime calls"),
		ut_opt_flag('d', "device-timing", &d->device_timing,
			    "tables of the time spent on the device, and of its kernels"),
		ut_opt_flag('s', "kernel-submission", &d->kernel_submission,
			    "a table of how long work was queued, submitted and run"),
		ut_opt_flag('t', "device-timeline", &d->device_timeline,
			    "a line for each kernel and command"),
		ut_opt_flag(0, "opencl", &d->opencl,
			    "the same as --chrome-kernel-logging; OpenCL is always included"),
		ut_opt_words(ut_opt_str(0, "opencl-via", "auto|layer|icd", &d->opencl_via,
					"how to get between the program and OpenCL (auto)"),
			     "auto layer icd"),
		ut_opt_flag(0, "chrome-no-thread-on-device", &d->no_thread,
			    "accepted; not needed: rows are never split by host thread"),
		ut_opt_flag(0, "chrome-no-engine-on-device", &d->no_engine,
			    "one row per device instead of one per queue or stream"),
		ut_opt_flag(0, "demangle", &d->demangle,
			    "accepted; not needed: names of kernels are always demangled"),
		ut_opt_flag(0, "separate-tiles", &d->separate_tiles,
			    "a row per tile, on devices that have tiles"),
		ut_opt_str(0, "include-kernels", "LIST", &d->include,
			   "only kernels whose names hold one of these, separated by commas"),
		ut_opt_str(0, "exclude-kernels", "LIST", &d->exclude, "all kernels but these"),
		ut_opt_words(ut_opt_str(0, "include-kernels-file", "FILE", &d->include_file,
					"the same from a file, also separated by lines"),
			     "<file>"),
		ut_opt_words(ut_opt_str(0, "exclude-kernels-file", "FILE", &d->exclude_file,
					"the same from a file, also separated by lines"),
			     "<file>"),
		ut_opt_strs(0, "ranks-to-sample", "N[,N]", &d->ranks,
			    "record devices in these ranks only"),
		ut_opt_strs(0, "devices-to-sample", "N[,N]", &d->devices,
			    "record these devices only, as the program counts them, from 0"),
		ut_opt_flag(0, "cuda-unified-memory", &d->cuda_pages,
			    "also pages of managed memory that move or are missed (CUDA)"),
		ut_opt_strs(0, "backend-option", "NAME.KEY=VALUE", &d->backend_options,
			    "something for one backend, for example cuda.cupti=PATH"),
	};

	record_table_add(r, table, COUNT(table));
}

static void add_metrics(struct rows *r, struct ut_record_opts *o)
{
	struct ut_device_opts *d = &o->plan.device;
	const struct ut_opt table[] = {
		ut_opt_heading("Hardware metrics (CUDA, Level Zero)"),
		ut_opt_flag('q', "metric-query", &d->metric_query,
			    "metrics of each kernel; each runs several times, and alone"),
		ut_opt_flag('k', "metric-sampling", &d->metric_sampling,
			    "metrics of the device over time"),
		ut_opt_flag(0, "stall-sampling", &d->stall_sampling,
			    "instructions of kernels that wait, and what for"),
		ut_opt_str('g', "group", "NAME", &d->group,
			   "what to measure: a group of --metric-list (ComputeBasic)"),
		ut_opt_words(ut_opt_str(0, "metric-file", "FILE", &d->metric_file,
					"groups of your own, besides those of --metric-list"),
			     "<file>"),
		ut_opt_range(ut_opt_u64('i', "sampling-interval", "US", &d->interval_us,
					"microseconds between two samples (50)"),
			     1, 1000000000),
		ut_opt_str(0, "metric-instances", "LIST", &d->instances,
			   "with -q: only these runs of each kernel, for example 1-3,7"),
		ut_opt_words(ut_opt_str(0, "cache-control", "none|all", &d->cache_control,
					"with -q: empty the caches before each run of a kernel, as "
					"Nsight Compute does (none)"),
			     "none all"),
		ut_opt_words(ut_opt_str(0, "clock-control", "none|base", &d->clock_control,
					"with -q: keep the device at its base clock, as Nsight "
					"Compute does (none)"),
			     "none base"),
		ut_opt_flag(0, "idle-sampling", &d->idle_sampling,
			    "with -k: in the metrics file also samples outside kernels"),
	};

	record_table_add(r, table, COUNT(table));
}

static void add_unsupported(struct rows *r, struct ut_record_opts *o)
{
	struct ut_device_opts *d = &o->plan.device;
	const struct ut_opt table[] = {
		ut_opt_heading(UT_RECORD_UNSUPPORTED_HEADING),
		ut_opt_flag(0, "system-time", &d->system_time, "times since boot in the timeline"),
		ut_opt_words(ut_opt_str(0, "reset-event-on-device", "0|1", &d->reset_event,
					"reset events on the device"),
			     "0 1"),
	};

	record_table_add(r, table, COUNT(table));
}

static void add_about(struct rows *r, struct ut_record_opts *o)
{
	const struct ut_opt table[] = {
		ut_opt_heading("About"),
		ut_opt_flag(0, "tid", &o->plan.tid, "thread ids in --call-logging lines"),
		ut_opt_flag(0, "pid", &o->plan.pid, "process ids in --call-logging lines"),
		ut_opt_flag(0, "device-list", &o->device_list, "list the devices"),
		ut_opt_flag(0, "metric-list", &o->metric_list, "list the metric groups"),
		ut_opt_flag(0, "version", &o->version,
			    "print the version and what this build can do"),
		ut_opt_flag(0, "help", &o->help, "show this help (-h is --host-timing)"),
		ut_opt_hidden(ut_opt_str(0, "debug", "ROOM[,ROOM]", &o->debug,
					 "show debug lines of these parts")),
		ut_opt_end(),
	};

	record_table_add(r, table, COUNT(table));
}

const struct ut_opt *ut_record_table(struct ut_arena *a, struct ut_record_opts *o)
{
	struct rows r = { .arena = a, .items = UT_NEW_N(a, struct ut_opt, MAX_ROWS) };

	add_what(&r, o);
	add_sampling(&r, o);
	add_memory(&r, o);
	add_output(&r, o);
	add_view(&r, o);
	add_control(&r, o);
	add_processes(&r, o);
	r.count += ut_python_rows(&o->plan.python, r.items + r.count, MAX_ROWS - r.count);
	add_device_logging(&r, o);
	add_metrics(&r, o);
	add_unsupported(&r, o);
	add_about(&r, o);
	return r.items;
}
