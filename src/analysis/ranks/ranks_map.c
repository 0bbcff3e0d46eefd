/* ranks_map.c - see ranks_map.h. */
#include "ranks/ranks_map.h"

#include <stdlib.h>

#include "base/grow.h"
#include "base/sort.h"
#include "ranks/ranks_parts.h"

static uint32_t ranks_of_place(size_t ranks, size_t most_places)
{
	size_t each = most_places ? (ranks + most_places - 1) / most_places : ranks;

	return each ? (uint32_t)each : 1;
}

/* ---- along the run ------------------------------------------------------------------------- */

struct course {
	const struct ut_ranks *ranks;
	struct ut_rank_course *c;
	uint64_t *useful; /* of the rank that is looked at, piece by piece */
	size_t piece;     /* the first that the next stretch may touch: they come in order */
	size_t row;       /* where the place of the rank begins */
	const struct ut_rank *one;
};

/* A stretch of one kind, which may reach over several pieces. */
static void spend(struct course *k, enum ut_rank_spent kind, uint64_t begin, uint64_t end)
{
	struct ut_rank_course *c = k->c;

	while (k->piece + 1 < c->pieces && ut_rank_course_edge(c, k->piece + 1) <= begin)
		k->piece++;
	for (size_t i = k->piece; begin < end; i++) {
		uint64_t edge = i + 1 < c->pieces ? ut_rank_course_edge(c, i + 1) : end;
		uint64_t until = edge < end ? edge : end;

		if (until <= begin)
			continue;
		c->time[kind][k->row + i] += until - begin;
		if (kind == UT_RANK_USEFUL)
			k->useful[i] += until - begin;
		begin = until;
	}
}

static void take_piece(void *ctx, const struct ut_rank_piece *p)
{
	struct course *k = ctx;
	uint64_t waited;

	if (!p->call) {
		spend(k, UT_RANK_USEFUL, p->begin, p->end);
		return;
	}
	waited = p->call->begin + ut_rank_more(k->one, p->call)->wait;
	waited = waited < p->begin ? p->begin : waited > p->end ? p->end : waited;
	spend(k, UT_RANK_WAITING, p->begin, waited);
	spend(k,
	      ut_rank_communicates(ut_rank_shape(k->one, p->call)->use) ? UT_RANK_TRANSFER
									: UT_RANK_OTHER_CALLS,
	      waited, p->end);
}

static void compare_useful(struct course *k, uint32_t rank)
{
	struct ut_rank_course *c = k->c;

	for (size_t i = 0; i < c->pieces; i++) {
		uint64_t useful = k->useful[i];

		if (!rank || useful < c->least[i])
			c->least[i] = useful;
		if (!rank || useful > c->most[i]) {
			c->most[i] = useful;
			c->most_rank[i] = rank;
		}
		c->mean[i] += (double)useful / (double)k->ranks->count;
		k->useful[i] = 0;
	}
}

void ut_ranks_course(const struct ut_ranks *r, size_t pieces, size_t most_places,
		     struct ut_rank_course *c)
{
	struct course k = { .ranks = r, .c = c };

	*c = (struct ut_rank_course){ .from = r->start, .to = r->stop, .pieces = pieces };
	c->each = ranks_of_place(r->count, most_places);
	c->places = (r->count + c->each - 1) / c->each;
	for (int i = 0; i < UT_RANK_SPENT; i++)
		c->time[i] = ut_make((c->places * pieces + 1) * sizeof(*c->time[i]));
	c->least = ut_make((pieces + 1) * sizeof(*c->least));
	c->most = ut_make((pieces + 1) * sizeof(*c->most));
	c->mean = ut_make((pieces + 1) * sizeof(*c->mean));
	c->most_rank = ut_make((pieces + 1) * sizeof(*c->most_rank));
	k.useful = ut_make((pieces + 1) * sizeof(*k.useful));
	for (uint32_t i = 0; i < r->count; i++) {
		k.row = i / c->each * pieces;
		k.piece = 0;
		k.one = &r->items[i];
		ut_rank_walk(&r->items[i], r->items[i].start, r->items[i].stop, take_piece, &k);
		compare_useful(&k, i);
	}
	free(k.useful);
}

void ut_rank_course_release(struct ut_rank_course *c)
{
	for (int i = 0; i < UT_RANK_SPENT; i++)
		free(c->time[i]);
	free(c->least);
	free(c->most);
	free(c->mean);
	free(c->most_rank);
	*c = (struct ut_rank_course){ 0 };
}

/* ---- who does what to whom ----------------------------------------------------------------- */

static struct ut_rank_field *field_of(struct ut_rank_map *m, struct ut_rank_keys *keys,
				      uint32_t from, uint32_t to)
{
	size_t row = ut_rank_keys_row(keys, from / m->each, to / m->each, 0, 0);
	struct ut_rank_field *f;

	m->fields = ut_grow(m->fields, row + 1, &m->cap, sizeof(*m->fields));
	m->count = keys->count;
	f = &m->fields[row];
	f->from = from / m->each;
	f->to = to / m->each;
	return f;
}

static void take_wait(struct ut_rank_field *f, const struct ut_rank_call *c,
		      const struct ut_rank_more *w, uint32_t waiter)
{
	f->waiting += w->wait;
	if (w->wait <= f->longest)
		return;
	f->longest = w->wait;
	f->begin = c->begin;
	f->end = c->end;
	f->waiter = waiter;
	f->waited_for = w->waited_for;
}

static int by_field(const void *a, const void *b)
{
	const struct ut_rank_field *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->to > y->to) - (x->to < y->to);
}

/* Messages to ranks that were not recorded have no place. */
static void take_pair(struct ut_rank_map *m, struct ut_rank_keys *keys, const struct ut_ranks *r,
		      const struct ut_rank_pair *p)
{
	uint32_t from = ut_ranks_find(r, p->from), to = ut_ranks_find(r, p->to);
	struct ut_rank_field *f;

	if (from == UT_RANK_NOBODY || to == UT_RANK_NOBODY)
		return;
	f = field_of(m, keys, from, to);
	f->messages += p->messages;
	f->bytes += p->bytes;
	f->wait += p->wait;
}

void ut_ranks_map(const struct ut_ranks *r, const struct ut_rank_sums *s, size_t most_places,
		  struct ut_rank_map *m)
{
	struct ut_rank_keys keys = { 0 };

	*m = (struct ut_rank_map){ .each = ranks_of_place(r->count, most_places) };
	m->places = (r->count + m->each - 1) / m->each;
	for (size_t i = 0; i < s->pair_count; i++)
		take_pair(m, &keys, r, &s->pairs[i]);
	for (uint32_t i = 0; i < r->count; i++) {
		for (size_t k = 0; k < r->items[i].call_count; k++) {
			const struct ut_rank_call *c = &r->items[i].calls[k];
			const struct ut_rank_more *w = ut_rank_more(&r->items[i], c);

			if (w->wait && w->waited_for != UT_RANK_ABSENT &&
			    !ut_rank_shape(&r->items[i], c)->side)
				take_wait(field_of(m, &keys, w->waited_for, i), c, w, i);
		}
	}
	ut_sort(m->fields, m->count, sizeof(*m->fields), by_field);
	ut_rank_keys_release(&keys);
}

void ut_rank_map_release(struct ut_rank_map *m)
{
	free(m->fields);
	*m = (struct ut_rank_map){ 0 };
}
