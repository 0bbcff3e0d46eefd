/*
 * summary.h - the table of tasks: how often, how long, how much of it themselves.
 *
 * A sink: feed it the events of one or more traces, then finish and read the rows. Total, self time
 * and share are those of stats.h. Spans of one (category, name) are one row, whichever trace they
 * came from; an async span counts once both its ends were seen. O(depth) memory besides the rows
 * and what is open; not thread-safe.
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
	uint64_t unfinished;            /* of the calls, those that never ended */
	uint64_t total, self, min, max; /* ns */
	uint64_t lengths;               /* of all calls, added up: more than total if they nest */
	bool work;  /* of some thread or queue; otherwise there is no self time and no share */
	bool hosts; /* some of it is not a device's */
	bool own;   /* some of it is no function of Python's libraries */
};

struct ut_summary {
	struct ut_sink sink; /* first: what importers feed */
	struct ut_arena arena;
	struct ut_strtab strings;
	struct ut_summary_row *rows;
	size_t count;
	size_t hidden;       /* rows behind the last one: see ut_summary_hide_devices() */
	uint64_t self_total; /* sum of all self times: 100 % of the share column */
	struct ut_summary_state *state;
};

void ut_summary_init(struct ut_summary *s);
void ut_summary_release(struct ut_summary *s);

/* After the last event of each trace: forgets the trace's tracks. */
void ut_summary_end_trace(struct ut_summary *s);

/*
 * Sorts the rows: total descending, then calls, then name; the functions of Python's libraries
 * behind all others. Nothing is fed afterwards.
 */
void ut_summary_finish(struct ut_summary *s);

/* After that: what only devices did goes behind the rows, for tables with one of devices below. */
void ut_summary_hide_devices(struct ut_summary *s);

static inline uint64_t ut_summary_average(const struct ut_summary_row *row)
{
	return row->lengths / row->calls;
}

/* In percent of all work. */
static inline double ut_summary_share(const struct ut_summary *s, uint64_t self)
{
	return s->self_total ? 100.0 * (double)self / (double)s->self_total : 0.0;
}

#endif
