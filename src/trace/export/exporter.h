/*
 * exporter.h - one file format for traces.
 *
 * A file is written by open(), then for each trace its events through the sink followed by
 * end_trace(), then close(). Errors stick to the ut_out and show when that is closed.
 */
#ifndef UT_EXPORT_EXPORTER_H
#define UT_EXPORT_EXPORTER_H

#include <stddef.h>

#include "model/sink.h"

struct ut_out;
struct ut_store;
struct ut_trace;

struct ut_exporter {
	const char *name;                            /* the value of --format */
	const char *suffix;                          /* with the dot */
	struct ut_sink *(*open)(struct ut_out *out); /* out outlives the sink; never NULL */
	/* Everything that is known only now: names of processes and tracks, losses. The next
	 * event may belong to another trace. */
	void (*end_trace)(struct ut_sink *sink, const struct ut_trace *trace);
	void (*close)(struct ut_sink *sink);
	/* For formats that are made from columns, which behind a sink would be in memory twice: a
	 * whole file at once. NULL for others. May make what the store lacks (its pyramid). */
	void (*write)(struct ut_store *store, struct ut_out *out);
};

extern const struct ut_exporter ut_export_chrome;
extern const struct ut_exporter ut_export_perfetto;
extern const struct ut_exporter ut_export_csv;
extern const struct ut_exporter ut_export_arrow;
extern const struct ut_exporter ut_export_parquet;
extern const struct ut_exporter ut_export_utr;
extern const struct ut_exporter ut_export_html;   /* one_page.h */
extern const struct ut_exporter ut_export_sqlite; /* if built with SQLite */

/* Samples only; a trace that has others, and none of them, is refused. */
#define UT_EXPORT_NO_SAMPLES "there are no samples to write; record with --sampling"
extern const struct ut_exporter ut_export_folded;
extern const struct ut_exporter ut_export_pprof;
extern const struct ut_exporter ut_export_speedscope;
extern const struct ut_exporter ut_export_firefox;

/* All of them, closed by NULL, in the order in which help lists them. */
extern const struct ut_exporter *const ut_exporters[];

/* By name ("chrome"); NULL if there is none. */
const struct ut_exporter *ut_exporter_by_name(const char *name);

/* By the end of a file name (".json", ".json.gz", ".pftrace", ...); NULL if none fits. */
const struct ut_exporter *ut_exporter_by_file(const char *path);

#endif
