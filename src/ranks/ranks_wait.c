/*
 * ranks_wait.c - how long each call waited, and for whom.
 *
 * A call waits from its begin until what it needs from others has been begun there; what is left of
 * it is transfer. The last one to come is waited for. Nobody waits longer than the call lasts.
 */
#include "ranks/ranks.h"
#include "ranks/ranks_parts.h"

/* The call waited until this time, because of that rank; the longest wait counts. */
static void waited(struct ut_rank *one, uint32_t call, uint64_t until, uint32_t rank,
		   enum ut_rank_why why)
{
	const struct ut_rank_call *c = &one->calls[call];
	struct ut_rank_more *more;
	uint64_t wait;

	until = until < c->end ? until : c->end;
	wait = until > c->begin ? until - c->begin : 0;
	if (wait <= ut_rank_more(one, c)->wait)
		return;
	more = ut_rank_more_of(one, call);
	more->wait = wait;
	more->waited_for = rank & UT_RANK_MOST;
	more->why = why & 3u;
}

static bool is_blocking(uint8_t use)
{
	return use == UT_RANK_RECEIVE || use == UT_RANK_EXCHANGE;
}

/* Nothing arrives before it was sent, unless clocks are apart. */
static void note_backwards(struct ut_ranks *r, uint64_t sent, uint64_t received)
{
	uint64_t by = sent > received ? sent - received : 0;

	r->backwards += by > 0;
	r->most_backwards = by > r->most_backwards ? by : r->most_backwards;
}

/*
 * The receiver waited for the sender if that began later. The sender waited for the receiver if it
 * was still in its call when the receive was posted; when that was is known of blocking receives.
 */
static void message_waits(struct ut_ranks *r, uint32_t receiver, const struct ut_rank_end *end)
{
	struct ut_rank *to = &r->items[receiver], *from = &r->items[end->partner];
	const struct ut_rank_call *in = &to->calls[end->call];
	const struct ut_rank_call *out = &from->calls[end->partner_call];
	uint8_t use = ut_rank_shape(from, out)->use;
	bool may_wait = use == UT_RANK_SEND || use == UT_RANK_EXCHANGE;

	note_backwards(r, out->begin, in->end);
	waited(to, end->call, out->begin, end->partner, UT_RANK_LATE_SENDER);
	if (may_wait && is_blocking(ut_rank_shape(to, in)->use) && in->begin > out->begin &&
	    out->end > in->begin)
		waited(from, end->partner_call, in->begin, receiver, UT_RANK_LATE_RECEIVER);
}

/* Whom a member of a collective call needs, and since when that one was there. */
static void meeting_waits(struct ut_ranks *r, uint32_t rank, uint32_t call, uint8_t meets)
{
	struct ut_rank *one = &r->items[rank];
	const struct ut_rank_meeting *m =
		&r->meetings[ut_rank_more(one, &one->calls[call])->link - 1];
	bool is_root = m->root == rank;

	switch (meets) {
	case UT_RANK_FROM_ROOT:
		if (!is_root && m->root != UT_RANK_NOBODY)
			waited(one, call, m->root_came, m->root, UT_RANK_COLLECTIVE);
		break;
	case UT_RANK_TO_ROOT:
		if (is_root && m->last_rank != rank)
			waited(one, call, m->last, m->last_rank, UT_RANK_COLLECTIVE);
		break;
	case UT_RANK_SCAN:
		if (m->last_rank < rank)
			waited(one, call, m->last, m->last_rank, UT_RANK_COLLECTIVE);
		break;
	default:
		if (m->last_rank != rank && m->last_rank != UT_RANK_NOBODY)
			waited(one, call, m->last, m->last_rank, UT_RANK_COLLECTIVE);
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
		for (uint32_t k = 0; k < one->call_count; k++) {
			const struct ut_rank_call *c = &one->calls[k];
			const struct ut_rank_shape *is = ut_rank_shape(one, c);

			/* Who begins one without waiting for it does not wait. */
			if (ut_rank_more(one, c)->link && is->use != UT_RANK_POST)
				meeting_waits(r, i, k, is->meets);
		}
	}
}
