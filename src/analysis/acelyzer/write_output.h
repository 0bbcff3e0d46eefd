/*
 * write_output.h - the files that an analysis leaves behind.
 *
 * All are written under a temporary name and appear when they are complete; what exists is
 * replaced, as users of the reference expect.
 */
#ifndef UT_ACELYZER_WRITE_OUTPUT_H
#define UT_ACELYZER_WRITE_OUTPUT_H

#include "acelyzer/analysis.h"
#include "acelyzer/options.h"
#include "acelyzer/read_input.h"

/* What stands around the events. */
struct ut_ace_frame {
	const char *trace_name;
	const char *time_unit; /* "ns" or "ms" */
	const char *other;     /* otherData, a JSON object */
	const char *line;      /* the command */
	struct ut_ace_meta *meta;
	size_t meta_count, meta_cap;
};

/* Collects the members that the files' frames had beside their events. Later files win. */
void ut_ace_frame_join(struct ut_ace_frame *f, const struct ut_ace_part *parts, size_t count,
		       enum ut_ace_release release);
void ut_ace_frame_release(struct ut_ace_frame *f);

/* Everything into one file. */
int ut_ace_write_trace(const struct ut_ace_analysis *a, const struct ut_ace_frame *f,
		       const char *path, struct ut_err *err) UT_MUST_CHECK;

/*
 * For TensorBoard: BASE.pt.trace.json and, if there is more than one rank, one file per rank.
 * all = false leaves out the first. *ranks is how many ranks there are.
 */
int ut_ace_write_tensorboard(const struct ut_ace_analysis *a, const struct ut_ace_frame *f,
			     const char *path, bool all, size_t *ranks,
			     struct ut_err *err) UT_MUST_CHECK;

/* The events as they are now, between two stages. */
int ut_ace_write_raw(const struct ut_ace_analysis *a, const char *path, const char *trace_name,
		     struct ut_err *err) UT_MUST_CHECK;

/* OUTPUT with ".pt.trace" taken out, "_PURPOSE" put before the last dot and another ending. */
char *ut_ace_side_name(const char *output, const char *purpose, const char *ending);

/* Tables beside OUTPUT. */
int ut_ace_write_stats(struct ut_ace_analysis *a, const char *output,
		       struct ut_err *err) UT_MUST_CHECK;
int ut_ace_write_comm(struct ut_ace_analysis *a, const char *output,
		      struct ut_err *err) UT_MUST_CHECK;

/* How the table of categories is laid out. */
enum ut_ace_layout {
	UT_ACE_LAYOUT_TIME,   /* times; with phases in release 1.2 */
	UT_ACE_LAYOUT_CYCLES, /* cycles, as before release 1.0 */
};

int ut_ace_write_categories(struct ut_ace_analysis *a, const char *output,
			    enum ut_ace_layout layout, struct ut_err *err) UT_MUST_CHECK;

/* -f protobuf: a Perfetto trace. */
int ut_ace_write_perfetto(const struct ut_ace_analysis *a, const char *path,
			  struct ut_err *err) UT_MUST_CHECK;

/* -f pddf: spans as a text table. */
int ut_ace_write_frame(const struct ut_ace_analysis *a, const char *path,
		       struct ut_err *err) UT_MUST_CHECK;

#endif
