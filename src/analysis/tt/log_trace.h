/*
 * log_trace.h - a device log as a trace of ours: a process per chip, a track per RISC of a core,
 * zones as spans, in nanoseconds.
 */
#ifndef UT_TT_LOG_TRACE_H
#define UT_TT_LOG_TRACE_H

#include <stdint.h>

#include "tt/devlog.h"
#include "tt/durations.h"

struct ut_sink;
struct ut_trace;

/* How the clocks of several chips are brought together. */
enum ut_tt_align {
	UT_TT_ALIGN_AUTO,  /* by ops if there are common ones, else by their first rows */
	UT_TT_ALIGN_NONE,  /* each counts from its own reset */
	UT_TT_ALIGN_START, /* the first rows are at the same time */
	UT_TT_ALIGN_OPS,   /* the same op starts everywhere at the same time, in the median */
};

/* What was done. Cycles are added to the times of a chip. */
struct ut_tt_alignment {
	int64_t *shift;        /* per chip; the first one's is 0 */
	enum ut_tt_align used; /* never AUTO */
	uint64_t ops;          /* the fewest common ops of a chip with the first one */
	uint64_t spread;       /* half of the ops agree to this many cycles, at worst */
};

void ut_tt_align(const struct ut_tt_analysis *a, enum ut_tt_align how, struct ut_tt_alignment *to);
/* When a chip's first marker was: T0 of an old log may be that of another chip. */
uint64_t ut_tt_first_own_time(const struct ut_tt_log *log, size_t chip);

void ut_tt_alignment_release(struct ut_tt_alignment *to);

/*
 * Fills trace, which is empty, and sends the events of a chip (its index) or of all to the sink.
 * Markers of the user in a log of timer numbers are instants, and what lies between them is spans
 * of their own; what a device noted is instants; ops are overlapping spans of their chip.
 */
void ut_tt_send(const struct ut_tt_analysis *a, const struct ut_tt_alignment *align, uint32_t chip,
		struct ut_trace *trace, struct ut_sink *sink);

/* A time of a chip, shifted, as the trace has it. */
uint64_t ut_tt_ns(const struct ut_tt_log *log, int64_t shift, uint64_t ts);

/* Ids of tracks: that of the ops of a chip; the lanes follow in the order of the log. */
#define UT_TT_OPS_TRACK 1

#endif
