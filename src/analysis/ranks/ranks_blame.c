/* ranks_blame.c - see ranks_blame.h. */
#include "ranks/ranks_blame.h"

#include <stdlib.h>

#include "base/grow.h"
#include "ranks/ranks_sum.h"

#define MOST_BETWEEN 16u  /* ranks: clocks that are apart may let some wait for each other */
#define MOST_CALLS   64u  /* that we look back, however long ago the two were together */
#define MOST_SHIFTS  256u /* the same, of tasks */
#define CLOSE        16u  /* ends of messages */
#define LEAST_PART   64u  /* of a wait: smaller ones are not followed further */

/* What the late one did, that those who wait did less of. */
struct ut_rank_part {
	uint64_t time;
	uint32_t task;
	const struct ut_rank_call *wait; /* NULL: it did not wait */
};

void ut_rank_blamer_init(struct ut_rank_blamer *b, const struct ut_ranks *r, ut_rank_blame_fn *fn,
			 void *ctx)
{
	*b = (struct ut_rank_blamer){ .ranks = r, .fn = fn, .ctx = ctx };
	b->slots = ut_make((r->strings.count + 1) * sizeof(*b->slots));
	b->places = ut_make((r->count + 1) * sizeof(*b->places));
	b->ends = ut_make((r->count + 1) * sizeof(*b->ends));
}

void ut_rank_blamer_release(struct ut_rank_blamer *b)
{
	free(b->slots);
	free(b->parts);
	free(b->places);
	free(b->ends);
	*b = (struct ut_rank_blamer){ 0 };
}

/* ---- since when ---------------------------------------------------------------------------- */

/* Did both take part in this collective call, and need each other there? */
static bool met(const struct ut_ranks *r, uint32_t rank, const struct ut_rank_call *c,
		const struct ut_rank_call *waits, uint32_t other)
{
	const struct ut_rank *one = &r->items[rank];
	const struct ut_rank_shape *is = ut_rank_shape(one, c);
	uint32_t link = ut_rank_more(one, c)->link;
	const struct ut_rank_meeting *m = link ? &r->meetings[link - 1] : NULL;

	if (!m || is->use == UT_RANK_POST)
		return false;
	if (m->members < r->count && is->group != ut_rank_shape(one, waits)->group)
		return false;
	return is->meets == UT_RANK_ALL || m->root == rank || m->root == other;
}

/* The first end of a call or of one behind it: mostly close to the last that was looked for. */
static size_t first_end(struct ut_rank_blamer *b, uint32_t rank, uint32_t call)
{
	const struct ut_rank *one = &b->ranks->items[rank];
	size_t *near = &b->ends[rank], lo = 0, hi = one->end_count;

	if (*near >= CLOSE && one->ends[*near - CLOSE].call < call)
		lo = *near - CLOSE + 1;
	if (*near + CLOSE < hi && one->ends[*near + CLOSE].call >= call)
		hi = *near + CLOSE;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (one->ends[mid].call < call)
			lo = mid + 1;
		else
			hi = mid;
	}
	*near = lo;
	return lo;
}

/* When a rank left the last call before this one in which it had to do with the other. */
static uint64_t last_together(struct ut_rank_blamer *b, uint32_t rank, const struct ut_rank_call *c,
			      uint32_t other)
{
	const struct ut_ranks *r = b->ranks;
	const struct ut_rank *one = &r->items[rank];
	uint64_t start = r->items[other].start;
	size_t at = (size_t)(c - one->calls), least = at > MOST_CALLS ? at - MOST_CALLS : 0;
	size_t end = first_end(b, rank, (uint32_t)at);

	while (at > least) {
		const struct ut_rank_call *before = &one->calls[--at];
		bool talked = false;

		for (; end && one->ends[end - 1].call >= at; end--)
			talked |= one->ends[end - 1].partner == other;
		if (talked || met(r, rank, before, c, other))
			return before->end;
	}
	start = start > one->start ? start : one->start;
	return least ? one->calls[least].end : start;
}

/* Not further back than can be looked at for every wait of a large job. */
static uint64_t not_too_long_ago(struct ut_rank_blamer *b, uint32_t rank, uint64_t since,
				 uint64_t until)
{
	const struct ut_rank *one = &b->ranks->items[rank];
	struct ut_rank_place *at = &b->places[rank];

	ut_rank_seek(one, until, at);
	if (at->shift > MOST_SHIFTS && one->shifts[at->shift - MOST_SHIFTS].at > since)
		since = one->shifts[at->shift - MOST_SHIFTS].at;
	if (at->call > MOST_CALLS && one->calls[at->call - MOST_CALLS].begin > since)
		since = one->calls[at->call - MOST_CALLS].begin;
	return since;
}

/* ---- what was done since then -------------------------------------------------------------- */

struct look {
	struct ut_rank_blamer *b;
	uint32_t rank;
	bool leaf; /* waits are not followed */
	uint64_t in_calls, waits;
};

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static void ranks_blame_push(struct ut_rank_blamer *b, uint64_t time, uint32_t task,
			     const struct ut_rank_call *wait)
{
	b->parts = ut_grow(b->parts, b->count + 1, &b->cap, sizeof(*b->parts));
	b->parts[b->count++] = (struct ut_rank_part){ time, task, wait };
}

