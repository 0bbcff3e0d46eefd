#include "view/matches.h"

#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "base/thread_pool.h"
#include "view/matches_parts.h"

/* ---- what was found ------------------------------------------------------------------------- */

static int in_order(const void *a, const void *b)
{
	const struct ut_view_match *x = a, *y = b;

	return ut_view_match_before(*x, *y) ? -1 : ut_view_match_before(*y, *x);
}

void ut_view_matches_sort(struct ut_view_matches *h)
{
	ut_sort(h->list, h->list_count, sizeof(*h->list), in_order);
}

void ut_view_matches_keep_as_it_ends(struct ut_view_matches *h,
				     const struct ut_view_matches_ask *ask,
				     struct ut_view_match match)
{
	struct ut_view_matches_ask roomy = *ask;

	roomy.limit = ask->limit ? ask->limit + ask->limit / 4 + 64 : 0;
	if (h->is_full && ut_view_match_before(h->bound, match))
		roomy.limit = 0;
	ut_view_matches_keep(h, &roomy, match);
	if (!roomy.limit || h->list_count < roomy.limit)
		return;
	ut_view_matches_sort(h);
	h->list_count = ask->limit;
	h->bound = h->list[ask->limit - 1];
	h->is_full = true;
}

static void matches_join(struct ut_view_matches *to, struct ut_view_matches *h)
{
	if (!h->count)
		return;
	if (!to->count || ut_view_match_before(h->first, to->first))
		to->first = h->first;
	if (!to->count || ut_view_match_before(to->last, h->last))
		to->last = h->last;
	if (h->has_previous &&
	    (!to->has_previous || ut_view_match_before(to->previous, h->previous)))
		to->previous = h->previous;
	if (h->has_next && (!to->has_next || ut_view_match_before(h->next, to->next)))
		to->next = h->next;
	to->has_previous |= h->has_previous;
	to->has_next |= h->has_next;
	to->count += h->count;
	to->before += h->before;
	to->total += h->total;
	to->list =
		ut_grow(to->list, to->list_count + h->list_count, &to->list_cap, sizeof(*to->list));
	if (h->list_count)
		memcpy(to->list + to->list_count, h->list, h->list_count * sizeof(*h->list));
	to->list_count += h->list_count;
}

/* ---- all parts ------------------------------------------------------------------------------ */

static bool has_matching_types(const struct ut_view_search *h, const struct ut_view_trace *t)
{
	return t->store->types.count &&
	       memchr(h->ask->query->types + t->first_type, 1, t->store->types.count);
}

void ut_view_matches_add_part(struct ut_view_search *h, const struct ut_view_track *t,
			      uint64_t first, uint64_t last)
{
	h->parts = ut_grow(h->parts, h->count + 1, &h->cap, sizeof(*h->parts));
	h->parts[h->count++] =
		(struct ut_view_search_part){ .track = t, .first = first, .last = last };
}

static void find_kinds(struct ut_view_search *h)
{
	struct ut_view *v = h->view;

	h->of = ut_make((v->trace_count + 1) * sizeof(*h->of));
	for (size_t i = 0; i < v->trace_count; i++) {
		const struct ut_view_trace *t = &v->traces[i];

		h->of[i].only_work = h->of[i].all_match = true;
		for (uint32_t n = t->first_type; n < t->first_type + t->store->types.count; n++) {
			bool said = v->classes[n] == UT_CLASS_WORK ||
				    v->classes[n] == UT_CLASS_ASIDE ||
				    v->classes[n] == UT_CLASS_NOT_WORK;

			h->of[i].unsaid |= h->ask->query->types[n] && !said;
			h->of[i].only_work &= v->classes[n] == UT_CLASS_WORK;
			h->of[i].all_match &= h->ask->query->types[n] != 0;
		}
	}
}

/* ---- slice by slice ------------------------------------------------------------------------- */

/* One of several who go through the tracks. */
struct stroll {
	struct ut_view_matches matches;
	const struct ut_view *view;
	const struct ut_view_matches_ask *ask;
};

static void keep_visit(void *ctx, const struct ut_visit *visit)
{
	struct stroll *s = ctx;
	const struct ut_view_row *row = visit->row;
	struct ut_view_matches *h = &s->matches;

	if (!ut_scope_touches(s->ask->scope, row->start, row->end))
		return;
	h->tracks[row->track - s->view->tracks] = 1;
	h->total += row->end - row->start;
	ut_view_matches_keep_as_it_ends(
		h, s->ask,
		(struct ut_view_match){ row->start, ut_view_id(s->view, row->track, row->row) });
}

/* Where what has no self time is wanted as well. A walk knows self times of whole slices without
 * ranges. */
static void stroll(struct ut_view_matches *to, struct ut_view *v,
		   const struct ut_view_matches_ask *ask)
{
	size_t thread_count = ut_thread_pool_size(v->threads, v->track_count);
	struct stroll *all = ut_make(thread_count * sizeof(*all));
	void **ctxs = ut_make(thread_count * sizeof(*ctxs));
	struct ut_ask_scope whole = *ask->scope;

	whole.has_ranges = false;
	whole.range_count = 0;
	for (size_t i = 0; i < thread_count; i++) {
		struct stroll *s = &all[i];

		*s = (struct stroll){ .view = v, .ask = ask };
		s->matches.tracks = ut_make((size_t)v->track_count + 1);
		ctxs[i] = s;
	}
	ut_view_walk_shared(v, &whole, ask->query, keep_visit, ctxs, thread_count);
	for (size_t i = 0; i < thread_count; i++) {
		matches_join(to, &all[i].matches);
		for (uint32_t t = 0; t < v->track_count; t++)
			to->tracks[t] |= all[i].matches.tracks[t];
		ut_view_matches_release(&all[i].matches);
	}
	free(ctxs);
	free(all);
}

/* ---- finding -------------------------------------------------------------------------------- */

static void search(struct ut_view_matches *to, struct ut_view *v,
		   const struct ut_view_matches_ask *ask)
{
	struct ut_view_search search = { .view = v, .ask = ask };
	bool by_self = ask->query->by_self;

	find_kinds(&search);
	for (uint32_t i = 0; i < v->track_count; i++) {
		if (!ask->query->tracks[i] || !has_matching_types(&search, v->tracks[i].trace))
			continue;
		if (by_self)
			ut_view_matches_divide_nested(&search, &v->tracks[i]);
		else
			ut_view_matches_divide(&search, &v->tracks[i]);
	}
	ut_thread_pool_each(ut_thread_pool_size(v->threads, search.count), search.count,
			    by_self ? ut_view_matches_search_self : ut_view_matches_search_rows,
			    &search);
	for (size_t i = 0; i < search.count; i++) {
		struct ut_view_search_part *p = &search.parts[i];

		matches_join(to, &p->found);
		to->tracks[p->track - v->tracks] |= p->found.count > 0;
		free(p->found.list);
	}
	free(search.parts);
	free(search.of);
}

void ut_view_matches_find(struct ut_view_matches *h, struct ut_view *v,
			  const struct ut_view_matches_ask *ask)
{
	*h = (struct ut_view_matches){ .tracks = ut_make((size_t)v->track_count + 1) };
	if (ask->query->by_self && !ask->query->self_least)
		stroll(h, v, ask);
	else
		search(h, v, ask);
	ut_view_matches_sort(h);
	h->list_count = h->list_count < ask->limit ? h->list_count : ask->limit;
}

void ut_view_matches_release(struct ut_view_matches *h)
{
	free(h->list);
	free(h->tracks);
	*h = (struct ut_view_matches){ 0 };
}
