/*
 * matches_rows.c - hits by type and length: the columns of a block are gone through, rows are
 * looked at only where those do not tell.
 */
#include "view/matches_parts.h"

#include <stdlib.h>

/* Some rows of a block. */
struct some {
	const struct ut_block *block;
	uint64_t base; /* row of the block's first one */
	uint32_t count;
	uint16_t at[UT_BLOCK_ROWS];
};

_Static_assert(UT_BLOCK_ROWS <= UINT16_MAX + 1, "places in a block have 16 bits");

static struct ut_view_match match_of(const struct ut_view_search *h,
				     const struct ut_view_search_part *p, const struct some *s,
				     uint32_t i)
{
	return (struct ut_view_match){ ut_view_time(p->track, s->block->ts[s->at[i]]),
				       ut_view_id(h->view, p->track, s->base + s->at[i]) };
}

/*
 * All of them are hits. They are in order: where all are before here, or behind it, the first and
 * the last one say everything.
 */
static void keep_matches(const struct ut_view_search *h, struct ut_view_search_part *p,
			 const struct some *s)
{
	const struct ut_view_matches_ask *ask = h->ask;
	struct ut_view_matches *to = &p->found;
	uint32_t i = 0, last = s->count - 1;
	bool is_before;

	while (i < s->count && (to->list_count < ask->limit || !to->count))
		ut_view_matches_keep(to, ask, match_of(h, p, s, i++));
	if (i >= s->count)
		return;
	is_before = ut_view_match_before(match_of(h, p, s, last), ask->here);
	if (!is_before && !ut_view_match_before(ask->here, match_of(h, p, s, i))) {
		while (i < s->count)
			ut_view_matches_keep(to, ask, match_of(h, p, s, i++));
		return;
	}
	to->count += last - i; /* all but the last: that one is kept as any other */
	to->before += is_before ? last - i : 0;
	if (!is_before && last > i &&
	    (!to->has_next || ut_view_match_before(match_of(h, p, s, i), to->next))) {
		to->next = match_of(h, p, s, i);
		to->has_next = true;
	}
	ut_view_matches_keep(to, ask, match_of(h, p, s, last));
}

/* One row after the other. */
static void look_at_each(struct ut_view_search *h, struct ut_view_search_part *p,
			 const struct some *s)
{
	for (uint32_t i = 0; i < s->count; i++) {
		struct ut_view_row r;

		if (!ut_view_row(h->view, p->track, s->base + s->at[i], &r) ||
		    !ut_view_matches_has(h->ask, &r))
			continue;
		p->found.total += r.end - r.start;
		ut_view_matches_keep(&p->found, h->ask, match_of(h, p, s, i));
	}
}

/* Rows of [from, to) that have a wanted type. No branches: which rows match nobody can foresee. */
static void pick_types(struct some *s, uint32_t from, uint32_t to, const uint8_t *query,
		       uint32_t types)
{
	const uint32_t *type = s->block->type;
	uint32_t n = 0;

	for (uint32_t i = from; i < to; i++) {
		s->at[n] = (uint16_t)i;
		n += query[type[i] < types ? type[i] : 0];
	}
	s->count = n;
}

/* The same, of types whose rows say how long they are, and of a wanted length. */
static void pick_lengths(struct some *s, uint32_t from, uint32_t to,
			 const struct ut_search_query *w, const uint8_t *query, uint32_t types)
{
	const uint64_t *val = s->block->val, least = w->shortest;
	const uint64_t room = w->longest >= least ? w->longest - least : 0;
	const uint32_t *type = s->block->type;
	uint32_t n = 0;

	for (uint32_t i = from; i < to && w->longest >= least; i++) {
		s->at[n] = (uint16_t)i;
		n += (val[i] - least <= room) & query[type[i] < types ? type[i] : 0];
	}
	s->count = n;
}

void ut_view_matches_search_rows(void *ctx, size_t number)
{
	struct ut_view_search *h = ctx;
	struct ut_view_search_part *p = &h->parts[number];
	const struct ut_search_query *w = h->ask->query;
	const struct ut_view_trace *t = p->track->trace;
	const uint8_t *query = w->types + t->first_type;
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
			pick_lengths(s, from, to, w, query, types);
		else
			pick_types(s, from, to, query, types);
		if (ut_view_matches_need_rows(h->ask) || (by_length && !is_said))
			look_at_each(h, p, s);
		else if (s->count)
			keep_matches(h, p, s);
		row = s->base + to;
	}
	free(s);
}

/* Of a range only the rows in it, and before it those that may reach into it: all of them. */
void ut_view_matches_divide(struct ut_view_search *h, const struct ut_view_track *t)
{
	const struct ut_ask_scope *s = h->ask->scope;
	uint64_t rows = t->rows->count,
		 step = h->ask->part_rows ? h->ask->part_rows : UT_VIEW_SEARCH_ROWS;

	if (s->has_ranges)
		rows = s->range_count
			       ? ut_rows_find(t->rows,
					      ut_view_ts(t, s->ranges[s->range_count - 1].to))
			       : 0;
	for (uint64_t first = 0; first < rows; first += step)
		ut_view_matches_add_part(h, t, first, first + step < rows ? first + step : rows);
}
