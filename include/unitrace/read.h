/*
 * read.h - traces as data: libunitrace-read.so opens whatever unitrace opens, answers questions
 * about it, and hands the answers over as streams of Arrow's C interface (arrow.h).
 *
 *	struct unitrace_trace *trace;
 *	struct unitrace_error error;
 *	struct ArrowArrayStream rows;
 *	const char *paths[] = { "run.json" };
 *
 *	if (unitrace_open(&trace, paths, 1, NULL, &error))
 *		errx(1, "%s", error.text);
 *	if (unitrace_query(trace, "select name, sum(dur) from slice group by 1", &rows, &error))
 *		errx(1, "%s", error.text);
 *	... rows.get_next(&rows, &batch) ...
 *	rows.release(&rows);
 *	unitrace_close(trace);
 *
 * Functions return 0 or a negative errno, and then the error has the sentence that the command line
 * would print. Any thread may call any function; questions in SQL about one trace wait for each
 * other. A stream keeps what it needs of its trace: both may be let go of in any order. Nothing is
 * printed, nothing is changed. Structs begin with their size, so that newer ones may be longer.
 */
#ifndef UNITRACE_READ_H
#define UNITRACE_READ_H

#include <stddef.h>
#include <stdint.h>

#include "unitrace/arrow.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of this header; unitrace_read_version() tells that of the library, which only grows. */
#define UNITRACE_READ_VERSION 1u

struct unitrace_trace;

struct unitrace_error {
	int32_t code; /* a negative errno; 0 = no error */
	char text[1024];
};

struct unitrace_open_options {
	uint32_t size;    /* of this struct */
	uint32_t threads; /* that read and count; 0 = one per core */
	/* Told, one line at a time, what is odd about a file that was read all the same; may be
	 * NULL. Called by unitrace_open() only. */
	void (*warn)(void *ctx, const char *text);
	void *ctx;
};

uint32_t unitrace_read_version(void);

/* Files, folders and patterns, as on the command line. options may be NULL. */
int unitrace_open(struct unitrace_trace **trace, const char *const *paths, size_t count,
		  const struct unitrace_open_options *options, struct unitrace_error *error);
/* NULL is allowed. */
void unitrace_close(struct unitrace_trace *trace);

/* The files that were found, in order: number i, NULL behind the last one. */
const char *unitrace_path(const struct unitrace_trace *trace, size_t i);

/*
 * The result of the last statement that has one. Columns get the type that fits all of their
 * values.
 */
int unitrace_query(struct unitrace_trace *trace, const char *sql, struct ArrowArrayStream *out,
		   struct unitrace_error *error);

/* Ends the query that runs on a trace: it fails with -EINTR. For other threads and signals. */
void unitrace_interrupt(struct unitrace_trace *trace);

/*
 * A table that a command prints, with the columns of its CSV. options are "key=value", closed by
 * NULL, or NULL; values are written as on the command line.
 *
 *	table       what                                   options
 *	stats       how often and how long                 by=name,category,thread,process,rank
 *	counters    what counters did                      by
 *	instants    how often instants came                by
 *	device      how devices were used
 *	kernels     kernels by their time
 *	calls       calls of runtimes and work of devices
 *	ops         a row per op, host and device together (takes no sort)
 *
 * stats, counters and instants also take name, not_name, regex, cat, thread, pid, rank, from, to,
 * min_dur, max_dur: which events count. All take sort and limit.
 */
int unitrace_table(struct unitrace_trace *trace, const char *table, const char *const *options,
		   struct ArrowArrayStream *out, struct unitrace_error *error);

/* What has changed from one to the other: the table of unitrace diff. Options: by and which events
 * count, as above; min_count. */
int unitrace_diff(struct unitrace_trace *before, struct unitrace_trace *after,
		  const char *const *options, struct ArrowArrayStream *out,
		  struct unitrace_error *error);

/*
 * Every slice, some thousand at a time, straight from the columns: id, ts, dur, name, cat,
 * track_id, thread_name, tid, process_name, pid, rank, trace, as the table slice of SQL has them.
 * Texts are dictionaries. Options are those which events count.
 */
int unitrace_slices(struct unitrace_trace *trace, const char *const *options,
		    struct ArrowArrayStream *out, struct unitrace_error *error);

/*
 * The viewer with these traces in one HTML file, which needs no network. Options: max_slices,
 * title, and from, to: the window of the timeline that it shows first.
 */
int unitrace_page(struct unitrace_trace *trace, const char *path, const char *const *options,
		  struct unitrace_error *error);

#ifdef __cplusplus
}
#endif

#endif
