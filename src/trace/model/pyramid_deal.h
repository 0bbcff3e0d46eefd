/*
 * pyramid_deal.h - deals the rows of a track onto lanes and sums them up, in one pass. For those
 * who make a pyramid at once (pyramid_build.c) and for those who add rows to it (growing.c).
 */
#ifndef UT_MODEL_PYRAMID_DEAL_H
#define UT_MODEL_PYRAMID_DEAL_H

#include "base/arena.h"
#include "model/pyramid_lane.h"

struct ut_deferred_free;

/* Nodes of one level, all of them complete. */
struct ut_node_list {
	struct ut_node *nodes;
	uint64_t count, cap;
};

/* A lane while it is filled. */
struct ut_filling {
	struct ut_node open; /* sums up the entries since the last node */
	uint64_t longest;    /* of open, exactly */
	uint32_t in_open;
	uint64_t count;
	uint32_t *rows;
	uint64_t row_cap;
	uint64_t *ends;
	uint64_t end_cap;
	struct ut_node_list finest;
	struct ut_deferred_free
		*deferred; /* of a lane that others look at: for what it outgrows; or NULL */
	struct ut_node_list
		*above;   /* UT_GROWTH_LEVELS of such a lane, the finest is not among them */
	bool is_unended;  /* its last entry goes on; it is not in open */
	uint32_t unended; /* its row */
};

struct ut_busy_lane {
	uint64_t end;
	uint32_t lane;
};

/* Which lanes are free. */
struct ut_fit {
	struct ut_busy_lane *busy; /* heap, the first end on top */
	size_t busy_count, busy_cap;
	uint32_t *idle; /* heap, the first lane on top */
	size_t idle_count, idle_cap;
};

struct ut_lane_group {
	struct ut_filling *lanes;
	size_t count, cap;
	struct ut_fit fit;
};

struct ut_dealer {
	const struct ut_store *store;
	const uint8_t *kinds; /* lane kind of each type: ut_deal_kind() */
	uint32_t track;
	struct ut_lane_group groups[UT_LANE_KINDS];
	uint64_t *open; /* ends of the spans that are open, the outermost first */
	size_t depth, open_cap;
	uint64_t *async_ends;    /* by row; made when the first async span is met */
	struct ut_filling *only; /* all rows so far are on this lane, so it needs no list of them */
	bool several;            /* no more */
	struct ut_deferred_free *deferred; /* set if others look at the lanes while they grow */
	uint64_t dealt;                    /* rows */
};

/* The lane kind of rows of a type; UT_LANE_KINDS: they are on no lane. */
uint8_t ut_deal_kind(uint8_t kind);

/* Deals the rows that are new since the last time. */
void ut_deal_rows(struct ut_dealer *d);

/* Makes lanes of it; the dealer is empty afterwards. */
void ut_deal_finish(struct ut_dealer *d, struct ut_lanes *out);

/* ---- lanes that grow ------------------------------------------------------------------------ */

/* How long a span is that has not ended. */
#define UT_UNENDED UINT64_MAX

/* A row that was dealt as unended has ended. False: all rows have to be dealt anew, since it does
 * not nest with others that are still open. */
bool ut_deal_end(struct ut_dealer *d, uint64_t row, uint64_t ts, uint64_t end, uint32_t type);

/*
 * The lanes as they are now; what is unended goes on to until and has the type that the store shows
 * it with. Their levels lie in the arena, the rest is shared with the dealer.
 */
void ut_deal_show(struct ut_dealer *d, const struct ut_rows *shown, uint64_t until,
		  struct ut_arena *arena, struct ut_lanes *out);

/* Forgets everything; who looks at the lanes goes on. */
void ut_deal_clear(struct ut_dealer *d);

#endif
