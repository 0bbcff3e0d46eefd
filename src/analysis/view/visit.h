/*
 * visit.h - one walk over the slices and marks of a scope, with their self times and what is around
 * them. Tables, trees and histograms are made in it, so they all mean the same.
 *
 * The meaning is that of analyze/stats.h with a window that cuts spans at its edges: every moment
 * of a track belongs to the span that began last of those going on; a span lies in another if it
 * begins and ends inside it. What is nobody's work (frames, async spans) has no self time, takes
 * none from others and lies in nothing; what is about the recording is not visited.
 *
 * Slices of work are visited when their self time is known: when they end, or when one that
 * outlasts them begins. Of a range only its rows are looked at, and what was going on at its
 * beginning, however long the track is.
 */
#ifndef UT_VIEW_VISIT_H
#define UT_VIEW_VISIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "view/ask.h"
#include "view/search_query.h"
#include "view/view_parts.h"

/* A slice that is open. */
struct ut_visit_open {
	struct ut_view_row row;
	uint64_t total, self, fresh, alone;
	bool query;
};

struct ut_visit {
	const struct ut_view_row *row;
	uint64_t total; /* ns inside the ranges */
	uint64_t self;  /* of that, its own; 0 for what has none */
	uint64_t fresh; /* of that, what no earlier slice of its name on this track covers */
	uint64_t alone; /* of that, what no earlier slice of this track covers; of a queue: no work
			 */
	const struct ut_visit_open *path; /* slices around it, the outermost first */
	size_t depth;
	bool mark, aside;
	bool quiet; /* on a queue of a device, but not its work: an annotation, say */
};

typedef void (*ut_visit_fn)(void *ctx, const struct ut_visit *visit);

/* Everything wanted of the scope, track by track. */
void ut_view_walk(struct ut_view *v, const struct ut_ask_scope *scope,
		  const struct ut_search_query *w, ut_visit_fn visit, void *ctx);

/*
 * The same by several threads, a track at a time: worker i calls visit(ctxs[i], ...). Which tracks
 * a worker gets is a matter of chance.
 */
void ut_view_walk_shared(struct ut_view *v, const struct ut_ask_scope *scope,
			 const struct ut_search_query *w, ut_visit_fn visit, void **ctxs,
			 size_t workers);

/* How much of [from, to) lies in the ranges of the scope. */
uint64_t ut_scope_inside(const struct ut_ask_scope *scope, uint64_t from, uint64_t to);

/* Has it a moment in them? What has no length counts if it lies in one. */
bool ut_scope_touches(const struct ut_ask_scope *scope, uint64_t from, uint64_t to);

/* The length of the ranges, all together. */
uint64_t ut_scope_span(const struct ut_view *v, const struct ut_ask_scope *scope);

#endif
