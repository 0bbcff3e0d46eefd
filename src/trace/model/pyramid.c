#include "model/pyramid.h"

#include <stdlib.h>

#include "model/pyramid_lane.h"

static uint64_t parents(uint64_t count, uint64_t fan)
{
	return count / fan + (count % fan != 0);
}

uint64_t ut_lane_nodes(uint64_t count)
{
	uint64_t level = parents(count, UT_LANE_LEAF), all = level;

	while (level > 1) {
		level = parents(level, UT_LANE_FAN);
		all += level;
	}
	return all;
}

void ut_lane_levels(const struct ut_lane *lane, struct ut_levels *levels)
{
	const struct ut_node *nodes = lane->nodes;
	uint64_t count = parents(lane->count, UT_LANE_LEAF);

	levels->used = 0;
	while (count) {
		unsigned int level = levels->used++;

		levels->count[level] = count;
		if (lane->growth) {
			levels->nodes[level] = lane->growth->nodes[level];
			levels->last[level] = &lane->growth->last[level];
		} else {
			levels->nodes[level] = nodes;
			nodes += count;
			levels->last[level] = nodes - 1;
		}
		count = count > 1 ? parents(count, UT_LANE_FAN) : 0;
	}
}

const struct ut_lanes *ut_pyramid_lanes(const struct ut_store *s, uint32_t track)
{
	static const struct ut_lanes none = { 0 };

	if (!s->pyramid || track >= s->pyramid->track_count)
		return &none;
	return &s->pyramid->tracks[track];
}

void ut_pyramid_free(struct ut_pyramid *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->track_count; i++) {
		struct ut_lanes *t = &p->tracks[i];

		for (uint32_t n = 0; !p->mapped && n < t->count; n++) {
			free((void *)(uintptr_t)t->lanes[n].nodes);
			free((void *)(uintptr_t)t->lanes[n].rows);
			free((void *)(uintptr_t)t->lanes[n].ends);
		}
		free(t->lanes);
	}
	free(p->tracks);
	free(p);
}

bool ut_lane_entry(const struct ut_store *s, uint32_t track, uint32_t lane, uint64_t i,
		   struct ut_entry *out)
{
	const struct ut_lanes *lanes = ut_pyramid_lanes(s, track);

	if (lane >= lanes->count || i >= lanes->lanes[lane].count)
		return false;
	return ut_entry_get(&s->rows[track], &lanes->lanes[lane], i, out);
}

/* Is everything in nodes[at] over by t? Samples have no end: they are when the next node is. */
static bool pyramid_is_over(const struct ut_lane *lane, const struct ut_levels *levels,
			    unsigned int level, uint64_t at, uint64_t t)
{
	return lane->kind == UT_LANE_COUNTER ? ut_level_node(levels, level, at + 1)->first < t
					     : ut_level_node(levels, level, at)->end < t;
}

uint64_t ut_lane_seek(const struct ut_store *s, uint32_t track, uint32_t lane, uint64_t t)
{
	const struct ut_lanes *lanes = ut_pyramid_lanes(s, track);
	const struct ut_lane *l;
	struct ut_levels levels;
	struct ut_entry e;
	uint64_t at = 0;

	if (lane >= lanes->count)
		return 0;
	l = &lanes->lanes[lane];
	ut_lane_levels(l, &levels);
	for (unsigned int level = levels.used; level--;) {
		while (at + 1 < levels.count[level] && pyramid_is_over(l, &levels, level, at, t))
			at++;
		at *= level ? UT_LANE_FAN : UT_LANE_LEAF;
	}
	while (at < l->count && ut_entry_get(&s->rows[track], l, at, &e) &&
	       ut_visible_end(e.ts, e.end) <= t)
		at++;
	return at;
}
