/*
 * traces.h - the traces of one query, numbered through, and what is worked out about them.
 *
 * Rows, tracks and processes of all traces get numbers from 0 without gaps, in the order of the
 * traces, of their tracks and of the rows on a track. These are the ids that SQL sees: event ids
 * (the id of slice, instant, counter, ...), track ids, upids. The stores stay with their owner and
 * must live as long; nothing of them is copied. What takes a walk over a track (ends of
 * overlapping spans, nesting) is made when it is first asked for and kept. One thread.
 */
#ifndef UT_QUERY_TRACES_H
#define UT_QUERY_TRACES_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "model/nesting.h"
#include "model/store.h"
#include "query/match.h"
#include "query/nest.h"

struct ut_flows;
struct ut_stats_answer;

/* One trace. */
struct ut_qtrace {
	const char *path;
	struct ut_store *store;
	const struct ut_str *names, *cats; /* of every type, looked up once */
	uint32_t first_track, first_process;
	uint64_t first_id;
	/* What begin and end of async spans say together: arg.h. */
	struct ut_arglists joined;
	bool has_joined; /* they have been made */
};

/* One track of one of them. */
struct ut_qtrack {
	uint32_t trace;   /* index into traces */
	uint32_t local;   /* index into the trace's own tracks */
	uint32_t process; /* index into processes: upid */
	uint64_t first_id;
	const struct ut_rows *rows;
	const struct ut_track *track;
	struct ut_datum tid;
	struct ut_async_end *ends; /* of overlapping spans; NULL until asked for */
	uint32_t *joined;          /* by row, see ut_qtrace.joined; NULL = none */
	struct ut_nest nest;
};

struct ut_qprocess {
	uint32_t trace;
	const struct ut_process *process;
	struct ut_datum pid;
	uint32_t first, count; /* its tracks: by_process[first .. first + count) */
};

enum ut_meta_source {
	UT_META_FILE,      /* a foreign file, about itself */
	UT_META_RECORDING, /* the recording, about the run */
	UT_META_NOTE,      /* whoever recorded, to the user */
};

/* What a trace says about itself: one value. */
struct ut_meta {
	uint32_t trace;
	enum ut_meta_source source;
	size_t at;    /* index into the trace's arguments, or its notes ... */
	size_t count; /* ... and how many of them: an array has several */
};

/* A list of arguments and the event that has it: owner.h. */
struct ut_owner {
	int64_t set;
	uint64_t id;
};

/* Where a row lies. */
struct ut_place {
	struct ut_qtrack *track;
	const struct ut_qtrace *trace;
	const struct ut_block *block;
	uint32_t i;   /* in the block */
	uint64_t row; /* on the track */
};

struct ut_traces {
	struct ut_arena arena;
	struct ut_qtrace *traces;
	size_t count, cap;
	struct ut_qtrack *tracks;
	size_t track_count, track_cap;
	struct ut_qprocess *processes;
	size_t process_count, process_cap;
	uint32_t *by_process; /* track ids, grouped by process; made by ut_traces_ready() */
	struct ut_meta *meta;
	size_t meta_count, meta_cap;
	struct ut_owner *owners; /* NULL until asked for */
	size_t owner_count, owner_cap;
	struct ut_flows *flows;        /* NULL until asked for: flow.h */
	struct ut_stats_answer *stats; /* the last one, see table_stats.c; NULL = none */
	size_t stats_users;            /* cursors that are reading it */
	unsigned int threads;          /* for what can use several; 0 = 1 */
	uint64_t row_count;
	volatile sig_atomic_t stop; /* set by somebody else: give up soon */
};

void ut_traces_init(struct ut_traces *t);
void ut_traces_release(struct ut_traces *t);
void ut_stats_answer_free(struct ut_stats_answer *a);

/* path is copied. All traces are added before the first query. */
void ut_traces_add(struct ut_traces *t, const char *path, struct ut_store *store);
void ut_traces_ready(struct ut_traces *t);

/* The row with this event id; false if there is none. O(log tracks). */
bool ut_traces_find(const struct ut_traces *t, uint64_t id, struct ut_place *place);

/* Row of a track that has it. */
void ut_traces_place(const struct ut_traces *t, uint32_t track, uint64_t row,
		     struct ut_place *place);

/* The first row of a track that begins at or after ts. O(log rows). */
uint64_t ut_traces_lower(const struct ut_qtrack *track, uint64_t ts);

/* The ends of all overlapping spans of a track, by row. */
const struct ut_async_end *ut_traces_ends(const struct ut_traces *t, struct ut_qtrack *track);

/* arg_set_id of a row, 0 = it has no arguments. An async span has those of its end as well. */
int64_t ut_place_args(const struct ut_traces *t, const struct ut_place *p);

/* Who lies in whom on a track; with self times if wanted. */
const struct ut_nest *ut_traces_nest(const struct ut_traces *t, struct ut_qtrack *track, bool self);

static inline const struct ut_type *ut_place_type(const struct ut_place *p)
{
	return ut_store_type(p->trace->store, p->block->type[p->i]);
}

static inline uint64_t ut_place_id(const struct ut_place *p)
{
	return p->track->first_id + p->row;
}

/* The end of a slice: of an overlapping one that never ended, the last sign of life on its track.
 */
uint64_t ut_place_end(const struct ut_traces *t, const struct ut_place *p);

#endif
