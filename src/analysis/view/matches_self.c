/*
 * matches_self.c - hits by self time: a walk through the spans of a track, which nest.
 */
#include "view/matches_parts.h"

#include <stdlib.h>

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
	struct ut_view_search *search;
	struct ut_view_search_part *part;
	struct ended ended[ENDED];
};

/* A hit that says no more than that there is one, the last one so far: most are, of many. */
static inline bool is_one_more(struct ut_view_matches *h, const struct ut_view_matches_ask *ask,
			       struct ut_view_match match)
{
	bool is_before = ut_view_match_before(match, ask->here);

	if (!h->count || ut_view_match_before(match, h->first) ||
	    (ask->limit && (!h->is_full || !ut_view_match_before(h->bound, match))))
		return false;
	if (is_before ? !ut_view_match_before(match, h->previous)
		      : !h->has_next || !ut_view_match_before(h->next, match))
		return false;
	if (ut_view_match_before(h->last, match))
		h->last = match;
	h->count++;
	h->before += is_before;
	return true;
}

static struct ut_view_match match_at(const struct nest *n, uint64_t row)
{
	const struct ut_view_track *t = n->part->track;
	const struct ut_block *b = &t->rows->blocks[row / UT_BLOCK_ROWS];

	return (struct ut_view_match){ ut_view_time(t, b->ts[row % UT_BLOCK_ROWS]),
				       ut_view_id(n->search->view, t, row) };
}

/* One that ended is wanted, as far as its self time goes. */
static void take_ended(struct nest *n, const struct ended *g)
{
	const struct ut_view_matches_ask *ask = n->search->ask;
	const struct ut_view_track *t = n->part->track;
	const struct ut_block *b = &t->rows->blocks[g->row / UT_BLOCK_ROWS];
	struct ut_view_match match = match_at(n, g->row);
	struct ut_view_row row;

	if (!ask->query->types[ut_view_type(t, b->type[g->row % UT_BLOCK_ROWS])])
		return;
	if (!n->is_plain) {
		if (!ut_view_row(n->search->view, t, g->row, &row) ||
		    !ut_view_matches_has(ask, &row) ||
		    (ask->query->self_odd && !ut_search_query_self(ask->query, g->self)))
			return;
		n->part->found.total += row.end - row.start;
	}
	if (!is_one_more(&n->part->found, ask, match))
		ut_view_matches_keep_as_it_ends(&n->part->found, ask, match);
}

/* The same for many: rows are in order of time, so the first and the last one speak for all. */
static bool are_more(struct nest *n, uint32_t count)
{
	const struct ut_view_matches_ask *ask = n->search->ask;
	struct ut_view_matches *h = &n->part->found;
	uint64_t low = UINT64_MAX, high = 0;
	struct ut_view_match first, last;

	if (!count || !n->is_plain || !n->is_any_type || !h->has_next ||
	    (ask->limit && !h->is_full))
		return false;
	for (uint32_t i = 0; i < count; i++) {
		low = n->ended[i].row < low ? n->ended[i].row : low;
		high = n->ended[i].row > high ? n->ended[i].row : high;
	}
	first = match_at(n, low);
	last = match_at(n, high);
	if (!ut_view_match_before(ask->here, first) || !ut_view_match_before(h->next, first) ||
	    ut_view_match_before(first, h->first) ||
	    (ask->limit && !ut_view_match_before(h->bound, first)))
		return false;
	h->last = ut_view_match_before(h->last, last) ? last : h->last;
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
static inline void matches_self_leave(struct nest *n, struct walk *w)
{
	const struct going *g = &w->open[--w->depth];

	put_ended(n, w, (struct ended){ g->row, g->self });
}

static inline void leave_before(struct nest *n, struct walk *w, uint64_t start)
{
	while (w->depth && w->open[w->depth - 1].end <= start)
		matches_self_leave(n, w);
}

/* As open_span() of visit.c has it. */
static inline void matches_self_enter(struct nest *n, struct walk *w, uint64_t start, uint64_t end,
				      uint64_t row)
{
	uint64_t from = start;

	leave_before(n, w, start);
	while (w->depth && w->open[w->depth - 1].end < end) {
		w->open[w->depth - 1].self -= w->open[w->depth - 1].end - from;
		from = w->open[w->depth - 1].end;
		matches_self_leave(n, w);
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
	const uint8_t *classes = n->search->view->classes + t->first_type;
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
		matches_self_enter(n, &w, ts[i], end, base + i);
	}
	n->walk = w;
}

void ut_view_matches_search_self(void *ctx, size_t number)
{
	struct ut_view_search *h = ctx;
	struct ut_view_search_part *p = &h->parts[number];
	const struct ut_search_query *w = h->ask->query;
	struct nest n = { .search = h, .part = p };

	if (w->self_most < w->self_least)
		return;
	n.is_all_work = h->of[p->track->trace - h->view->traces].only_work;
	n.is_any_type = h->of[p->track->trace - h->view->traces].all_match;
	n.walk.least = w->self_least;
	n.walk.room = w->self_most - w->self_least;
	n.is_plain = !ut_view_matches_need_rows(h->ask) && !w->by_event && !w->self_odd;
	for (uint64_t row = p->first; row < p->last && !h->view->stopped;) {
		const struct ut_block *b = &p->track->rows->blocks[row / UT_BLOCK_ROWS];
		uint64_t base = row - row % UT_BLOCK_ROWS;
		uint64_t to = base + b->count < p->last ? base + b->count : p->last;

		hunt_block(&n, b, base, (uint32_t)(row - base), (uint32_t)(to - base));
		row = to;
	}
	while (n.walk.depth)
		matches_self_leave(&n, &n.walk);
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
void ut_view_matches_divide_nested(struct ut_view_search *h, const struct ut_view_track *t)
{
	uint64_t step = h->ask->part_rows ? h->ask->part_rows : UT_VIEW_SEARCH_ROWS;
	uint64_t first = 0, count = t->rows->count;
	const struct ut_lane *outer = t->lanes->count ? &t->lanes->lanes[0] : NULL;
	bool can_be_parted = outer && outer->kind == UT_LANE_SPANS;

	for (uint32_t i = 0; i < t->lanes->count; i++)
		can_be_parted &= t->lanes->lanes[i].kind != UT_LANE_OVERLAP;
	while (can_be_parted && count - first > step) {
		uint64_t last = outer->rows ? row_at(outer, first + step, count) : first + step;

		ut_view_matches_add_part(h, t, first, last);
		first = last;
	}
	if (first < count)
		ut_view_matches_add_part(h, t, first, count);
}
