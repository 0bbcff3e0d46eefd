/*
 * ranks_wait.c - how long each call waited, and for whom.
 *
 * A call waits from its begin until what it needs from others has been begun there; what is left of
 * it is transfer. The last one to come is waited for. Nobody waits longer than the call lasts.
 */
#include "ranks/ranks.h"
#include "ranks/ranks_parts.h"

/* The call waited until this time, because of that rank; the longest wait counts. */
static void waited(struct ut_rank_call *c, uint64_t until, uint32_t rank, enum ut_rank_why why)
{
	uint64_t wait;

	until = until < c->end ? until : c->end;
	wait = until > c->begin ? until - c->begin : 0;
	if (wait <= c->wait)
		return;
	c->wait = wait;
	c->waited_for = rank;
	c->why = (uint8_t)why;
}

static bool is_blocking(const struct ut_rank_call *c)
{
	return c->use == UT_RANK_RECEIVE || c->use == UT_RANK_EXCHANGE;
}

/*
 * The receiver waited for the sender if that began later. The sender waited for the receiver if it
 * was still in its call when the receive was posted; when that was is known of blocking receives.
 */
static void message_waits(struct ut_ranks *r, uint32_t receiver, const struct ut_rank_end *end)
{
	struct ut_rank_call *in = &r->items[receiver].calls[end->call];
	struct ut_rank_call *out = &r->items[end->partner].calls[end->partner_call];
	bool may_wait = out->use == UT_RANK_SEND || out->use == UT_RANK_EXCHANGE;

	waited(in, out->begin, end->partner, UT_RANK_LATE_SENDER);
	if (may_wait && is_blocking(in) && in->begin > out->begin && out->end > in->begin)
		waited(out, in->begin, receiver, UT_RANK_LATE_RECEIVER);
}

/* Whom a member of a collective call needs, and since when that one was there. */
static void meeting_waits(struct ut_ranks *r, uint32_t rank, struct ut_rank_call *c)
{
	const struct ut_rank_meeting *m = &r->meetings[c->link - 1];
	bool is_root = m->root == rank;

	switch (c->meets) {
	case UT_RANK_FROM_ROOT:
		if (!is_root && m->root != UT_RANK_NOBODY)
			waited(c, m->root_came, m->root, UT_RANK_COLLECTIVE);
		break;
	case UT_RANK_TO_ROOT:
		if (is_root && m->last_rank != rank)
			waited(c, m->last, m->last_rank, UT_RANK_COLLECTIVE);
		break;
	case UT_RANK_SCAN:
		if (m->last_rank < rank)
			waited(c, m->last, m->last_rank, UT_RANK_COLLECTIVE);
		break;
	default:
		if (m->last_rank != rank && m->last_rank != UT_RANK_NOBODY)
			waited(c, m->last, m->last_rank, UT_RANK_COLLECTIVE);
	}
}

void ut_ranks_wait(struct ut_ranks *r)
{
	for (uint32_t i = 0; i < r->count; i++) {
		struct ut_rank *one = &r->items[i];

		for (size_t k = 0; k < one->end_count; k++) {
			if (one->ends[k].received && one->ends[k].partner != UT_RANK_NOBODY)
				message_waits(r, i, &one->ends[k]);
		}
		for (size_t k = 0; k < one->call_count; k++) {
			struct ut_rank_call *c = &one->calls[k];

			/* Who begins one without waiting for it does not wait. */
			if (c->link && c->use != UT_RANK_POST)
				meeting_waits(r, i, c);
		}
	}
}