/* How much of a piece was waiting, for anybody but the one whose wait this is about. */
static uint64_t waited(const struct look *l, const struct ut_rank_piece *p)
{
	const struct ut_rank_more *w = ut_rank_more(&l->b->ranks->items[l->rank], p->call);
	uint64_t until = p->call->begin + w->wait;

	if (!w->wait || l->leaf || w->waited_for == l->b->waiter || w->waited_for == UT_RANK_ABSENT)
		return 0;
	return less(until < p->end ? until : p->end, p->begin);
}

static void add_done(void *ctx, const struct ut_rank_piece *p)
{
	struct look *l = ctx;
	struct ut_rank_blamer *b = l->b;
	uint64_t time = p->end - p->begin, wait;

	if (!p->call) {
		if (!b->slots[p->task]) {
			ranks_blame_push(b, 0, p->task, NULL);
			b->slots[p->task] = (uint32_t)b->count;
		}
		b->parts[b->slots[p->task] - 1].time += time;
		return;
	}
	wait = waited(l, p);
	if (wait)
		ranks_blame_push(b, wait, 0, p->call);
	l->waits += wait;
	l->in_calls += time - wait;
}

static void take_done(void *ctx, const struct ut_rank_piece *p)
{
	struct look *l = ctx;
	uint64_t time = p->end - p->begin, wait;

	if (!p->call) {
		uint32_t slot = l->b->slots[p->task];

		if (slot)
			l->b->parts[slot - 1].time = less(l->b->parts[slot - 1].time, time);
		return;
	}
	wait = waited(l, p);
	l->waits += wait;
	l->in_calls += time - wait;
}

/* ---- whose fault --------------------------------------------------------------------------- */

/* A wait of a rank, of which only some time is to be told: it waited for somebody else's sake. */
struct question {
	uint32_t rank;
	const struct ut_rank_call *call;
	uint64_t time;
	unsigned int between;
};

/* Leaves on the stack what the late one has more of; returns how much that is. */
static uint64_t ranks_blame_compare(struct ut_rank_blamer *b, const struct question *q, bool leaf)
{
	const struct ut_rank *one = &b->ranks->items[q->rank];
	const struct ut_rank_more *w = ut_rank_more(one, q->call);
	struct look did = { .b = b, .rank = w->waited_for, .leaf = leaf };
	struct look had = { .b = b, .rank = q->rank, .leaf = leaf };
	uint64_t came = q->call->begin, until = came + w->wait, since = came, all = 0, waits;
	size_t base = b->count;

	if (!leaf) {
		since = last_together(b, q->rank, q->call, w->waited_for);
		since = not_too_long_ago(b, w->waited_for, since, until);
		since = not_too_long_ago(b, q->rank, since, came);
		since = since < came ? since : came;
	}
	ut_rank_walk_near(&b->ranks->items[did.rank], b->places[did.rank], since, until, add_done,
			  &did);
	ut_rank_walk_near(one, b->places[had.rank], since, came, take_done, &had);
	ranks_blame_push(b, less(did.in_calls, had.in_calls), UT_RANK_IN_CALL, NULL);
	waits = less(did.waits, had.waits);
	for (size_t i = base; i < b->count; i++) {
		struct ut_rank_part *p = &b->parts[i];

		if (p->wait)
			p->time = (uint64_t)((double)p->time * (double)waits / (double)did.waits);
		else if (p->task != UT_RANK_IN_CALL)
			b->slots[p->task] = 0;
		all += p->time;
	}
	return all;
}

static void ranks_blame_answer(struct ut_rank_blamer *b, const struct question *q)
{
	uint32_t late = ut_rank_more(&b->ranks->items[q->rank], q->call)->waited_for;
	bool leaf = q->between && (q->between >= MOST_BETWEEN || q->time < b->least);
	size_t base = b->count, count;
	uint64_t all = ranks_blame_compare(b, q, leaf), sum = 0, reported = 0;

	count = b->count;
	for (size_t i = base; i < count; i++) {
		const struct ut_rank_part p = b->parts[i];
		uint64_t upto;

		sum += p.time;
		upto = sum == all ? q->time
				  : (uint64_t)((double)q->time * ((double)sum / (double)all));
		if (upto <= reported)
			continue;
		if (p.wait)
			ranks_blame_answer(b, &(struct question){ late, p.wait, upto - reported,
								  q->between + 1 });
		else
			b->fn(b->ctx,
			      &(struct ut_rank_blame){ late, p.task, q->between, upto - reported });
		reported = upto;
	}
	b->count = base;
}

void ut_rank_blame(struct ut_rank_blamer *b, uint32_t rank, const struct ut_rank_call *c)
{
	const struct ut_rank_more *w = ut_rank_more(&b->ranks->items[rank], c);
	uint64_t wait = w->wait;

	if (w->waited_for == UT_RANK_ABSENT)
		return;
	b->waiter = rank;
	b->least = wait / LEAST_PART;
	ranks_blame_answer(b, &(struct question){ rank, c, wait, 0 });
}
