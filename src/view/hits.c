#include "view/hits.h"

#include <stdlib.h>
#include <string.h>

#include "base/crew.h"
#include "base/grow.h"
#include "base/sort.h"
#include "text/out.h"
#include "view/answers.h"
#include "view/visit.h"

#define PART_BLOCKS 64u /* of rows: a million */
#define LIST_MOST   100000u

/* Some blocks of one track, and what was found in them. */
struct part {
	const struct ut_view_track *track;
	uint64_t first, last; /* rows */
	struct ut_hits found;
};

struct hunt {
	struct ut_view *view;
	const struct ut_hits_ask *ask;
	struct part *parts;
	size_t count, cap;
};

/* ---- one part ------------------------------------------------------------------------------- */

static void keep_hit(struct ut_hits *h, const struct ut_hits_ask *ask, struct ut_hit hit)
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
	if (h->list_count < ask->limit) { /* rows of a track come in order of time */
		h->list = ut_grow(h->list, h->list_count + 1, &h->list_cap, sizeof(*h->list));
		h->list[h->list_count++] = hit;
	}
}

/* Is more than its type needed to tell? */
static bool needs_row(const struct ut_hits_ask *ask)
{
	return ask->scope->has_ranges || ask->wanted->by_event || ask->lengths;
}

static bool is_hit(const struct ut_hits_ask *ask, const struct ut_view_row *row)
{
	return ut_scope_touches(ask->scope, row->start, row->end) &&
	       (!ask->wanted->by_event || ut_wanted_row(ask->wanted, row));
}

static void look_at(struct hunt *h, struct part *p, uint64_t row, uint64_t ts)
{
	struct ut_hit hit = { ut_view_time(p->track, ts), ut_view_id(h->view, p->track, row) };
	struct ut_view_row r;

	if (needs_row(h->ask)) {
		if (!ut_view_row(h->view, p->track, row, &r) || !is_hit(h->ask, &r))
			return;
		p->found.total += r.end - r.start;
	}
	keep_hit(&p->found, h->ask, hit);
}

static void hunt_part(void *ctx, size_t number)
{
	struct hunt *h = ctx;
	struct part *p = &h->parts[number];
	const struct ut_view_trace *t = p->track->trace;
	const uint8_t *wanted = h->ask->wanted->types + t->first_type;
	uint32_t types = t->store->types.count;

	for (uint64_t row = p->first; row < p->last && !h->view->stopped;) {
		const struct ut_block *b = &p->track->rows->blocks[row / UT_BLOCK_ROWS];
		uint64_t base = row - row % UT_BLOCK_ROWS;
		uint64_t end = base + b->count < p->last ? base + b->count : p->last;

		for (; row < end; row++) {
			uint32_t type = b->type[row - base];

			if (wanted[type < types ? type : 0])
				look_at(h, p, row, b->ts[row - base]);
		}
	}
}

/* ---- all parts ------------------------------------------------------------------------------ */

static bool has_wanted_types(const struct hunt *h, const struct ut_view_trace *t)
{
	return t->store->types.count &&
	       memchr(h->ask->wanted->types + t->first_type, 1, t->store->types.count);
}

/* Of a range only the rows in it, and before it those that may reach into it: all of them. */
static void divide(struct hunt *h, const struct ut_view_track *t)
{
	const struct ut_ask_scope *s = h->ask->scope;
	uint64_t rows = t->rows->count, step = (uint64_t)PART_BLOCKS * UT_BLOCK_ROWS;

	if (s->has_ranges)
		rows = s->range_count
			       ? ut_view_lower(t->rows,
					       ut_view_ts(t, s->ranges[s->range_count - 1].to))
			       : 0;
	for (uint64_t first = 0; first < rows; first += step) {
		h->parts = ut_grow(h->parts, h->count + 1, &h->cap, sizeof(*h->parts));
		h->parts[h->count++] =
			(struct part){ .track = t,
				       .first = first,
				       .last = first + step < rows ? first + step : rows };
	}
}

