/*
 * scan.h - the rows of all traces that fulfil some conditions, one after the other.
 *
 * Conditions are checked as early as they can be: those on tracks once per track, those on names
 * once per type, a range of times by binary search, and the rest on a batch of rows at a time.
 * Rows come in the order of their ids unless another order is asked for. One owner, one thread.
 */
#ifndef UT_QUERY_SCAN_H
#define UT_QUERY_SCAN_H

#include "query/field.h"

#define UT_SCAN_BATCH 1024u
#define UT_SCAN_MOST  16u /* conditions */

struct ut_scan_condition {
	enum ut_field field;
	struct ut_match match;
	int64_t low, high; /* level row: the numbers that fulfil it */
};

/* A field to sort by. */
struct ut_scan_order {
	enum ut_field field;
	bool desc; /* the largest first */
};

struct ut_scan_merge;
struct ut_scan_groups;

struct ut_scan {
	struct ut_traces *traces;
	uint32_t kinds; /* a bit for each enum ut_kind that is wanted */
	struct ut_place at;

	struct ut_scan_condition conditions[UT_SCAN_MOST];
	size_t count;
	bool on_types; /* one of them is about types */
	bool on_rows;  /* ... about rows other than ts */
	uint64_t ts_low, ts_high;
	uint64_t row_low, row_high; /* of each track; set when a parent is asked for */

	const uint32_t *list; /* tracks to visit; NULL = first_track and so on */
	uint32_t first_track, track_count, track_at;
	uint8_t **pass; /* per trace, per type: 0 = not wanted, 1 = wanted */
	uint64_t row_next, row_end;
	uint32_t picked_at, picked_count;
	uint16_t picked[UT_SCAN_BATCH]; /* places in the block */
	struct ut_scan_merge *merge;    /* by ts */
	struct ut_scan_groups *groups;  /* grouped */
};

void ut_scan_init(struct ut_scan *s, struct ut_traces *traces, uint32_t kinds);
void ut_scan_release(struct ut_scan *s);

/* Forgets all conditions. */
void ut_scan_clear(struct ut_scan *s);

/*
 * One more condition; s takes the match. At most UT_SCAN_MOST. Fields of level row: TS, DUR, SELF,
 * END, DEPTH with EQ, GT, GE, LT, LE; ID, PARENT, ARG_SET with EQ only.
 */
void ut_scan_add(struct ut_scan *s, enum ut_field field, struct ut_match *match);

/* Gets ready for the first row. */
void ut_scan_start(struct ut_scan *s);

/* The same, but rows will come in the order of their ts, those of the same ts by id. */
void ut_scan_by_ts(struct ut_scan *s);

/*
 * The same, but rows come sorted by these fields, all of level type and track: those of one level
 * first, then those of the other. distinct: one row is enough of those that are equal there. Needs
 * 4 bytes of memory per row, and less than 2^32 rows in all traces.
 */
void ut_scan_grouped(struct ut_scan *s, const struct ut_scan_order *fields, size_t count,
		     bool distinct);

/* 1: s->at is the next row; 0: there is none; -EINTR: traces->stop was set. */
int ut_scan_next(struct ut_scan *s);

#endif
