/*
 * hits_parts.h - how hits are found: tracks are divided into parts, several threads go through
 * them, what they found is put together. Inside view/hits*.c only.
 *
 * What is called for every row has its body here.
 */
#ifndef UT_VIEW_HITS_PARTS_H
#define UT_VIEW_HITS_PARTS_H

#include "base/grow.h"
#include "view/hits.h"
#include "view/visit.h"

#define UT_HUNT_ROWS ((uint64_t)64 * UT_BLOCK_ROWS) /* a million */

/* Some blocks of one track, and what was found in them. */
struct ut_hunt_part {
	const struct ut_view_track *track;
	uint64_t first, last; /* rows */
	struct ut_hits found;
};

/* What the types of a trace are. */
struct ut_hunt_kinds {
	bool unsaid;     /* there are wanted ones whose rows do not say how long they are */
	bool only_work;  /* none is anything else */
	bool all_wanted; /* every one */
};

struct ut_hunt {
	struct ut_view *view;
	const struct ut_hits_ask *ask;
	struct ut_hunt_kinds *of; /* of traces */
	struct ut_hunt_part *parts;
	size_t count, cap;
};

/* One more; they come in order of time. */
static inline void ut_hits_keep(struct ut_hits *h, const struct ut_hits_ask *ask, struct ut_hit hit)
{
	if (!h->count || ut_hit_before(hit, h->first))
		h->first = hit;
	if (!h->count || ut_hit_before(h->last, hit))
		h->last = hit;
	h->count++;
	if (ut_hit_before(hit, ask->here)) {
		h->before++;
		if (!h->has_previous || ut_hit_before(h->previous, hit))
			h->previous = hit;
		h->has_previous = true;
	} else if (ut_hit_before(ask->here, hit)) {
		if (!h->has_next || ut_hit_before(hit, h->next))
			h->next = hit;
		h->has_next = true;
	}
	if (h->list_count < ask->limit) { /* rows of a track come in order */
		h->list = ut_grow(h->list, h->list_count + 1, &h->list_cap, sizeof(*h->list));
		h->list[h->list_count++] = hit;
	}
}

/* Is more than its type and length needed to tell? */
static inline bool ut_hits_need_rows(const struct ut_hits_ask *ask)
{
	return ask->scope->has_ranges || ask->wanted->by_more || ask->lengths;
}

static inline bool ut_hits_has(const struct ut_hits_ask *ask, const struct ut_view_row *row)
{
	return ut_scope_touches(ask->scope, row->start, row->end) &&
	       (!ask->wanted->by_event || ut_wanted_row(ask->wanted, row));
}

void ut_hits_add_part(struct ut_hunt *h, const struct ut_view_track *t, uint64_t first,
		      uint64_t last);

/*
 * By types and lengths: each row speaks for itself, a track can be divided anywhere.
 * ut_hits_hunt_*: one part, for ut_thread_pool_each(); ctx is the hunt.
 */
void ut_hits_divide(struct ut_hunt *h, const struct ut_view_track *t);
void ut_hits_hunt_rows(void *ctx, size_t number);

/* By self time: a walk knows it when a span ends. */
void ut_hits_divide_nested(struct ut_hunt *h, const struct ut_view_track *t);
void ut_hits_hunt_self(void *ctx, size_t number);

/*
 * Hits come as they end: the list is put in order whenever it is long, and has no use from then on
 * for what is behind its last.
 */
void ut_hits_keep_as_it_ends(struct ut_hits *h, const struct ut_hits_ask *ask, struct ut_hit hit);

void ut_hits_sort(struct ut_hits *h);

#endif
