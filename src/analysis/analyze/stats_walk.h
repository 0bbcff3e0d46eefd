/*
 * stats_walk.h - between stats_add.c, which deals out the work, and stats_walk.c and stats_odd.c,
 * which count rows. Nobody else includes it.
 */
#ifndef UT_ANALYZE_STATS_WALK_H
#define UT_ANALYZE_STATS_WALK_H

#include "analyze/filter.h"
#include "analyze/stats.h"
#include "model/store.h"

#define UT_STATS_WALK_BATCH 32768u

_Static_assert(UT_STATS_WALK_BATCH >= UT_BLOCK_ROWS, "a batch has room for a block");

/* A span that is open where a part of a track begins. */
struct ut_stats_walk_open {
	uint64_t ts, end;
	uint32_t type;
};

/* A piece of work: blocks [first, last) of a track. */
struct ut_stats_walk_part {
	uint32_t track;
	size_t first, last;
	struct ut_stats_walk_open *open; /* at its start, the outer first; ends grow smaller */
	size_t open_count, open_cap;
	/* still going on, too, but outlasted by one that started later: no time is theirs */
	struct ut_stats_walk_open *hidden;
	size_t hidden_count, hidden_cap;
};

struct ut_stats_walk_frame {
	uint64_t end;
	uint32_t group;
};

/* What is needed of a group for every row, as small as can be. */
struct ut_stats_walk_tally {
	uint64_t self_low, self_high; /* until ut_stats_walk_finalize(); two's complement */
	uint64_t until;               /* so far the group goes on, on this track */
	uint32_t count;               /* of the batch */
	uint32_t end;                 /* see count_batch() */
};

/* What one thread has counted, and where it stands. */
struct ut_stats_walk {
	const struct ut_store *store;
	const struct ut_filter_view *view;
	struct ut_stats stats;
	struct ut_stats_walk_tally *tallies; /* by group */
	size_t tally_cap;
	uint32_t *slots;   /* per type: what to do with it; see stats_walk.c */
	uint32_t *touched; /* types whose slot is set */
	size_t touched_count;
	struct ut_stats_walk_frame *frames; /* frames[0] never ends */
	size_t frame_cap;
	uint32_t track, track_key, process_key, rank_key;
	bool later; /* the track has rows for ut_stats_walk_odd() */
	/* spans that were seen but not yet counted: see count_batch() */
	uint64_t *lengths, *sorted;
	uint32_t *groups;
	uint32_t batch;
};

void ut_stats_walk_init(struct ut_stats_walk *w, const struct ut_store *store,
			const struct ut_filter_view *view, unsigned int by);
void ut_stats_walk_release(struct ut_stats_walk *w);

/* Spans and instants; sets w->later if there are async spans or counters, too. */
void ut_stats_walk_spans(struct ut_stats_walk *w, const struct ut_stats_walk_part *part);

/* After the last track: w->stats is complete. */
void ut_stats_walk_finalize(struct ut_stats_walk *w);

/* Async spans and counters of a whole track. */
void ut_stats_walk_odd(struct ut_stats_walk *w, uint32_t track);

/* The group of a type on the current track. */
uint32_t ut_stats_walk_group(struct ut_stats_walk *w, const struct ut_type *type);

/* Where w->track is in the dimensions asked for. */
void ut_stats_walk_enter(struct ut_stats_walk *w, uint32_t track);
void ut_stats_walk_key(const struct ut_stats_walk *w, uint32_t key[UT_BY_COUNT]);

/* The store's string, as one of w->stats. */
uint32_t ut_stats_walk_string(struct ut_stats_walk *w, uint32_t id);

#endif
