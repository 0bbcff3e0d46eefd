/*
 * ask.h - a question of the viewer: its JSON object, read into one struct.
 *
 * A question uses the members that its method has in web/src/source/contract.ts; those that were
 * not given are 0, NULL or as their comment says. Owner: whoever releases it.
 */
#ifndef UT_VIEW_ASK_H
#define UT_VIEW_ASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

struct ut_ask_range {
	uint64_t from, to; /* [from, to) */
};

/* What a table, tree or histogram is about. */
struct ut_ask_scope {
	struct ut_ask_range *ranges; /* disjoint, in order */
	size_t range_count, range_cap;
	bool has_ranges; /* otherwise it is all the time there is */
	uint32_t *tracks;
	size_t track_count, track_cap;
	bool has_tracks;
	struct ut_str query;
};

struct ut_ask_lane {
	uint32_t track, lane;
};

struct ut_ask {
	struct ut_arena arena;
	double t0, t1, t, slack;
	double low, high; /* NAN: not given */
	uint64_t pixels, first, limit, id, from, track, lane, bins, nodes;
	int by;              /* 1 or -1 */
	struct ut_str *keys; /* or, as a list: arguments to tell slices apart by */
	size_t key_count, key_cap;
	bool self, log, gone;
	bool has_from;
	struct ut_str along, query, name, group, argument, kind, text, tool, event, module;
	struct ut_ask_lane *lanes;
	size_t lane_count, lane_cap;
	struct ut_ask_scope scope; /* also of a list of tracks that stands alone */
	struct {
		struct ut_str id, text;
		double t0, t1;
	} note;
};

int ut_ask_read(struct ut_ask *a, const char *json, size_t len, struct ut_err *err) UT_MUST_CHECK;
void ut_ask_release(struct ut_ask *a);

static inline bool ut_ask_is(struct ut_str s, const char *word)
{
	size_t i = 0;

	while (i < s.len && word[i] && s.ptr[i] == word[i])
		i++;
	return i == s.len && !word[i];
}

#endif
