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

/* A rank's next begin or end. It holds all that decides about its place: the heap is hot. */
struct timestamp {
	uint64_t at;
	uint32_t rank;
	uint32_t order; /* at one moment those that enter come before those that leave */
};

struct play {
	struct ut_ranks *ranks;
	struct player *players;
	uint64_t **entered;     /* of each rank, of each call */
	struct timestamp *heap; /* one of each rank, the earliest at the top */
	size_t heap_count;
};

/* ---- who is next --------------------------------------------------------------------------- */

static bool plays(const struct ut_rank *one, const struct ut_rank_call *c)
{
	return !ut_rank_shape(one, c)->side && c->begin >= one->start && c->begin < one->stop;
}

static void skip_side(const struct play *p, uint32_t rank)
{
	const struct ut_rank *one = &p->ranks->items[rank];
	struct player *me = &p->players[rank];

	while (me->call < one->call_count && !plays(one, &one->calls[me->call]))
		me->call++;
}

static struct timestamp next_timestamp(const struct play *p, uint32_t rank)
{
	const struct player *me = &p->players[rank];
	const struct ut_rank_call *c = &p->ranks->items[rank].calls[me->call];

	return (struct timestamp){ me->inside ? c->end : c->begin, rank,
				   rank | (me->inside ? UINT32_C(1) << 31 : 0) };
}

/* Without a branch: which of two ranks is first cannot be foreseen. */
static inline bool comes_first(const struct timestamp *a, const struct timestamp *b)
{
	return (a->at < b->at) | ((a->at == b->at) & (a->order < b->order));
}

/*
 * From place i on down, to where it belongs. That is mostly at the bottom, for ranks go in step: so
 * the way there is made first, without a look at it, and then a little of it is gone back.
 */
static void sink(struct play *p, size_t i, struct timestamp m)
{
	struct timestamp *heap = p->heap;
	size_t top = i, child;

	for (; (child = 2 * i + 1) < p->heap_count; i = child) {
		if (child + 1 < p->heap_count)
			child += comes_first(&heap[child + 1], &heap[child]);
		heap[i] = heap[child];
	}
	for (; i > top && comes_first(&m, &heap[(i - 1) / 2]); i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = m;
}

/* ---- one moment ---------------------------------------------------------------------------- */

static void raise(uint64_t *to, uint64_t value)
{
	*to = value > *to ? value : *to;
}

static void ranks_pop_enter(struct play *p, uint32_t rank)
{
	struct player *me = &p->players[rank];
	const struct ut_rank *one = &p->ranks->items[rank];
	const struct ut_rank_call *c = &one->calls[me->call];
	uint32_t link = ut_rank_more(one, c)->link;

	me->now += c->begin > me->left ? c->begin - me->left : 0;
	p->entered[rank][me->call] = me->now;
	if (link && !ut_rank_completes(ut_rank_shape(one, c)->use)) {
		struct ut_rank_meeting *m = &p->ranks->meetings[link - 1];

		raise(&m->ideal, me->now);
		if (m->root == rank)
			m->ideal_root = me->now;
	}
	me->inside = true;
}

static void ranks_pop_meet(struct play *p, uint32_t rank, uint32_t link, uint8_t meets)
{
	const struct ut_rank_meeting *m = &p->ranks->meetings[link - 1];
	struct player *me = &p->players[rank];

	if (meets == UT_RANK_FROM_ROOT)
		raise(&me->now, m->ideal_root);
	else if (meets != UT_RANK_TO_ROOT || m->root == rank)
		raise(&me->now, m->ideal);
}

static void ranks_pop_leave(struct play *p, uint32_t rank)
{
	const struct ut_rank *one = &p->ranks->items[rank];
	struct player *me = &p->players[rank];
	const struct ut_rank_call *c = &one->calls[me->call];
	const struct ut_rank_shape *is = ut_rank_shape(one, c);
	uint32_t link = ut_rank_more(one, c)->link;

	while (me->end < one->end_count && one->ends[me->end].call <= me->call) {
		const struct ut_rank_end *e = &one->ends[me->end++];

		if (e->received && e->call == me->call && e->partner != UT_RANK_NOBODY &&
		    e->soft != UT_RANK_POSTED)
			raise(&me->now, p->entered[e->partner][e->partner_call]);
	}
	if (link && is->use != UT_RANK_POST)
		ranks_pop_meet(p, rank, link, is->meets);
	/* What never came would not have come on an ideal network either. */
	if (one->open_count && ut_rank_more(one, c)->wait && ut_rank_open(one, (uint32_t)me->call))
		raise(&me->now, c->end - p->ranks->start);
	if (ut_rank_is_file(is->use)) /* no network makes disks faster */
		me->now += ut_rank_time(c) - ut_rank_more(one, c)->wait;
	me->left = c->end > me->left ? c->end : me->left;
	me->inside = false;
	me->call++;
	skip_side(p, rank);
}

/* ---- all of them --------------------------------------------------------------------------- */

static void ranks_pop_start(struct play *p)
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
			p->heap[p->heap_count++] = next_timestamp(p, i);
	}
	for (size_t i = p->heap_count; i > 0; i--)
		sink(p, i - 1, p->heap[i - 1]);
	for (size_t i = 0; i < r->meeting_count; i++)
		r->meetings[i].ideal = r->meetings[i].ideal_root = 0;
}

static uint64_t play(struct ut_ranks *r)
{
	struct play p = { .ranks = r };
	uint64_t last = 0;

	ranks_pop_start(&p);
	while (p.heap_count) {
		uint32_t rank = p.heap[0].rank;

		if (p.players[rank].inside)
			ranks_pop_leave(&p, rank);
		else
			ranks_pop_enter(&p, rank);
		if (p.players[rank].call < r->items[rank].call_count)
			sink(&p, 0, next_timestamp(&p, rank));
		else if (--p.heap_count)
			sink(&p, 0, p.heap[p.heap_count]);
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

static double ranks_pop_share(double a, double b)
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
	pop->parallel = ranks_pop_share(pop->useful_mean, (double)pop->run);
	pop->balance = ranks_pop_share(pop->useful_mean, (double)pop->useful_most);
	pop->communication = ranks_pop_share((double)pop->useful_most, (double)pop->run);
	pop->serialisation = ranks_pop_share((double)pop->useful_most, (double)pop->ideal);
	pop->transfer = ranks_pop_share((double)pop->ideal, (double)pop->run);
}
