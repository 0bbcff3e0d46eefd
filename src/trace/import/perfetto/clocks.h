/*
 * clocks.h - times of any clock onto the clock of the trace.
 *
 * A snapshot holds one moment on several clocks. The trace's own clock is the one that the first
 * snapshot calls primary (BOOTTIME if it names none). A time is mapped by the latest snapshot at or
 * before it, as Perfetto does; a clock that no snapshot explains is taken as it is, and counted.
 * Clocks 64 to 127 are known on one sequence only.
 */
#ifndef UT_IMPORT_PERFETTO_CLOCKS_H
#define UT_IMPORT_PERFETTO_CLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/idmap.h"
#include "import/perfetto/protobuf.h"

struct ut_trace;

struct ut_pf_pair {
	uint64_t clock, trace; /* ns of the same moment */
};

struct ut_pf_clock {
	uint64_t unit_ns;
	uint64_t last; /* incremental: the latest reading, in its unit */
	bool incremental;
	struct ut_pf_pair *pairs; /* sorted by clock */
	size_t count, cap;
};

struct ut_pf_clocks {
	struct ut_pf_clock *items;
	size_t count, cap;
	struct ut_idmap by_key; /* id, and the sequence of local ones -> index + 1 */
	uint32_t trace_clock;   /* id; 0 = not known yet */
	bool plain;             /* that clock counts ns from one beginning */
	uint64_t unmapped;      /* times of a clock that nobody explains */
	uint32_t unmapped_id;   /* the first such clock */
};

/* Also fills the trace's offsets to real time and boot time, once. */
void ut_pf_clock_snapshot(struct ut_pf_clocks *c, uint32_t seq_id, struct ut_pb snapshot,
			  struct ut_trace *trace);

/* A packet's time in ns on the trace's clock. clock_id 0: the trace's own. */
uint64_t ut_pf_clock_ns(struct ut_pf_clocks *c, uint32_t seq_id, uint32_t clock_id, uint64_t ts);

void ut_pf_clocks_release(struct ut_pf_clocks *c);

#endif
