/*
 * matches.h - all events of a query, one after the other or counted: which types match is asked
 * once, then the rows are gone through by several threads.
 *
 * The order of matches is that of their start; at the same time that of their ids.
 */
#ifndef UT_VIEW_MATCHES_H
#define UT_VIEW_MATCHES_H

#include <stdbool.h>
#include <stdint.h>

#include "view/ask.h"
#include "view/search_query.h"
#include "view/view_parts.h"

struct ut_view_match {
	uint64_t t, id;
};

static inline bool ut_view_match_before(struct ut_view_match a, struct ut_view_match b)
{
	return a.t != b.t ? a.t < b.t : a.id < b.id;
}

struct ut_view_matches {
	uint64_t count, before;                           /* before: matches before here */
	uint64_t total;                                   /* ns, of all of them; if asked for */
	struct ut_view_match previous, next, first, last; /* before and behind here, and of all */
	bool has_previous, has_next;                      /* first and last: if count */
	struct ut_view_match *list;                       /* the first ones, in order */
	size_t list_count, list_cap;
	struct ut_view_match
		bound; /* while they are found, if is_full: none behind it gets into the list */
	bool is_full;
	uint8_t *tracks; /* by number: has it any? */
};

struct ut_view_matches_ask {
	const struct ut_ask_scope *scope;
	const struct ut_search_query *query;
	struct ut_view_match here;
	size_t limit;       /* of the list */
	bool lengths;       /* add up total */
	uint64_t part_rows; /* that a thread looks through at a time; 0 = as many as usual */
};

void ut_view_matches_find(struct ut_view_matches *h, struct ut_view *v,
			  const struct ut_view_matches_ask *ask);
void ut_view_matches_release(struct ut_view_matches *h);

/* The self time of one slice. */
uint64_t ut_view_self(struct ut_view *v, const struct ut_view_row *row);

#endif
