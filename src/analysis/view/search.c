/*
 * search.c - answers about a query: how many, the first ones, the next one.
 */
#include "text/out.h"
#include "view/answers.h"
#include "view/hits.h"

#define LIST_MOST 100000u

static void put_found(struct ut_view *v, const struct ut_hits *h, struct ut_out *out)
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
	struct ut_wanted wanted;
	struct ut_hits hits;
	struct ut_hits_ask ask = { .scope = &a->scope, .wanted = &wanted };
	int rc = ut_wanted_init(&wanted, v, a->query, &a->scope, err);

	if (rc)
		return rc;
	ask.limit = a->limit < LIST_MOST ? (size_t)a->limit : LIST_MOST;
	ut_hits_find(&hits, v, &ask);
	put_found(v, &hits, out);
	ut_hits_release(&hits);
	ut_wanted_release(&wanted);
	return 0;
}

/* The hit behind or before here; the first or last one if there is none, as a ring. */
int ut_answer_find(struct ut_view *v, const struct ut_ask *a, struct ut_out *out,
		   struct ut_err *err)
{
	struct ut_wanted wanted;
	struct ut_hits hits;
	struct ut_hits_ask ask = { .scope = &a->scope, .wanted = &wanted };
	struct ut_view_row from;
	struct ut_hit hit;
	bool there;

	if (ut_wanted_init(&wanted, v, a->query, &a->scope, err)) {
		ut_out_text(out, "null");
		return 0;
	}
	ask.here = a->by > 0 ? (struct ut_hit){ 0, 0 } : (struct ut_hit){ UINT64_MAX, UINT64_MAX };
	there = a->has_from && ut_view_find(v, a->from, &from);
	if (there)
		ask.here = (struct ut_hit){ from.start, a->from };
	ut_hits_find(&hits, v, &ask);
	if (a->by > 0)
		hit = there && hits.has_next ? hits.next : hits.first;
	else
		hit = there && hits.has_previous ? hits.previous : hits.last;
	if (hits.count) {
		uint64_t count = hits.count;

		ut_hits_release(&hits);
		ask.here = hit;
		ut_hits_find(&hits, v, &ask);
		ut_out_fmt(out, "{\"id\":%llu,\"nth\":%llu}", (unsigned long long)hit.id,
			   (unsigned long long)(count ? hits.before + 1 : 0));
	} else {
		ut_out_text(out, "null");
	}
	ut_hits_release(&hits);
	ut_wanted_release(&wanted);
	return 0;
}
