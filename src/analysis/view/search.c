/*
 * search.c - answers about a query: how many, the first ones, the next one.
 */
#include "text/out.h"
#include "view/answers.h"
#include "view/matches.h"

#define LIST_MOST 100000u

static void put_found(struct ut_view *v, const struct ut_view_matches *h, struct ut_out *out)
{
	bool any = false;

	ut_out_text(out, "{\"count\":");
	ut_out_u64(out, h->count);
	ut_out_text(out, ",\"list\":[");
	for (size_t i = 0; i < h->list_count; i++) {
		struct ut_view_row row;

		if (!ut_view_find(v, h->list[i].id, &row))
			continue;
		ut_out_text(out, i ? "," : "");
		ut_put_ref(out, v, &row, 0);
	}
	ut_out_text(out, "],\"tracks\":[");
	for (uint32_t i = 0; i < v->track_count; i++) {
		if (!h->tracks[i])
			continue;
		ut_out_text(out, any ? "," : "");
		ut_out_u64(out, i);
		any = true;
	}
	ut_out_text(out, "]}");
}

int ut_answer_search(struct ut_view *v, const struct ut_ask *a, struct ut_out *out,
		     struct ut_err *err)
{
	struct ut_search_query query;
	struct ut_view_matches matches;
	struct ut_view_matches_ask ask = { .scope = &a->scope, .query = &query };
	int rc = ut_search_query_init(&query, v, a->query, &a->scope, err);

	if (rc)
		return rc;
	ask.limit = a->limit < LIST_MOST ? (size_t)a->limit : LIST_MOST;
	ut_view_matches_find(&matches, v, &ask);
	put_found(v, &matches, out);
	ut_view_matches_release(&matches);
	ut_search_query_release(&query);
	return 0;
}

/* The hit behind or before here; the first or last one if there is none, as a ring. */
int ut_answer_find(struct ut_view *v, const struct ut_ask *a, struct ut_out *out,
		   struct ut_err *err)
{
	struct ut_search_query query;
	struct ut_view_matches matches;
	struct ut_view_matches_ask ask = { .scope = &a->scope, .query = &query };
	struct ut_view_row from;
	struct ut_view_match match;
	bool there;

	if (ut_search_query_init(&query, v, a->query, &a->scope, err)) {
		ut_out_text(out, "null");
		return 0;
	}
	ask.here = a->by > 0 ? (struct ut_view_match){ 0, 0 }
			     : (struct ut_view_match){ UINT64_MAX, UINT64_MAX };
	there = a->has_from && ut_view_find(v, a->from, &from);
	if (there)
		ask.here = (struct ut_view_match){ from.start, a->from };
	ut_view_matches_find(&matches, v, &ask);
	if (a->by > 0)
		match = there && matches.has_next ? matches.next : matches.first;
	else
		match = there && matches.has_previous ? matches.previous : matches.last;
	if (matches.count) {
		uint64_t count = matches.count;

		ut_view_matches_release(&matches);
		ask.here = match;
		ut_view_matches_find(&matches, v, &ask);
		ut_out_fmt(out, "{\"id\":%llu,\"nth\":%llu}", (unsigned long long)match.id,
			   (unsigned long long)(count ? matches.before + 1 : 0));
	} else {
		ut_out_text(out, "null");
	}
	ut_view_matches_release(&matches);
	ut_search_query_release(&query);
	return 0;
}
