/*
 * metrics_csv_write.h - writes files of hardware metrics (docs/formats/metrics.md) while a
 * recording is read: a sink that takes kernels as they come, and behind them what was measured. A
 * device's section is written as its values arrive; what is held is the kernels, and the samples of
 * those that run at the moment. Stalls are counted and written at the end, by
 * metrics_stall_write.h.
 *
 * init, events of one trace, end, release. One owner, one thread.
 */
#ifndef UT_METRICS_METRICS_CSV_WRITE_H
#define UT_METRICS_METRICS_CSV_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/idmap.h"
#include "base/str.h"
#include "model/sink.h"

struct ut_out;
struct ut_stall_table;

enum ut_metrics_written {
	UT_METRICS_WROTE_NONE,
	UT_METRICS_WROTE_QUERY,
	UT_METRICS_WROTE_SAMPLES,
	UT_METRICS_WROTE_STALLS,
};

struct ut_metrics_write_opts {
	bool idle; /* samples outside kernels, too */
	/* Where the section of a device goes, asked once for each; NULL = nowhere. */
	struct ut_out *(*open)(void *ctx, int32_t device, enum ut_metrics_written kind);
	void *ctx;
};

/* A kernel that ran, for the rows that are about it. */
struct ut_metrics_write_kernel {
	uint64_t start, end;
	uint64_t correlation;
	uint32_t process;
	uint32_t name; /* index into names, shape and all */
	uint32_t instance;
};

/* Samples of a kernel that is not over. */
struct ut_metrics_running {
	size_t kernel; /* SIZE_MAX = free */
	struct ut_buf rows;
};

struct ut_metrics_write {
	struct ut_sink sink; /* first */
	struct ut_metrics_write_opts opts;
	struct ut_arena arena;
	const char **names;
	size_t name_count, name_cap;
	struct ut_idmap name_of;                 /* hash of a name -> index + 1 */
	struct ut_metrics_write_kernel *kernels; /* by process and start once values come */
	size_t kernel_count, kernel_cap;
	bool sorted;
	struct ut_idmap kernel_of; /* correlation -> index + 1 */
	struct ut_stall_table *stalls;

	/* the section that is being written */
	struct ut_out *out;
	uint32_t process, set;
	bool begun;
	size_t next;    /* the first kernel that has not started */
	size_t idle_of; /* the kernel that idle samples were written before; SIZE_MAX = none */
	struct ut_metrics_running *running;
	size_t running_count, running_cap;
};

void ut_metrics_write_init(struct ut_metrics_write *w, const struct ut_metrics_write_opts *opts);
void ut_metrics_write_release(struct ut_metrics_write *w);

/* The trace is over: what is left is written, stalls among it. */
void ut_metrics_write_end(struct ut_metrics_write *w, const struct ut_trace *trace);

/* For those who write sections: the file of a device, with the banner of a new section in it. */
struct ut_out *ut_metrics_write_section(struct ut_metrics_write *w, const struct ut_trace *trace,
					uint32_t process, enum ut_metrics_written kind);

#endif
