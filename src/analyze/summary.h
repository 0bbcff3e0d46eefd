/*
 * summary.h - the table of tasks: how often, how long, how much of it themselves.
 *
 * A sink: feed it the events of one or more traces, then finish and read the rows. Self time is
 * what a thread spent in a span and not in the spans directly inside it; frames and async spans
 * are nobody's time and have none. Spans of one (category, name) are one row, whichever trace
 * they came from; an async span counts once both its ends were seen. O(depth) memory besides the
 * rows and what is open; not thread-safe.
 */
#ifndef UT_ANALYZE_SUMMARY_H
#define UT_ANALYZE_SUMMARY_H

#include "base/arena.h"
#include "model/sink.h"
#include "model/strtab.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ut_summary_row {
	uint32_t cat, name; /* ids in the summary's own strings */
	uint64_t calls;
	uint64_t total, self, min, max; /* ns */
	bool on_thread; /* some of it was a thread's time; otherwise there is no self time */
};

struct ut_summary {
	struct ut_sink sink; /* first: what importers feed */
	struct ut_arena arena;
	struct ut_strtab strings;
	struct ut_summary_row *rows;
	size_t count;
	uint64_t self_total; /* sum of all self times: 100 % of the share column */
	struct ut_summary_state *state;
};

void ut_summary_init(struct ut_summary *s);
void ut_summary_release(struct ut_summary *s);

/* After the last event of each trace: closes what is open, forgets the trace's tracks. */
void ut_summary_end_trace(struct ut_summary *s);

/* Sorts the rows: total descending, then calls, then name. Nothing is fed afterwards. */
void ut_summary_finish(struct ut_summary *s);

#endif
