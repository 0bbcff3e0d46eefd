/*
 * pyramid.h - a trace at every level of detail, so that any window of it draws in milliseconds.
 *
 * The rows of a track are dealt onto lanes, in each of which nothing overlaps: spans by their depth
 * of nesting; spans that overlap without nesting, and async spans, each onto the first lane that is
 * free; then marks, flows and the counter. An entry of a lane is one row. Every UT_LANE_LEAF
 * entries share a node, every UT_LANE_FAN nodes the next higher one, up to a single node: 4.6 bytes
 * a row, plus 4 for the number of the row where a track has more than one lane, plus 8 for the end
 * of an async span.
 *
 * What a drawing promises, for the pixels that [t0, t1) is divided into:
 *  (1) a pixel is touched exactly if an entry touches it; an entry without length touches the
 *      pixel of its time;
 *  (2) an entry that is at least as long as a pixel is drawn exactly;
 *  (3) busy and count, summed over all pixels, are exact; so a window of one pixel is exact;
 *  (4) where UT_LANE_LEAF entries fit into less than a pixel and lie across the border of two,
 *      some of them may be counted on the wrong side of it, with at most a quarter of a pixel of
 *      their busy time; nothing else is;
 *  (5) busy is never more than the pixel is wide.
 * For counters: (6) a sample is part of its own pixel; where UT_LANE_LEAF samples fit into less
 * than a pixel, all of them may be part of the pixel of the first.
 *
 * Read-only after build, by any number of threads; freed with its store. Its numbers may come from
 * a damaged file: then the picture is wrong, and nothing else.
 */
#ifndef UT_MODEL_PYRAMID_H
#define UT_MODEL_PYRAMID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ut_store;

#define UT_LANE_LEAF   8u
#define UT_LANE_FAN    8u
#define UT_LANE_LEVELS 32u /* more than 2^64 entries need */

#define UT_ROW_NONE UINT64_MAX

enum ut_lane_kind {
	UT_LANE_SPANS,   /* the spans of one depth of nesting */
	UT_LANE_OVERLAP, /* spans that do not nest with those above */
	UT_LANE_ASYNC,   /* async spans */
	UT_LANE_MARKS,   /* instants, of async spans as well, and what happens to objects */
	UT_LANE_FLOWS,   /* ends and steps of flows */
	UT_LANE_COUNTER, /* samples */
	UT_LANE_KINDS
};

/* Some consecutive entries of a lane. */
struct ut_node {
	uint64_t first; /* ts of the first one */
	union {
		struct {
			uint64_t end;  /* of the last one */
			uint64_t busy; /* sum of their lengths */
			float longest; /* length of the longest... */
			uint32_t type; /* ... and its type */
		};
		struct {
			double min, max, last; /* of a counter */
		};
	};
};

_Static_assert(sizeof(struct ut_node) == 32, "nodes are packed by the million, and saved");

#define UT_GROWTH_LEVELS 12u /* more than 2^32 entries need */

/* The nodes of a lane that is still growing. */
struct ut_lane_growth {
	const struct ut_node *nodes[UT_GROWTH_LEVELS]; /* all but the last one of each level */
	struct ut_node last[UT_GROWTH_LEVELS];
};

struct ut_lane {
	uint64_t count;              /* entries */
	const struct ut_node *nodes; /* level by level, the finest first; NULL: growth has them */
	const struct ut_lane_growth *growth; /* NULL for others */
	const uint32_t *rows;                /* of the entries; NULL: entry i is row i */
	const uint64_t *ends;                /* of async spans; NULL for others */
	uint8_t kind;                        /* enum ut_lane_kind */
};

struct ut_lanes {
	struct ut_lane *lanes; /* in the order of enum ut_lane_kind, the outermost spans first */
	uint32_t count;
};

struct ut_pyramid {
	struct ut_lanes *tracks; /* one per track of the store */
	size_t track_count;
	bool mapped; /* what lanes point to lies in the store's file */
};

/*
 * Makes s->pyramid unless there is one; tracks are shared among threads (0 = one per core). Of a
 * track with more than 2^32 rows only the first ones are drawn.
 */
void ut_pyramid_build(struct ut_store *s, unsigned int threads);
void ut_pyramid_free(struct ut_pyramid *p);

/* The lanes of a track; none if there is no pyramid or no such track. */
const struct ut_lanes *ut_pyramid_lanes(const struct ut_store *s, uint32_t track);

/* Nodes of a lane with this many entries, of all levels. */
uint64_t ut_lane_nodes(uint64_t count);

/* ---- one entry ----------------------------------------------------------------------------- */

struct ut_entry {
	uint64_t row;     /* of its track */
	uint64_t ts, end; /* ns */
	uint32_t type;
};

/* False if there is no entry i. */
bool ut_lane_entry(const struct ut_store *s, uint32_t track, uint32_t lane, uint64_t i,
		   struct ut_entry *out);

/* The first entry of a lane that ends after t, or begins at it or later; lane's count if none. */
uint64_t ut_lane_seek(const struct ut_store *s, uint32_t track, uint32_t lane, uint64_t t);

/* ---- windows ------------------------------------------------------------------------------- */

/* Pixel i is [t0 + (t1 - t0) * i / pixels, t0 + (t1 - t0) * (i + 1) / pixels), rounded down. */
struct ut_picture {
	uint64_t t0, t1; /* ns */
	uint32_t pixels;
};

struct ut_cell {
	uint64_t busy;    /* ns of it that entries cover */
	uint64_t row;     /* if touched is 1: which row that is */
	uint32_t touched; /* 0, 1, or more entries touch it; not always how many */
	uint32_t count;   /* entries that begin in it; see (4) */
	uint32_t type;    /* of the entry that covers most of it; see (4) */
	float most;       /* how much that is, ns */
};

/* A counter in a pixel; without a sample it has the value of the last one before, or NaN. */
struct ut_value_cell {
	double min, max, last;
	uint32_t count; /* samples */
};

/*
 * Draws a lane. Returns how many cells were filled: as many as there are pixels, or t1 - t0 if that
 * is less, since no pixel is narrower than 1 ns, or 0 if nothing is left. The first function is for
 * all kinds of lanes but the counter, the second for that; other lanes are drawn empty.
 */
uint32_t ut_pyramid_window(const struct ut_store *s, uint32_t track, uint32_t lane,
			   const struct ut_picture *window, struct ut_cell *cells);
uint32_t ut_pyramid_values(const struct ut_store *s, uint32_t track, uint32_t lane,
			   const struct ut_picture *window, struct ut_value_cell *cells);

/* One lane of a picture, and where it goes: a counter into values, any other lane into cells. */
struct ut_picture_lane {
	uint32_t track, lane;
	union {
		struct ut_cell *cells;
		struct ut_value_cell *values;
	};
};

/* Draws the lanes that a screen shows, shared among threads (0 = one per core). Returns how many
 * cells each of them has. */
uint32_t ut_pyramid_picture(const struct ut_store *s, const struct ut_picture *window,
			    const struct ut_picture_lane *lanes, size_t count,
			    unsigned int threads);

#endif
