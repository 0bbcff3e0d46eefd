/* ranks_pop.c - see ranks_pop.h. */
#include "ranks/ranks_pop.h"

#include <stdlib.h>

#include "base/grow.h"

/* A rank while its calls are played again: begin and end of each, one after the other. */
struct player {
	size_t call, end; /* next call, and the first of its ends */
	bool inside;      /* the end of that call comes next */
	uint64_t left;    /* when the last call ended, by the clock */
	uint64_t now;     /* when it would be on an ideal network */
};

struct play {
	struct ut_ranks *ranks;
	struct player *players;
	uint64_t **entered; /* of each rank, of each call */
	uint32_t *heap;     /* ranks, by the time of their next moment */
	size_t heap_count;
};

/* ---- who is next --------------------------------------------------------------------------- */

static bool plays(const struct ut_rank *one, const struct ut_rank_call *c)
{
	return !c->side && c->begin >= one->start && c->begin < one->stop;
}

static void skip_side(const struct play *p, uint32_t rank)
{
	const struct ut_rank *one = &p->ranks->items[rank];
	struct player *me = &p->players[rank];

	while (me->call < one->call_count && !plays(one, &one->calls[me->call]))
		me->call++;
}

static uint64_t next_moment(const struct play *p, uint32_t rank)
{
	const struct player *me = &p->players[rank];
	const struct ut_rank_call *c = &p->ranks->items[rank].calls[me->call];

	return me->inside ? c->end : c->begin;
}

/* At one moment those that enter come before those that leave. */
static bool comes_first(const struct play *p, uint32_t a, uint32_t b)
{
	uint64_t x = next_moment(p, a), y = next_moment(p, b);

	if (x != y)
		return x < y;
	if (p->players[a].inside != p->players[b].inside)
		return p->players[b].inside;
	return a < b;
}

static void sink(struct play *p, size_t i)
{
	for (;;) {
		size_t least = i, left = 2 * i + 1;
		uint32_t other;

		if (left < p->heap_count && comes_first(p, p->heap[left], p->heap[least]))
			least = left;
		if (left + 1 < p->heap_count && comes_first(p, p->heap[left + 1], p->heap[least]))
			least = left + 1;
		if (least == i)
			return;
		other = p->heap[i];
		p->heap[i] = p->heap[least];
		p->heap[least] = other;
		i = least;
	}
}

/* ---- one moment ---------------------------------------------------------------------------- */

static void raise(uint64_t *to, uint64_t value)
{
	*to = value > *to ? value : *to;
}

static void enter(struct play *p, uint32_t rank)
{
	struct player *me = &p->players[rank];
	const struct ut_rank_call *c = &p->ranks->items[rank].calls[me->call];

	me->now += c->begin > me->left ? c->begin - me->left : 0;
	p->entered[rank][me->call] = me->now;
	if (c->link && c->use != UT_RANK_WAIT) {
		struct ut_rank_meeting *m = &p->ranks->meetings[c->link - 1];

		raise(&m->ideal, me->now);
		if (m->root == rank)
			m->ideal_root = me->now;
	}
	me->inside = true;
}

static void meet(struct play *p, uint32_t rank, const struct ut_rank_call *c)
{
	const struct ut_rank_meeting *m = &p->ranks->meetings[c->link - 1];
	struct player *me = &p->players[rank];

	if (c->meets == UT_RANK_FROM_ROOT)
		raise(&me->now, m->ideal_root);
	else if (c->meets != UT_RANK_TO_ROOT || m->root == rank)
		raise(&me->now, m->ideal);
}

static void leave(struct play *p, uint32_t rank)
{
	const struct ut_rank *one = &p->ranks->items[rank];
	struct player *me = &p->players[rank];
	const struct ut_rank_call *c = &one->calls[me->call];

	while (me->end < one->end_count && one->ends[me->end].call <= me->call) {
		const struct ut_rank_end *e = &one->ends[me->end++];

		if (e->received && e->call == me->call && e->partner != UT_RANK_NOBODY)
			raise(&me->now, p->entered[e->partner][e->partner_call]);
	}
	if (c->link && c->use != UT_RANK_POST)
		meet(p, rank, c);
	if (c->use == UT_RANK_FILE) /* no network makes disks faster */
		me->now += ut_rank_time(c);
	me->left = c->end > me->left ? c->end : me->left;
	me->inside = false;
	me->call++;
	skip_side(p, rank);
}

/* ---- all of them --------------------------------------------------------------------------- */

static void start(struct play *p)
{
	struct ut_ranks *r = p->ranks;

	p->players = ut_make((r->count + 1) * sizeof(*p->players));
	p->heap = ut_make((r->count + 1) * sizeof(*p->heap));
	p->entered = ut_make((r->count + 1) * sizeof(*p->entered));
	for (uint32_t i = 0; i < r->count; i++) {
		p->players[i].left = r->items[i].start;
		p->players[i].now = r->items[i].start - r->start;
		p->entered[i] = ut_make((r->items[i].call_count + 1) * sizeof(**p->entered));
		skip_side(p, i);
		if (p->players[i].call < r->items[i].call_count)
			p->heap[p->heap_count++] = i;
	}
	for (size_t i = p->heap_count; i > 0; i--)
		sink(p, i - 1);
	for (size_t i = 0; i < r->meeting_count; i++)
		r->meetings[i].ideal = r->meetings[i].ideal_root = 0;
}

static uint64_t play(struct ut_ranks *r)
{
	struct play p = { .ranks = r };
	uint64_t last = 0;

	start(&p);
	while (p.heap_count) {
		uint32_t rank = p.heap[0];

		if (p.players[rank].inside)
			leave(&p, rank);
		else
			enter(&p, rank);
		if (p.players[rank].call >= r->items[rank].call_count)
			p.heap[0] = p.heap[--p.heap_count];
		sink(&p, 0);
	}
	for (uint32_t i = 0; i < r->count; i++) {
		struct player *me = &p.players[i];
		uint64_t stop = r->items[i].stop;

		raise(&last, me->now + (stop > me->left ? stop - me->left : 0));
		free(p.entered[i]);
	}
	free(p.entered);
	free(p.heap);
	free(p.players);
	return last;
}

static double share(double a, double b)
{
	return b > 0 ? a / b : 1;
}

void ut_ranks_pop(struct ut_ranks *r, const struct ut_rank_sums *s, struct ut_rank_pop *pop)
{
	*pop = (struct ut_rank_pop){ .run = r->stop > r->start ? r->stop - r->start : 0 };
	for (uint32_t i = 0; i < r->count; i++) {
		if (s->ranks[i].useful > pop->useful_most) {
			pop->useful_most = s->ranks[i].useful;
			pop->most_rank = i;
		}
	}
	pop->ideal = play(r);
	/* Clocks that are a little apart must not make it longer than it was, nor too short. */
	pop->ideal = pop->ideal < pop->run ? pop->ideal : pop->run;
	pop->ideal = pop->ideal > pop->useful_most ? pop->ideal : pop->useful_most;
	pop->useful_mean = (double)s->all.useful / (double)r->count;
	pop->parallel = share(pop->useful_mean, (double)pop->run);
	pop->balance = share(pop->useful_mean, (double)pop->useful_most);
	pop->communication = share((double)pop->useful_most, (double)pop->run);
	pop->serialisation = share((double)pop->useful_most, (double)pop->ideal);
	pop->transfer = share((double)pop->ideal, (double)pop->run);
}