static void join(struct ut_hits *to, const struct ut_view *v, struct part *p)
{
	struct ut_hits *h = &p->found;

	if (!h->count)
		return;
	if (!to->count || ut_hit_before(h->first, to->first))
		to->first = h->first;
	if (!to->count || ut_hit_before(to->last, h->last))
		to->last = h->last;
	if (h->has_previous && (!to->has_previous || ut_hit_before(to->previous, h->previous)))
		to->previous = h->previous;
	if (h->has_next && (!to->has_next || ut_hit_before(h->next, to->next)))
		to->next = h->next;
	to->has_previous |= h->has_previous;
	to->has_next |= h->has_next;
	to->count += h->count;
	to->before += h->before;
	to->total += h->total;
	to->tracks[p->track - v->tracks] = 1;
	to->list =
		ut_grow(to->list, to->list_count + h->list_count, &to->list_cap, sizeof(*to->list));
	if (h->list_count)
		memcpy(to->list + to->list_count, h->list, h->list_count * sizeof(*h->list));
	to->list_count += h->list_count;
}

static int in_order(const void *a, const void *b)
{
	const struct ut_hit *x = a, *y = b;

	return ut_hit_before(*x, *y) ? -1 : ut_hit_before(*y, *x);
}

/* ---- by self time --------------------------------------------------------------------------- */

struct stroll {
	struct ut_hits *hits;
	const struct ut_view *view;
	struct ut_hits_ask ask;
	const struct ut_ask_scope *scope;
	size_t limit;
};

/* Slices of a walk come as they end: the list is put in order whenever it is long. */
static void keep_visit(void *ctx, const struct ut_visit *visit)
{
	struct stroll *s = ctx;
	const struct ut_view_row *row = visit->row;
	struct ut_hits *h = s->hits;

	if (!ut_scope_touches(s->scope, row->start, row->end))
		return;
	h->tracks[row->track - s->view->tracks] = 1;
	h->total += row->end - row->start;
	keep_hit(h, &s->ask,
		 (struct ut_hit){ row->start, ut_view_id(s->view, row->track, row->row) });
	if (h->list_count < s->ask.limit)
		return;
	ut_sort(h->list, h->list_count, sizeof(*h->list), in_order);
	h->list_count = s->limit;
}

/* The self time of a whole slice is known only to a walk, and there without ranges. */
static void stroll(struct ut_hits *h, struct ut_view *v, const struct ut_hits_ask *ask)
{
	struct stroll s = { .hits = h, .view = v, .ask = *ask, .scope = ask->scope };
	struct ut_ask_scope whole = *ask->scope;

	whole.has_ranges = false;
	whole.range_count = 0;
	s.limit = ask->limit;
	s.ask.limit = ask->limit ? ask->limit * 4 + 64 : 0;
	ut_view_walk(v, &whole, ask->wanted, keep_visit, &s);
}

/* ---- finding -------------------------------------------------------------------------------- */

void ut_hits_find(struct ut_hits *h, struct ut_view *v, const struct ut_hits_ask *ask)
{
	struct hunt hunt = { .view = v, .ask = ask };

	*h = (struct ut_hits){ .tracks = ut_make((size_t)v->track_count + 1) };
	if (ask->wanted->by_self)
		stroll(h, v, ask);
	for (uint32_t i = 0; i < v->track_count && !ask->wanted->by_self; i++) {
		if (ask->wanted->tracks[i] && has_wanted_types(&hunt, v->tracks[i].trace))
			divide(&hunt, &v->tracks[i]);
	}
	ut_crew_each(ut_crew_size(v->threads, hunt.count), hunt.count, hunt_part, &hunt);
	for (size_t i = 0; i < hunt.count; i++) {
		join(h, v, &hunt.parts[i]);
		free(hunt.parts[i].found.list);
	}
	free(hunt.parts);
	ut_sort(h->list, h->list_count, sizeof(*h->list), in_order);
	h->list_count = h->list_count < ask->limit ? h->list_count : ask->limit;
}

void ut_hits_release(struct ut_hits *h)
{
	free(h->list);
	free(h->tracks);
	*h = (struct ut_hits){ 0 };
}

/* ---- answers -------------------------------------------------------------------------------- */

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
