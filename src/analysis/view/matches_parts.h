/*
 * matches_parts.h - how matches are found: tracks are divided into parts, several threads go
 * through them, what they found is put together. Inside view/hits*.c only.
 *
 * What is called for every row has its body here.
 */
#ifndef UT_VIEW_MATCHES_PARTS_H
#define UT_VIEW_MATCHES_PARTS_H

#include "base/grow.h"
#include "view/matches.h"
#include "view/visit.h"

#define UT_VIEW_SEARCH_ROWS ((uint64_t)64 * UT_BLOCK_ROWS) /* a million */

/* Some blocks of one track, and what was found in them. */
struct ut_view_search_part {
	const struct ut_view_track *track;
	uint64_t first, last; /* rows */
	struct ut_view_matches found;
};

/* What the types of a trace are. */
struct ut_view_search_kinds {
	bool unsaid;    /* there are wanted ones whose rows do not say how long they are */
	bool only_work; /* none is anything else */
	bool all_match; /* every one */
};

struct ut_view_search {
	struct ut_view *view;
	const struct ut_view_matches_ask *ask;
	struct ut_view_search_kinds *of; /* of traces */
	struct ut_view_search_part *parts;
	size_t count, cap;
};

/* One more; they come in order of time. */
static inline void ut_view_matches_keep(struct ut_view_matches *h,
					const struct ut_view_matches_ask *ask,
					struct ut_view_match match)
{
	if (!h->count || ut_view_match_before(match, h->first))
		h->first = match;
	if (!h->count || ut_view_match_before(h->last, match))
		h->last = match;
	h->count++;
	if (ut_view_match_before(match, ask->here)) {
		h->before++;
		if (!h->has_previous || ut_view_match_before(h->previous, match))
			h->previous = match;
		h->has_previous = true;
	} else if (ut_view_match_before(ask->here, match)) {
		if (!h->has_next || ut_view_match_before(match, h->next))
			h->next = match;
		h->has_next = true;
	}
	if (h->list_count < ask->limit) { /* rows of a track come in order */
		h->list = ut_grow(h->list, h->list_count + 1, &h->list_cap, sizeof(*h->list));
		h->list[h->list_count++] = match;
	}
}

/* Is more than its type and length needed to tell? */
static inline bool ut_view_matches_need_rows(const struct ut_view_matches_ask *ask)
{
	return ask->scope->has_ranges || ask->query->by_more || ask->lengths;
}

static inline bool ut_view_matches_has(const struct ut_view_matches_ask *ask,
				       const struct ut_view_row *row)
{
	return ut_scope_touches(ask->scope, row->start, row->end) &&
	       (!ask->query->by_event || ut_search_query_row(ask->query, row));
}

void ut_view_matches_add_part(struct ut_view_search *h, const struct ut_view_track *t,
			      uint64_t first, uint64_t last);

/*
 * By types and lengths: each row speaks for itself, a track can be divided anywhere.
 * ut_view_matches_search_*: one part, for ut_thread_pool_each(); ctx is the hunt.
 */
void ut_view_matches_divide(struct ut_view_search *h, const struct ut_view_track *t);
void ut_view_matches_search_rows(void *ctx, size_t number);

/* By self time: a walk knows it when a span ends. */
void ut_view_matches_divide_nested(struct ut_view_search *h, const struct ut_view_track *t);
void ut_view_matches_search_self(void *ctx, size_t number);

/*
 * Matches come as they end: the list is put in order whenever it is long, and has no use from then
 * on for what is behind its last.
 */
void ut_view_matches_keep_as_it_ends(struct ut_view_matches *h,
				     const struct ut_view_matches_ask *ask,
				     struct ut_view_match match);

void ut_view_matches_sort(struct ut_view_matches *h);

#endif
