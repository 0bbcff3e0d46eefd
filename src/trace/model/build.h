/*
 * build.h - from events in any order to a store.
 *
 * An importer fills build->store.trace (strings, processes, tracks) and adds rows; finish() sorts
 * each track, joins begins with their ends and hands the store over. Importers that read one file
 * in several threads use one build per part and ut_build_join() them in the order of the file.
 * One owner, one thread per build.
 */
#ifndef UT_MODEL_BUILD_H
#define UT_MODEL_BUILD_H

#include <stdint.h>

#include "model/sink.h"
#include "model/store.h"

/*
 * Kinds that exist only while building. On a track, in order of time and then of arrival, an end
 * closes the innermost open begin that may have its name (nesting.h): the two become a span with
 * the begin's name and the arguments of both. Begins inside it that are still open end there, too,
 * UT_EV_IMPLICIT_END. An end that fits none is counted as stray and dropped; a begin without an
 * end becomes a span up to the last end of anything on its track, UT_EV_UNFINISHED. Rows that are
 * gone have been moved elsewhere.
 */
enum ut_raw_kind {
	UT_RAW_BEGIN = UT_KIND_COUNT,
	UT_RAW_END,
	UT_RAW_GONE,
};

/* A block while its track is being filled; the columns of cap rows lie in one piece of memory. */
struct ut_build_block {
	uint64_t *ts, *val;
	uint32_t *type, *args;
	uint32_t count, cap;
};

/* Only the first block of a track may have a cap below UT_BLOCK_ROWS, and only while alone. */
struct ut_build_rows {
	struct ut_build_block *blocks;
	size_t block_count, block_cap;
	uint64_t count;
	uint64_t last_ts, last_val;
	bool last_is_span;
	bool out_of_time;  /* a ts is smaller than the one before */
	bool out_of_order; /* rows of the same ts are not in the store's order */
	bool raw;          /* there are begins and ends to be joined */
};

/* A foreign trace whose events come through the sink, and where its things are in ours. */
struct ut_adopted {
	const struct ut_trace *trace;
	uint32_t *strings, *processes, *tracks; /* index + 1; 0 = not yet met */
	uint32_t *stacks;                       /* by number: ours; 0 = not yet met */
	size_t string_cap, process_cap, track_cap, stack_cap;
};

struct ut_build {
	struct ut_sink sink; /* first: a build is a sink for events of any trace */
	struct ut_store store;
	struct ut_build_rows *rows; /* per track */
	size_t row_cap;
	struct ut_type last_type; /* of the sink: the next event is often of the same type */
	uint32_t last_number;
	struct ut_adopted adopted;
	uint32_t *spans; /* 3 * type of a begin + how it ended -> type of its span + 1 */
	size_t span_cap;
	struct ut_arg *scratch;
	size_t scratch_cap;
	bool ends_first;  /* of begins and ends at one time */
	bool begins_only; /* spans of one time were added in the order of their begins */
};

void ut_build_init(struct ut_build *b);

/* One row. track must exist in b->store.trace; type comes from ut_types_intern(&b->store.types),
 * args from ut_arglists_add(&b->store.args). */
void ut_build_add(struct ut_build *b, uint32_t track, uint64_t ts, uint64_t val, uint32_t type,
		  uint32_t args);

/*
 * Appends everything of from, whose processes and tracks are matched by what identifies them
 * (process: pid and pid_text; track: type, id, id_text, and name and unit of those that are no
 * threads) when same is true, and are new ones otherwise. from is empty and released afterwards.
 */
void ut_build_join(struct ut_build *b, struct ut_build *from, bool same);

/*
 * Events of a trace that is not b->store.trace may come through the sink; then this must be called
 * before events of another one: takes over what is known of its processes and tracks by now, its
 * losses, clock and arguments.
 */
void ut_build_end_trace(struct ut_build *b, const struct ut_trace *trace);

/* Sorts and joins; *store is the caller's from now on, b is empty and released. */
void ut_build_finish(struct ut_build *b, struct ut_store *store);

/* Throws everything away. */
void ut_build_abandon(struct ut_build *b);

/* The memory of a block, for cap rows; ut_build_block_free() takes it back. */
void ut_build_block_make(struct ut_build_block *block, uint32_t cap);
void ut_build_block_free(struct ut_build_block *block);

/* Brings the rows of a track into the store's order and joins begins and ends: build_sort.c. */
void ut_build_sort_track(struct ut_build *b, uint32_t track);

#endif
