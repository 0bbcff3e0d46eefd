#include "view/hits.h"

#include <stdlib.h>
#include <string.h>

#include "base/crew.h"
#include "base/grow.h"
#include "base/sort.h"
#include "text/out.h"
#include "view/answers.h"
#include "view/visit.h"

#define PART_ROWS ((uint64_t)64 * UT_BLOCK_ROWS) /* a million */
#define LIST_MOST 100000u

/* Some blocks of one track, and what was found in them. */
struct part {
	const struct ut_view_track *track;
	uint64_t first, last; /* rows */
	struct ut_hits found;
};

/* What the types of a trace are. */
struct kinds {
	bool unsaid;     /* there are wanted ones whose rows do not say how long they are */
	bool only_work;  /* none is anything else */
	bool all_wanted; /* every one */
};

struct hunt {
	struct ut_view *view;
	const struct ut_hits_ask *ask;
	struct kinds *of; /* of traces */
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

/* Some rows of a block. */
struct some {
	const struct ut_block *block;
	uint64_t base; /* row of the block's first one */
	uint32_t count;
	uint16_t at[UT_BLOCK_ROWS];
};

_Static_assert(UT_BLOCK_ROWS <= UINT16_MAX + 1, "places in a block have 16 bits");

static struct ut_hit hit_of(const struct hunt *h, const struct part *p, const struct some *s,
			    uint32_t i)
{
	return (struct ut_hit){ ut_view_time(p->track, s->block->ts[s->at[i]]),
				ut_view_id(h->view, p->track, s->base + s->at[i]) };
}

/*
 * All of them are hits. They are in order: where all are before here, or behind it, the first and
 * the last one say everything.
 */
static void keep_hits(const struct hunt *h, struct part *p, const struct some *s)
{
	const struct ut_hits_ask *ask = h->ask;
	struct ut_hits *to = &p->found;
	uint32_t i = 0, last = s->count - 1;
	bool is_before;

	while (i < s->count && (to->list_count < ask->limit || !to->count))
		keep_hit(to, ask, hit_of(h, p, s, i++));
	if (i >= s->count)
		return;
	is_before = ut_hit_before(hit_of(h, p, s, last), ask->here);
	if (!is_before && !ut_hit_before(ask->here, hit_of(h, p, s, i))) {
		while (i < s->count)
			keep_hit(to, ask, hit_of(h, p, s, i++));
		return;
	}
	to->count += last - i; /* all but the last: that one is kept as any other */
	to->before += is_before ? last - i : 0;
	if (!is_before && last > i &&
	    (!to->has_next || ut_hit_before(hit_of(h, p, s, i), to->next))) {
		to->next = hit_of(h, p, s, i);
		to->has_next = true;
	}
	keep_hit(to, ask, hit_of(h, p, s, last));
}

/* Is more than its type and length needed to tell? */
static bool needs_row(const struct ut_hits_ask *ask)
{
	return ask->scope->has_ranges || ask->wanted->by_more || ask->lengths;
}

static bool is_hit(const struct ut_hits_ask *ask, const struct ut_view_row *row)
{
	return ut_scope_touches(ask->scope, row->start, row->end) &&
	       (!ask->wanted->by_event || ut_wanted_row(ask->wanted, row));
}

/* One row after the other. */
static void look_at_each(struct hunt *h, struct part *p, const struct some *s)
{
	for (uint32_t i = 0; i < s->count; i++) {
		struct ut_view_row r;

		if (!ut_view_row(h->view, p->track, s->base + s->at[i], &r) || !is_hit(h->ask, &r))
			continue;
		p->found.total += r.end - r.start;
		keep_hit(&p->found, h->ask, hit_of(h, p, s, i));
	}
}

/* Rows of [from, to) that have a wanted type. No branches: which rows match nobody can foresee. */
static void pick_types(struct some *s, uint32_t from, uint32_t to, const uint8_t *wanted,
		       uint32_t types)
{
	const uint32_t *type = s->block->type;
	uint32_t n = 0;

	for (uint32_t i = from; i < to; i++) {
		s->at[n] = (uint16_t)i;
		n += wanted[type[i] < types ? type[i] : 0];
	}
	s->count = n;
}

/* The same, of types whose rows say how long they are, and of a wanted length. */
static void pick_lengths(struct some *s, uint32_t from, uint32_t to, const struct ut_wanted *w,
			 const uint8_t *wanted, uint32_t types)
{
	const uint64_t *val = s->block->val, least = w->shortest;
	const uint64_t room = w->longest >= least ? w->longest - least : 0;
	const uint32_t *type = s->block->type;
	uint32_t n = 0;

	for (uint32_t i = from; i < to && w->longest >= least; i++) {
		s->at[n] = (uint16_t)i;
		n += (val[i] - least <= room) & wanted[type[i] < types ? type[i] : 0];
	}
	s->count = n;
}

static void hunt_part(void *ctx, size_t number)
{
	struct hunt *h = ctx;
	struct part *p = &h->parts[number];
	const struct ut_wanted *w = h->ask->wanted;
	const struct ut_view_trace *t = p->track->trace;
	const uint8_t *wanted = w->types + t->first_type;
	uint32_t types = t->store->types.count;
	bool by_length = w->shortest > 0 || w->longest < UINT64_MAX;
	bool is_said = !h->of[t - h->view->traces].unsaid;
	struct some *s = ut_make(sizeof(*s));

	for (uint64_t row = p->first; row < p->last && !h->view->stopped;) {
		uint32_t from = (uint32_t)(row % UT_BLOCK_ROWS), to;

		s->block = &p->track->rows->blocks[row / UT_BLOCK_ROWS];
		s->base = row - from;
		to = s->base + s->block->count < p->last ? s->block->count
							 : (uint32_t)(p->last - s->base);
		if (by_length && is_said)
			pick_lengths(s, from, to, w, wanted, types);
		else
			pick_types(s, from, to, wanted, types);
		if (needs_row(h->ask) || (by_length && !is_said))
			look_at_each(h, p, s);
		else if (s->count)
			keep_hits(h, p, s);
		row = s->base + to;
	}
	free(s);
}

/* ---- all parts ------------------------------------------------------------------------------ */

static bool has_wanted_types(const struct hunt *h, const struct ut_view_trace *t)
{
	return t->store->types.count &&
	       memchr(h->ask->wanted->types + t->first_type, 1, t->store->types.count);
}

static void add_part(struct hunt *h, const struct ut_view_track *t, uint64_t first, uint64_t last)
{
	h->parts = ut_grow(h->parts, h->count + 1, &h->cap, sizeof(*h->parts));
	h->parts[h->count++] = (struct part){ .track = t, .first = first, .last = last };
}

/* Of a range only the rows in it, and before it those that may reach into it: all of them. */
static void divide(struct hunt *h, const struct ut_view_track *t)
{
	const struct ut_ask_scope *s = h->ask->scope;
	uint64_t rows = t->rows->count, step = h->ask->part_rows ? h->ask->part_rows : PART_ROWS;

	if (s->has_ranges)
		rows = s->range_count
			       ? ut_rows_find(t->rows,
					      ut_view_ts(t, s->ranges[s->range_count - 1].to))
			       : 0;
	for (uint64_t first = 0; first < rows; first += step)
		add_part(h, t, first, first + step < rows ? first + step : rows);
}

static void join(struct ut_hits *to, struct ut_hits *h)
{
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
	to->list =
		ut_grow(to->list, to->list_count + h->list_count, &to->list_cap, sizeof(*to->list));
	if (h->list_count)
		memcpy(to->list + to->list_count, h->list, h->list_count * sizeof(*h->list));
	to->list_count += h->list_count;
}

static void find_kinds(struct hunt *h)
{
	struct ut_view *v = h->view;

	h->of = ut_make((v->trace_count + 1) * sizeof(*h->of));
	for (size_t i = 0; i < v->trace_count; i++) {
		const struct ut_view_trace *t = &v->traces[i];

		h->of[i].only_work = h->of[i].all_wanted = true;
		for (uint32_t n = t->first_type; n < t->first_type + t->store->types.count; n++) {
			bool said = v->classes[n] == UT_CLASS_WORK ||
				    v->classes[n] == UT_CLASS_ASIDE ||
				    v->classes[n] == UT_CLASS_NOT_WORK;

			h->of[i].unsaid |= h->ask->wanted->types[n] && !said;
			h->of[i].only_work &= v->classes[n] == UT_CLASS_WORK;
			h->of[i].all_wanted &= h->ask->wanted->types[n] != 0;
		}
	}
}

static int in_order(const void *a, const void *b)
{
	const struct ut_hit *x = a, *y = b;

	return ut_hit_before(*x, *y) ? -1 : ut_hit_before(*y, *x);
}

/* ---- by self time --------------------------------------------------------------------------- */

/* A span that is going on. What it keeps when it is over does not lie together: members that are
 * read as one while the last of them is still on its way to memory cost more than all else. */
struct going {
	uint64_t row, end, self;
};

/* One that is over. */
struct ended {
	uint64_t row, self;
};

#define ENDED 256u /* of a wanted self time that are looked at together */

/* Where a walk is: in registers while it goes through a block. */
struct walk {
	struct going *open; /* the outermost first; ends never grow */
	size_t depth;
	uint32_t ended;       /* how many */
	uint64_t least, room; /* of self times: wanted are those of least to least + room */
};

struct nest {
	struct walk walk;
	size_t cap;       /* of those that go on */
	bool is_plain;    /* self time and type say whether it is a hit */
	bool is_all_work; /* no type of the trace is anything else */
	bool is_any_type; /* all of them are wanted */
	struct hunt *hunt;
	struct part *part;
	struct ended ended[ENDED];
};

/* Hits come as they end: the list is put in order whenever it is long, and has no use from then on
 * for what is behind its last. */
static void keep_as_it_ends(struct ut_hits *h, const struct ut_hits_ask *ask, struct ut_hit hit)
{
	struct ut_hits_ask roomy = *ask;

	roomy.limit = ask->limit ? ask->limit + ask->limit / 4 + 64 : 0;
	if (h->is_full && ut_hit_before(h->bound, hit))
		roomy.limit = 0;
	keep_hit(h, &roomy, hit);
	if (!roomy.limit || h->list_count < roomy.limit)
		return;
	ut_sort(h->list, h->list_count, sizeof(*h->list), in_order);
	h->list_count = ask->limit;
	h->bound = h->list[ask->limit - 1];
	h->is_full = true;
}

/* A hit that says no more than that there is one, the last one so far: most are, of many. */
static inline bool is_one_more(struct ut_hits *h, const struct ut_hits_ask *ask, struct ut_hit hit)
{
	bool is_before = ut_hit_before(hit, ask->here);

	if (!h->count || ut_hit_before(hit, h->first) ||
	    (ask->limit && (!h->is_full || !ut_hit_before(h->bound, hit))))
		return false;
	if (is_before ? !ut_hit_before(hit, h->previous)
		      : !h->has_next || !ut_hit_before(h->next, hit))
		return false;
	if (ut_hit_before(h->last, hit))
		h->last = hit;
	h->count++;
	h->before += is_before;
	return true;
}

static struct ut_hit hit_at(const struct nest *n, uint64_t row)
{
	const struct ut_view_track *t = n->part->track;
	const struct ut_block *b = &t->rows->blocks[row / UT_BLOCK_ROWS];

