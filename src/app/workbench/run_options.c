/* run_options.c - the options of `unitrace record` that the page offers, a row each. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "workbench/analyses.h"

#define CPU    "Samples are taken by the kernel of each thread that runs: "
#define GROUPS "ComputeBasic ComputeExtended Memory Tensor Roofline Warps Occupancy"

const struct ut_run_option ut_run_options[] = {
	{ .key = "domains",
	  .title = "Only these ITT domains",
	  .help = "Tasks, frames, counters and marks that the program and its libraries make "
		  "through ITT "
		  "are always recorded. A pattern with * and ? keeps only the domains that fit; "
		  "several "
		  "are separated by commas.",
	  .cost = "ITT costs about 25 ns a task, 4 ns while paused",
	  .kind = UT_OPTION_TEXT,
	  .words = "--itt-domains %",
	  .level = 1 },
	{ .key = "exclude-domains",
	  .title = "All ITT domains but these",
	  .help = "Leaves out what is too much: a library that marks each of a million small "
		  "calls.",
	  .kind = UT_OPTION_TEXT,
	  .words = "--itt-exclude-domains %",
	  .level = 1 },
	{ .key = "groups",
	  .title = "Also locks or memory that ITT tells of",
	  .help = "Some libraries tell through ITT when they wait for locks (sync) or allocate "
		  "(heap). "
		  "There may be very many of these.",
	  .cost = "as much as there is to tell",
	  .kind = UT_OPTION_CHOICE,
	  .words = "--itt-groups %",
	  .choices = "sync heap sync,heap",
	  .level = 3 },
	{ .key = "sampling",
	  .title = "CPU samples",
	  .help = CPU
	  "what the program spends its CPU time on, with stacks down to Python lines. Needs "
	  "kernel.perf_event_paranoid of 2 or less; without, the program samples itself.",
	  .cost = "1,000 a second of each busy thread cost about 2 %",
	  .kind = UT_OPTION_NUMBER,
	  .words = "--sampling=%",
	  .unit = "per second",
	  .low = 1,
	  .high = 50000,
	  .level = 2,
	  .attach = true },
	{ .key = "call-graph",
	  .title = "Stacks",
	  .help = "dwarf copies a piece of the stack and works for all programs; fp follows frame "
		  "pointers, "
		  "which need less room and which many programs do not have; none takes the "
		  "function alone.",
	  .kind = UT_OPTION_CHOICE,
	  .words = "--call-graph %",
	  .choices = "dwarf fp none",
	  .with = "sampling",
	  .level = 1,
	  .attach = true },
	{ .key = "kernels",
	  .title = "Device work and the calls that submit it",
	  .help = "Kernels, copies and fills of CUDA and OpenCL devices, the calls that sent them "
		  "there and "
		  "the arrows between: why a device was idle, and which line launched what.",
	  .cost = "about 1 to 3 % of a loop that launches small kernels without a pause",
	  .kind = UT_OPTION_FLAG,
	  .words = "--chrome-kernel-logging",
	  .level = 1 },
	{ .key = "calls",
	  .title = "Every call of the runtime",
	  .help = "Also calls that submit nothing: allocations, queries, synchronisation.",
	  .cost = "about a microsecond a call",
	  .kind = UT_OPTION_FLAG,
	  .words = "--chrome-call-logging",
	  .level = 2 },
	{ .key = "devices",
	  .title = "Devices",
	  .help = "Numbers as the program counts them, from 0, separated by commas; empty for all. "
		  "What "
		  "CUDA_VISIBLE_DEVICES hides is not there, and the first that it shows is 0.",
	  .kind = UT_OPTION_TEXT,
	  .words = "--devices-to-sample %",
	  .level = 1 },
	{ .key = "include-kernels",
	  .title = "Kernels of interest",
	  .help = "Only kernels whose names hold one of these texts, separated by commas. With "
		  "metrics of "
		  "each kernel, all others run as fast as ever.",
	  .kind = UT_OPTION_TEXT,
	  .words = "--include-kernels %",
	  .level = 1 },
	{ .key = "exclude-kernels",
	  .title = "All kernels but these",
	  .help = "Texts separated by commas; a kernel whose name holds one of them is left out.",
	  .kind = UT_OPTION_TEXT,
	  .words = "--exclude-kernels %",
	  .level = 1 },
	{ .key = "metric-query",
	  .title = "Hardware metrics of each kernel",
	  .help = "Each kernel runs several times, alone, until all counters of the group have "
		  "been read: "
		  "exact figures for bandwidth, caches, pipes and occupancy. Results are those of "
		  "one run, "
		  "times between kernels are not.",
	  .cost = "kernels of interest run once per pass, 2 to 8 times, and wait for each other",
	  .kind = UT_OPTION_FLAG,
	  .words = "-q",
	  .level = 5 },
	{ .key = "metric-sampling",
	  .title = "Hardware metrics along the timeline",
	  .help = "The counters of the device, read all the time and not per kernel: what it was "
		  "doing when. "
		  "Kernels run as they would.",
	  .cost = "about 2 % every 100 us",
	  .kind = UT_OPTION_FLAG,
	  .words = "-k",
	  .level = 2 },
	{ .key = "group",
	  .title = "Metric group",
	  .help = "What to measure. ComputeBasic is the overview; Memory has caches and HBM for "
		  "the memory "
		  "hierarchy, Tensor the matrix pipes, Roofline what a roofline needs, Warps and "
		  "Occupancy why "
		  "too little runs.",
	  .kind = UT_OPTION_CHOICE,
	  .words = "-g %",
	  .choices = GROUPS,
	  .level = 1 },
	{ .key = "interval",
	  .title = "Sampling interval",
	  .help = "Between two readings of the device's counters, or of its instructions.",
	  .kind = UT_OPTION_NUMBER,
	  .words = "-i %",
	  .unit = "us",
	  .low = 1,
	  .high = 1000000000,
	  .level = 1 },
	{ .key = "instances",
	  .title = "Instances of each kernel",
	  .help = "Which runs of a kernel are measured: 1-3 are the first three. Later ones run as "
		  "fast as "
		  "ever, so a few instances make a long program bearable.",
	  .kind = UT_OPTION_TEXT,
	  .words = "--metric-instances %",
	  .with = "metric-query",
	  .level = 1 },
	{ .key = "stalls",
	  .title = "Stalls per instruction",
	  .help = "Samples of where each warp stands and what it waits for: down to lines and "
		  "SASS.",
	  .cost = "about 4 %",
	  .kind = UT_OPTION_FLAG,
	  .words = "--stall-sampling",
	  .level = 3 },
	{ .key = "memory",
	  .title = "Allocations",
	  .help = "What the program allocates, where, and what it never frees, by samples: C, C++, "
		  "Python, "
		  "NumPy, PyTorch.",
	  .cost = "about 5 % at a million allocations a second",
	  .kind = UT_OPTION_FLAG,
	  .words = "--memory",
	  .level = 2 },
	{ .key = "memory-each",
	  .title = "Each allocation",
	  .help = "Exact figures instead of samples.",
	  .cost = "about 40 % at a million allocations a second",
	  .kind = UT_OPTION_FLAG,
	  .words = "--memory=each",
	  .with = "memory",
	  .level = 4 },
	{ .key = "unified-memory",
	  .title = "Pages of managed memory",
	  .help = "Pages that move between host and device, or are missed there (CUDA).",
	  .cost = "as much as there are faults",
	  .kind = UT_OPTION_FLAG,
	  .words = "--cuda-unified-memory",
	  .level = 2 },
	{ .key = "python",
	  .title = "Python functions",
	  .help = "Every function of Python programs as a span, joined with what it called: ops, "
		  "kernels, "
		  "MPI. CPU samples show Python functions, too, for less.",
	  .cost = "40 to 120 ns a call: programs of tiny functions take up to twice as long",
	  .kind = UT_OPTION_FLAG,
	  .words = "--python",
	  .level = 3 },
	{ .key = "python-c-calls",
	  .title = "Also functions written in C",
	  .help = "len(), numpy and all others that Python calls and that are not Python.",
	  .cost = "as much again",
	  .kind = UT_OPTION_FLAG,
	  .words = "--python-c-calls",
	  .with = "python",
	  .level = 4 },
	{ .key = "python-modules",
	  .title = "Only these Python modules",
	  .help = "Names separated by commas, with what is below them.",
	  .kind = UT_OPTION_TEXT,
	  .words = "--python-modules %",
	  .with = "python",
	  .level = 1 },
	{ .key = "python-min-duration",
	  .title = "No calls that are shorter",
	  .help = "10us, 1ms: short calls that hold nothing long are left out.",
	  .kind = UT_OPTION_TEXT,
	  .words = "--python-min-duration %",
	  .with = "python",
	  .level = 1 },
	{ .key = "mpi",
	  .title = "MPI calls and messages",
	  .help = "What each rank sends where, how long it waits, and for whom. Works with Open "
		  "MPI, MPICH and "
		  "what is built on them.",
	  .cost = "60 to 90 ns a call",
	  .kind = UT_OPTION_FLAG,
	  .words = "--chrome-mpi-logging --chrome-itt-logging",
	  .level = 1 },
	{ .key = "ccl",
	  .title = "Collective operations",
	  .help = "What oneCCL, NCCL and gloo do. Of ITT only what oneCCL and PyTorch tell.",
	  .kind = UT_OPTION_FLAG,
	  .words = "--chrome-ccl-logging",
	  .level = 1 },
	{ .key = "device-tables",
	  .title = "Tables of device and host time",
	  .help = "Printed after the run, as the classic unitrace does.",
	  .kind = UT_OPTION_FLAG,
	  .words = "-d -h",
	  .level = 1 },
};

const size_t ut_run_option_count = sizeof(ut_run_options) / sizeof(ut_run_options[0]);

const struct ut_run_option *ut_run_option_find(const char *key)
{
	for (size_t i = 0; i < ut_run_option_count; i++) {
		if (!strcmp(ut_run_options[i].key, key))
			return &ut_run_options[i];
	}
	return NULL;
}

static bool is_choice(const char *choices, const char *value)
{
	size_t len = strlen(value);

	for (const char *p = choices; *p; p += strcspn(p, " "), p += *p == ' ') {
		if (strcspn(p, " ") == len && !strncmp(p, value, len))
			return true;
	}
	return false;
}

int ut_run_option_check(const struct ut_run_option *o, const char *value, struct ut_err *err)
{
	char *end;
	double number;

	if (!value[0])
		return 0;
	switch (o->kind) {
	case UT_OPTION_FLAG:
		return strcmp(value, "1") ? ut_err_set(err, -EINVAL, "%s: is on or off", o->title)
					  : 0;
	case UT_OPTION_CHOICE:
		if (is_choice(o->choices, value))
			return 0;
		return ut_err_set(err, -EINVAL, "%s: '%s' is none of %s", o->title, value,
				  o->choices);
	case UT_OPTION_NUMBER:
		number = strtod(value, &end);
		if (!*end && strspn(value, "0123456789") == strlen(value) && number >= o->low &&
		    number <= o->high)
			return 0;
		return ut_err_set(err, -EINVAL, "%s: '%s' is no whole number from %.0f to %.0f",
				  o->title, value, o->low, o->high);
	case UT_OPTION_TEXT:
		break;
	}
	if (strlen(value) > 4000 || strpbrk(value, "\n\r"))
		return ut_err_set(err, -EINVAL, "%s: is too long, or has a line break", o->title);
	return 0;
}
