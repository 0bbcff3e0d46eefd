/*
 * ranks_wait.c - how long each call waited, and for whom.
 *
 * A call waits from its begin until what it needs from others has been begun there; what is left of
 * it is transfer. The last one to come is waited for. Nobody waits longer than the call lasts.
 */
#include <stdlib.h>

#include "base/grow.h"
#include "ranks/ranks.h"
#include "ranks/ranks_open.h"
#include "ranks/ranks_parts.h"

#define SLACK      50000u /* ns by which clocks may be apart */
#define SURELY_BIG 65536u /* bytes that no library sends before the receiver is there */

/* The calls of a rank that complete its sends: by the call that began it, index + 1. */
struct sends {
	uint32_t *done;
	bool *mixed; /* that call waits for something else as well */
};

struct waiting {
	struct ut_ranks *ranks;
	struct sends *sends; /* by rank */
};

void ut_rank_waited(struct ut_rank *one, uint32_t call, uint64_t until, uint32_t rank,
		    enum ut_rank_why why)
{
	const struct ut_rank_call *c = &one->calls[call];
	struct ut_rank_more *more;
	uint64_t wait;

	until = until < c->end ? until : c->end;
	wait = until > c->begin ? until - c->begin : 0;
	more = c->more ? &one->mores[c->more - 1] : NULL;
	/* Who sends and receives in one call waits for what it wants to have. */
	if (!wait ||
	    (more && (wait < more->wait || (wait == more->wait && why != UT_RANK_LATE_SENDER))))
		return;
	more = ut_rank_more_of(one, call);
	more->wait = wait;
	more->waited_for = rank & UT_RANK_MOST;
	more->why = why & 7u;
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

/* ---- sends that are completed later -------------------------------------------------------- */

static void find_sends(const struct ut_rank *one, struct sends *s)
{
	for (size_t i = 0; i < one->end_count; i++) {
		const struct ut_rank_end *e = &one->ends[i];

		if (e->soft != UT_RANK_DONE)
			continue;
		if (!s->done) {
			s->done = ut_make((one->call_count + 1) * sizeof(*s->done));
			s->mixed = ut_make((one->call_count + 1) * sizeof(*s->mixed));
		}
		s->done[e->partner_call] = e->call + 1;
	}
	for (size_t i = 0; s->mixed && i < one->end_count; i++) {
		const struct ut_rank_end *e = &one->ends[i];

		if (e->received)
			s->mixed[e->call] = true;
	}
	for (size_t i = 0; s->mixed && i < one->call_count; i++)
		s->mixed[i] = s->mixed[i] || ut_rank_more(one, &one->calls[i])->link;
}

/*
 * The receiver was there at this time. The sender waited for it if it was in its call, or in the
 * one that completes the send, before and is still there. Where that call waits for something else
 * as well, a small message may have been on its way long before.
 */
static void sender_waits(struct waiting *w, const struct ut_rank_end *end, uint32_t receiver,
			 uint64_t at)
{
	struct ut_rank *from = &w->ranks->items[end->partner];
	const struct sends *s = &w->sends[end->partner];
	const struct ut_rank_shape *is = ut_rank_shape(from, &from->calls[end->partner_call]);
	uint32_t call = end->partner_call;

	if (is->use == UT_RANK_POST) {
		if (!s->done || !s->done[call])
			return;
		call = s->done[call] - 1;
		if (s->mixed[call] && is->sent < SURELY_BIG)
			return;
	} else if (is->use != UT_RANK_SEND && is->use != UT_RANK_EXCHANGE) {
		return;
	}
	if (at > from->calls[call].begin && at < from->calls[call].end)
		ut_rank_waited(from, call, at, receiver, UT_RANK_LATE_RECEIVER);
}

/* ---- messages ------------------------------------------------------------------------------ */

/*
 * The receiver waited for the sender if that began later. The sender waited for the receiver if it
 * was still in its call when the receive was posted, or, if that was before, when the receiver came
 * back to wait for it: only then MPI moves the data.
 */
static void message_waits(struct waiting *w, uint32_t receiver, const struct ut_rank_end *end)
{
	struct ut_ranks *r = w->ranks;
	struct ut_rank *to = &r->items[receiver], *from = &r->items[end->partner];
	const struct ut_rank_call *in = &to->calls[end->call];
	const struct ut_rank_call *out = &from->calls[end->partner_call];
	bool exchange = ut_rank_shape(from, out)->use == UT_RANK_EXCHANGE;

	note_backwards(r, out->begin, in->end);
	ut_rank_waited(to, end->call, out->begin, end->partner, UT_RANK_LATE_SENDER);
	if (in->begin > out->begin && (!exchange || is_blocking(ut_rank_shape(to, in)->use)))
		sender_waits(w, end, receiver, in->begin);
}

/* What does not move anything, but waits or is waited for. */
static void soft_waits(struct waiting *w, uint32_t rank, const struct ut_rank_end *end)
{
	struct ut_rank *me = &w->ranks->items[rank], *other = &w->ranks->items[end->partner];
	const struct ut_rank_call *c = &me->calls[end->call];
	uint64_t theirs = other->calls[end->partner_call].begin;
	enum ut_rank_why why = UT_RANK_LATE_SENDER;

	switch (end->soft) {
	case UT_RANK_TOKEN:
		if (!end->received)
			return;
		if (ut_rank_shape(me, c)->use == UT_RANK_ONE_SIDED)
			why = ut_rank_epoch_of(ut_strtab_get(&w->ranks->strings,
							     ut_rank_shape(me, c)->name)) ==
					      UT_RANK_EPOCH_WAIT
				      ? UT_RANK_LATE_ORIGIN
				      : UT_RANK_LATE_TARGET;
		else
			why = UT_RANK_COLLECTIVE;
		ut_rank_waited(me, end->call, theirs, end->partner, why);
		break;
	case UT_RANK_FOUND:
		ut_rank_waited(me, end->call, theirs, end->partner, why);
		break;
	case UT_RANK_READY:
		ut_rank_waited(other, end->partner_call, c->begin, rank, why);
		break;
	case UT_RANK_POSTED:
		sender_waits(w, end, rank, c->begin);
		break;
	default:
		break;
	}
}

/* ---- collective calls ---------------------------------------------------------------------- */

/* Was a call of MPI left before the last one came? Where nobody can do so, clocks are apart. */
static bool has_left(const struct ut_ranks *r, const struct ut_rank *one,
		     const struct ut_rank_call *c, uint64_t last)
{
	const struct ut_rank_shape *is = ut_rank_shape(one, c);
	uint64_t slack = ut_rank_time(c) / 8;

	slack = slack > SLACK ? slack : SLACK;
	return !is->firm && last > c->end + slack &&
	       ut_str_has_start(ut_strtab_get(&r->strings, is->name), "MPI_");
}

/* Whom a member of a collective call needs, and since when that one was there. */
static void meeting_waits(struct ut_ranks *r, uint32_t rank, uint32_t call, uint8_t meets)
{
	struct ut_rank *one = &r->items[rank];
	const struct ut_rank_meeting *m =
		&r->meetings[ut_rank_more(one, &one->calls[call])->link - 1];
	bool is_root = m->root == rank;

	if (ut_rank_shape(one, &one->calls[call])->use == UT_RANK_FINALIZE &&
	    m->last - m->first < UT_RANK_TOGETHER)
		return;
	if (has_left(r, one, &one->calls[call], m->last))
		return;
	switch (meets) {
	case UT_RANK_FROM_ROOT:
		if (!is_root && m->root != UT_RANK_NOBODY)
			ut_rank_waited(one, call, m->root_came, m->root, UT_RANK_COLLECTIVE);
		break;
	case UT_RANK_TO_ROOT:
		if (is_root && m->last_rank != rank)
			ut_rank_waited(one, call, m->last, m->last_rank, UT_RANK_COLLECTIVE);
		break;
	case UT_RANK_SCAN:
		if (m->last_rank < rank)
			ut_rank_waited(one, call, m->last, m->last_rank, UT_RANK_COLLECTIVE);
		break;
	default:
		if (m->last_rank != rank && m->last_rank != UT_RANK_NOBODY)
			ut_rank_waited(one, call, m->last, m->last_rank, UT_RANK_COLLECTIVE);
	}
}

/* ---- polls --------------------------------------------------------------------------------- */

/*
 * Tests that have failed wait for what the program waits for next: what came with the next call
 * that has brought something.
 */
static void polls_wait(struct ut_ranks *r, struct ut_rank *one)
{
	bool *polls = ut_make(one->shape_count + 1);
	bool any = false;
	uint64_t until = 0;
	uint32_t rank = 0;
	enum ut_rank_why why = UT_RANK_NOTHING;

	for (size_t i = 0; i < one->shape_count; i++) {
		polls[i] = !one->shapes[i].group && !one->shapes[i].side &&
			   ut_rank_is_poll(ut_strtab_get(&r->strings, one->shapes[i].name));
		any = any || polls[i];
	}
	for (uint32_t i = (uint32_t)one->call_count; any && i-- > 0;) {
		const struct ut_rank_call *c = &one->calls[i];
		const struct ut_rank_more *w = ut_rank_more(one, c);
		uint8_t use = ut_rank_shape(one, c)->use;

		if (polls[c->shape] && !w->wait) {
			if (why)
				ut_rank_waited(one, i, until, rank, why);
		} else if (w->wait) {
			until = c->begin + w->wait;
			rank = w->waited_for;
			why = (enum ut_rank_why)w->why;
		} else if (use != UT_RANK_POST && use != UT_RANK_OTHER &&
			   !ut_rank_shape(one, c)->side) {
			why = UT_RANK_NOTHING; /* what came there was there already */
		}
	}
	free(polls);
}

/* ---- all of it ----------------------------------------------------------------------------- */

static void ends_wait(struct waiting *w, uint32_t rank)
{
	const struct ut_rank *one = &w->ranks->items[rank];

	for (size_t k = 0; k < one->end_count; k++) {
		const struct ut_rank_end *e = &one->ends[k];

		if (e->partner == UT_RANK_NOBODY)
			continue;
		if (e->soft)
			soft_waits(w, rank, e);
		else if (e->received)
			message_waits(w, rank, e);
	}
}

static void meetings_wait(struct ut_ranks *r, uint32_t rank)
{
	struct ut_rank *one = &r->items[rank];

	for (uint32_t k = 0; k < one->call_count; k++) {
		const struct ut_rank_call *c = &one->calls[k];
		const struct ut_rank_shape *is = ut_rank_shape(one, c);

		/* Who begins one without waiting for it does not wait. */
		if (ut_rank_more(one, c)->link && is->use != UT_RANK_POST)
			meeting_waits(r, rank, k, is->meets);
	}
}

/*
 * Who was the last to wait for a collective call that all had begun before. Data often moves only
 * while all are in MPI: whoever computes in between lets the others wait until it is back, which is
 * seen by time only, as most of their waiting was before that.
 */
struct back {
	uint64_t at;
	uint32_t rank; /* index */
};

static void find_back(const struct ut_ranks *r, struct back *backs)
{
	for (uint32_t i = 0; i < r->count; i++) {
		const struct ut_rank *one = &r->items[i];

		for (size_t k = 0; one->more_count && k < one->call_count; k++) {
			const struct ut_rank_call *c = &one->calls[k];
			uint32_t link = ut_rank_more(one, c)->link;

			if (link && ut_rank_completes(ut_rank_shape(one, c)->use) &&
			    c->begin > backs[link - 1].at)
				backs[link - 1] = (struct back){ c->begin, i };
		}
	}
}

static void absence_waits(struct ut_ranks *r, const struct back *backs, uint32_t rank)
{
	struct ut_rank *one = &r->items[rank];

	for (uint32_t k = 0; one->more_count && k < one->call_count; k++) {
		const struct ut_rank_call c = one->calls[k];
		uint32_t link = ut_rank_more(one, &c)->link;
		uint64_t at;

		if (!link || !ut_rank_completes(ut_rank_shape(one, &c)->use) ||
		    backs[link - 1].rank == rank || ut_rank_open(one, k))
			continue;
		at = ut_rank_came_back(&r->items[backs[link - 1].rank], c.begin, c.end);
		if (at && 2 * (at - c.begin) > ut_rank_time(&c))
			ut_rank_waited(one, k, at, backs[link - 1].rank, UT_RANK_COLLECTIVE);
	}
}

static void absences_wait(struct ut_ranks *r)
{
	struct back *backs = ut_make((r->meeting_count + 1) * sizeof(*backs));

	find_back(r, backs);
	for (uint32_t i = 0; i < r->count; i++)
		absence_waits(r, backs, i);
	free(backs);
}

void ut_ranks_wait(struct ut_ranks *r)
{
	struct waiting w = { r, ut_make((r->count + 1) * sizeof(*w.sends)) };

	for (uint32_t i = 0; i < r->count; i++)
		find_sends(&r->items[i], &w.sends[i]);
	for (uint32_t i = 0; i < r->count; i++) {
		ends_wait(&w, i);
		meetings_wait(r, i);
	}
	absences_wait(r);
	ut_ranks_wait_locks(r);
	ut_ranks_wait_open(r);
	for (uint32_t i = 0; i < r->count; i++) {
		polls_wait(r, &r->items[i]);
		free(w.sends[i].done);
		free(w.sends[i].mixed);
	}
	free(w.sends);
}