	return (struct ut_hit){ ut_view_time(t, b->ts[row % UT_BLOCK_ROWS]),
				ut_view_id(n->hunt->view, t, row) };
}

/* One that ended is wanted, as far as its self time goes. */
static void take_ended(struct nest *n, const struct ended *g)
{
	const struct ut_hits_ask *ask = n->hunt->ask;
	const struct ut_view_track *t = n->part->track;
	const struct ut_block *b = &t->rows->blocks[g->row / UT_BLOCK_ROWS];
	struct ut_hit hit = hit_at(n, g->row);
	struct ut_view_row row;

	if (!ask->wanted->types[ut_view_type(t, b->type[g->row % UT_BLOCK_ROWS])])
		return;
	if (!n->is_plain) {
		if (!ut_view_row(n->hunt->view, t, g->row, &row) || !is_hit(ask, &row) ||
		    (ask->wanted->self_odd && !ut_wanted_self(ask->wanted, g->self)))
			return;
		n->part->found.total += row.end - row.start;
	}
	if (!is_one_more(&n->part->found, ask, hit))
		keep_as_it_ends(&n->part->found, ask, hit);
}

/* The same for many: rows are in order of time, so the first and the last one speak for all. */
static bool are_more(struct nest *n, uint32_t count)
{
	const struct ut_hits_ask *ask = n->hunt->ask;
	struct ut_hits *h = &n->part->found;
	uint64_t low = UINT64_MAX, high = 0;
	struct ut_hit first, last;

	if (!count || !n->is_plain || !n->is_any_type || !h->has_next ||
	    (ask->limit && !h->is_full))
		return false;
	for (uint32_t i = 0; i < count; i++) {
		low = n->ended[i].row < low ? n->ended[i].row : low;
		high = n->ended[i].row > high ? n->ended[i].row : high;
	}
	first = hit_at(n, low);
	last = hit_at(n, high);
	if (!ut_hit_before(ask->here, first) || !ut_hit_before(h->next, first) ||
	    ut_hit_before(first, h->first) || (ask->limit && !ut_hit_before(h->bound, first)))
		return false;
	h->last = ut_hit_before(h->last, last) ? last : h->last;
	h->count += count;
	return true;
}

static void take_all_ended(struct nest *n, uint32_t count)
{
	for (uint32_t i = 0; !are_more(n, count) && i < count; i++)
		take_ended(n, &n->ended[i]);
}

/* Without a branch: whose self time is a wanted one nobody can foresee. */
static inline void put_ended(struct nest *n, struct walk *w, struct ended one)
{
	n->ended[w->ended] = one;
	w->ended += one.self - w->least <= w->room;
	if (w->ended < ENDED)
		return;
	take_all_ended(n, w->ended);
	w->ended = 0;
}

/* The innermost has ended. */
static inline void leave(struct nest *n, struct walk *w)
{
	const struct going *g = &w->open[--w->depth];

	put_ended(n, w, (struct ended){ g->row, g->self });
}

static inline void leave_before(struct nest *n, struct walk *w, uint64_t start)
{
	while (w->depth && w->open[w->depth - 1].end <= start)
		leave(n, w);
}

/* As open_span() of visit.c has it. */
static inline void enter(struct nest *n, struct walk *w, uint64_t start, uint64_t end, uint64_t row)
{
	uint64_t from = start;

	leave_before(n, w, start);
	while (w->depth && w->open[w->depth - 1].end < end) {
		w->open[w->depth - 1].self -= w->open[w->depth - 1].end - from;
		from = w->open[w->depth - 1].end;
		leave(n, w);
	}
	if (w->depth)
		w->open[w->depth - 1].self -= end - from;
	if (w->depth == n->cap)
		w->open = ut_grow(w->open, w->depth + 1, &n->cap, sizeof(*w->open));
	w->open[w->depth++] = (struct going){ row, end, end - start };
}

/*
 * A span in which nothing begins, as most are: its self time is its length, and it need not be kept
 * until it ends. False if it is none that nests in those that go on.
 */
static inline bool pass(struct nest *n, struct walk *w, uint64_t start, uint64_t end, uint64_t row)
{
	leave_before(n, w, start);
	if (w->depth && w->open[w->depth - 1].end < end)
		return false;
	if (w->depth)
		w->open[w->depth - 1].self -= end - start;
	put_ended(n, w, (struct ended){ row, end - start });
	return true;
}

/* Rows [from, to) of a block. Only what is work has self time: no other row is looked at but for
 * its type. */
static void hunt_block(struct nest *n, const struct ut_block *b, uint64_t base, uint32_t from,
		       uint32_t to)
{
	const struct ut_view_trace *t = n->part->track->trace;
	const uint8_t *classes = n->hunt->view->classes + t->first_type;
	const uint64_t *ts = b->ts, *val = b->val;
	const uint32_t *type = b->type, types = t->store->types.count;
	struct walk w = n->walk;
	bool all = n->is_all_work;

	for (uint32_t i = from; i < to; i++) {
		uint64_t end = ts[i] + val[i];

		if (!all && classes[type[i] < types ? type[i] : 0] != UT_CLASS_WORK)
			continue;
		end = end < ts[i] ? UINT64_MAX : end;
		if (i + 1 < to && ts[i + 1] >= end && pass(n, &w, ts[i], end, base + i))
			continue;
		enter(n, &w, ts[i], end, base + i);
	}
	n->walk = w;
}

static void hunt_self(void *ctx, size_t number)
{
	struct hunt *h = ctx;
	struct part *p = &h->parts[number];
	const struct ut_wanted *w = h->ask->wanted;
	struct nest n = { .hunt = h, .part = p };

	if (w->self_most < w->self_least)
		return;
	n.is_all_work = h->of[p->track->trace - h->view->traces].only_work;
	n.is_any_type = h->of[p->track->trace - h->view->traces].all_wanted;
	n.walk.least = w->self_least;
	n.walk.room = w->self_most - w->self_least;
	n.is_plain = !needs_row(h->ask) && !w->by_event && !w->self_odd;
	for (uint64_t row = p->first; row < p->last && !h->view->stopped;) {
		const struct ut_block *b = &p->track->rows->blocks[row / UT_BLOCK_ROWS];
		uint64_t base = row - row % UT_BLOCK_ROWS;
		uint64_t to = base + b->count < p->last ? base + b->count : p->last;

		hunt_block(&n, b, base, (uint32_t)(row - base), (uint32_t)(to - base));
		row = to;
	}
	while (n.walk.depth)
		leave(&n, &n.walk);
	take_all_ended(&n, n.walk.ended);
	free(n.walk.open);
}

/* Of a lane that lists its rows: the first at or behind a row; the track's count if there is none.
 */
static uint64_t row_at(const struct ut_lane *l, uint64_t row, uint64_t count)
{
	uint64_t low = 0, high = l->count;

	while (low < high) {
		uint64_t mid = low + (high - low) / 2;

		if (l->rows[mid] < row)
			low = mid + 1;
		else
			high = mid;
	}
	return low < l->count ? l->rows[low] : count;
}

/*
 * Where an outermost span begins, nothing before it goes on: a track can be parted there, unless
 * spans of it overlap. Where lanes list no rows, there is but one.
 */
static void divide_nested(struct hunt *h, const struct ut_view_track *t)
{
	uint64_t step = h->ask->part_rows ? h->ask->part_rows : PART_ROWS;
	uint64_t first = 0, count = t->rows->count;
	const struct ut_lane *outer = t->lanes->count ? &t->lanes->lanes[0] : NULL;
	bool can_be_parted = outer && outer->kind == UT_LANE_SPANS;

	for (uint32_t i = 0; i < t->lanes->count; i++)
		can_be_parted &= t->lanes->lanes[i].kind != UT_LANE_OVERLAP;
	while (can_be_parted && count - first > step) {
		uint64_t last = outer->rows ? row_at(outer, first + step, count) : first + step;

		add_part(h, t, first, last);
		first = last;
	}
	if (first < count)
		add_part(h, t, first, count);
}

/* One of several who go through the tracks. */
struct stroll {
	struct ut_hits hits;
	const struct ut_view *view;
	const struct ut_hits_ask *ask;
};

static void keep_visit(void *ctx, const struct ut_visit *visit)
{
	struct stroll *s = ctx;
	const struct ut_view_row *row = visit->row;
	struct ut_hits *h = &s->hits;

	if (!ut_scope_touches(s->ask->scope, row->start, row->end))
		return;
	h->tracks[row->track - s->view->tracks] = 1;
	h->total += row->end - row->start;
	keep_as_it_ends(h, s->ask,
			(struct ut_hit){ row->start, ut_view_id(s->view, row->track, row->row) });
}

/* Where what has no self time is wanted as well. A walk knows self times of whole slices without
 * ranges. */
static void stroll(struct ut_hits *to, struct ut_view *v, const struct ut_hits_ask *ask)
{
	size_t crew = ut_crew_size(v->threads, v->track_count);
	struct stroll *all = ut_make(crew * sizeof(*all));
	void **ctxs = ut_make(crew * sizeof(*ctxs));
	struct ut_ask_scope whole = *ask->scope;

	whole.has_ranges = false;
	whole.range_count = 0;
	for (size_t i = 0; i < crew; i++) {
		struct stroll *s = &all[i];

		*s = (struct stroll){ .view = v, .ask = ask };
		s->hits.tracks = ut_make((size_t)v->track_count + 1);
		ctxs[i] = s;
	}
	ut_view_walk_shared(v, &whole, ask->wanted, keep_visit, ctxs, crew);
	for (size_t i = 0; i < crew; i++) {
		join(to, &all[i].hits);
		for (uint32_t t = 0; t < v->track_count; t++)
			to->tracks[t] |= all[i].hits.tracks[t];
		ut_hits_release(&all[i].hits);
	}
	free(ctxs);
	free(all);
}

/* ---- finding -------------------------------------------------------------------------------- */

static void hunt(struct ut_hits *to, struct ut_view *v, const struct ut_hits_ask *ask)
{
	struct hunt hunt = { .view = v, .ask = ask };
	bool by_self = ask->wanted->by_self;

	find_kinds(&hunt);
	for (uint32_t i = 0; i < v->track_count; i++) {
		if (!ask->wanted->tracks[i] || !has_wanted_types(&hunt, v->tracks[i].trace))
			continue;
		if (by_self)
			divide_nested(&hunt, &v->tracks[i]);
		else
			divide(&hunt, &v->tracks[i]);
	}
	ut_crew_each(ut_crew_size(v->threads, hunt.count), hunt.count,
		     by_self ? hunt_self : hunt_part, &hunt);
	for (size_t i = 0; i < hunt.count; i++) {
		struct part *p = &hunt.parts[i];

		join(to, &p->found);
		to->tracks[p->track - v->tracks] |= p->found.count > 0;
		free(p->found.list);
	}
	free(hunt.parts);
	free(hunt.of);
}

void ut_hits_find(struct ut_hits *h, struct ut_view *v, const struct ut_hits_ask *ask)
{
	*h = (struct ut_hits){ .tracks = ut_make((size_t)v->track_count + 1) };
	if (ask->wanted->by_self && !ask->wanted->self_least)
		stroll(h, v, ask);
	else
		hunt(h, v, ask);
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
