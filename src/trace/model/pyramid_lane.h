/*
 * pyramid_lane.h - what the parts of the pyramid share: the levels of a lane, and its entries.
 */
#ifndef UT_MODEL_PYRAMID_LANE_H
#define UT_MODEL_PYRAMID_LANE_H

#include "model/pyramid.h"
#include "model/store.h"

/* The nodes of a lane, level by level. */
struct ut_levels {
	const struct ut_node *nodes[UT_LANE_LEVELS];
	const struct ut_node
		*last[UT_LANE_LEVELS]; /* the last one need not lie behind the others */
	uint64_t count[UT_LANE_LEVELS];
	unsigned int used; /* levels; the last has one node. 0: no entries */
};

void ut_lane_levels(const struct ut_lane *lane, struct ut_levels *levels);

static inline const struct ut_node *ut_level_node(const struct ut_levels *l, unsigned int level,
						  uint64_t i)
{
	return i + 1 < l->count[level] ? &l->nodes[level][i] : l->last[level];
}

static inline uint64_t ut_add_ns(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

/* Where an entry ends on the screen: what has no length is 1 ns long there. */
static inline uint64_t ut_visible_end(uint64_t ts, uint64_t end)
{
	return end > ts ? end : ut_add_ns(ts, 1);
}

/* Entry i of a lane but for its type; where that is, or NULL if the (damaged) lane leads to no
 * row. */
static inline const uint32_t *ut_entry_times(const struct ut_rows *rows, const struct ut_lane *lane,
					     uint64_t i, struct ut_entry *e)
{
	const struct ut_block *b;
	uint32_t at;

	e->row = lane->rows ? lane->rows[i] : i;
	if (e->row >= rows->count)
		return NULL;
	b = &rows->blocks[e->row / UT_BLOCK_ROWS];
	at = (uint32_t)(e->row % UT_BLOCK_ROWS);
	e->ts = b->ts[at];
	if (lane->ends)
		e->end = lane->ends[i] < e->ts ? e->ts : lane->ends[i];
	else if (lane->kind <= UT_LANE_OVERLAP)
		e->end = ut_add_ns(e->ts, b->val[at]);
	else
		e->end = e->ts;
	return &b->type[at];
}

/* Entry i of a lane; false if there is none. */
static inline bool ut_entry_get(const struct ut_rows *rows, const struct ut_lane *lane, uint64_t i,
				struct ut_entry *e)
{
	const uint32_t *type = ut_entry_times(rows, lane, i, e);

	if (type)
		e->type = *type;
	return type != NULL;
}

#endif
