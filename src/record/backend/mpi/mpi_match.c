/* mpi_match.c - see mpi_match.h. */
#include "backend/mpi/mpi_match.h"

#include <stddef.h>

#include "backend/handle_table.h"
#include "backend/mpi/channel.h"

#define MOST_PENDING 65536u

struct ut_mpi_pending {
	struct ut_mpi_pending *next, *before; /* in the order of posting */
	struct ut_mpi_matched got;
	int32_t source, tag; /* as posted */
	uint64_t number;
	bool done;     /* the program has it, so got is known */
	bool numbered; /* no earlier one can have kept its message from it */
};

static _Atomic uint32_t made;
static _Atomic uint64_t lost;

/* ---- memory -------------------------------------------------------------------------------- */

static void mpi_match_give_back(struct ut_mpi_queue *q, struct ut_mpi_pending *n)
{
	n->next = q->spare;
	q->spare = n;
}

static struct ut_mpi_pending *take_node(struct ut_mpi_queue *q)
{
	struct ut_mpi_pending *n = q->spare;

	if (n)
		q->spare = n->next;
	else if (atomic_fetch_add(&made, 1) < MOST_PENDING)
		n = ut_guest_alloc(sizeof(*n));
	if (!n)
		atomic_fetch_add(&lost, 1);
	return n;
}

uint64_t ut_mpi_match_lost(void)
{
	return atomic_load(&lost);
}

/* ---- the queue ----------------------------------------------------------------------------- */

static void mpi_match_hold(struct ut_mpi_queue *q)
{
	while (q->shared && atomic_flag_test_and_set_explicit(&q->held, memory_order_acquire))
		;
}

static void let_go(struct ut_mpi_queue *q)
{
	if (q->shared)
		atomic_flag_clear_explicit(&q->held, memory_order_release);
}

static void append(struct ut_mpi_queue *q, struct ut_mpi_pending *n)
{
	n->next = NULL;
	n->before = q->last;
	if (q->last)
		q->last->next = n;
	else
		atomic_store(&q->first, n);
	q->last = n;
}

static void mpi_match_drop(struct ut_mpi_queue *q, struct ut_mpi_pending *n)
{
	if (n->before)
		n->before->next = n->next;
	else
		atomic_store(&q->first, n->next);
	if (n->next)
		n->next->before = n->before;
	else
		q->last = n->before;
	mpi_match_give_back(q, n);
}

/* Does it have a wildcard and no answer yet? Such a one may have got any message that fits. */
static bool mpi_match_is_open(const struct ut_mpi_pending *n)
{
	return !n->done && (n->source == UT_MPI_ANY || n->tag == UT_MPI_ANY);
}

static bool mpi_match_fits(const struct ut_mpi_pending *n, int32_t source, int32_t tag)
{
	return (n->source == UT_MPI_ANY || n->source == source) &&
	       (n->tag == UT_MPI_ANY || n->tag == tag);
}

/* Is there an open one before end (NULL: in all of the queue) that fits a message of this kind? */
static bool is_kept(const struct ut_mpi_queue *q, const struct ut_mpi_pending *end, int32_t source,
		    int32_t tag)
{
	for (const struct ut_mpi_pending *n = atomic_load(&q->first); n && n != end; n = n->next) {
		if (mpi_match_is_open(n) && mpi_match_fits(n, source, tag))
			return true;
	}
	return false;
}

static uint64_t next_number(const struct ut_mpi_queue *q, int32_t source, int32_t tag)
{
	return ut_mpi_channel_next(ut_mpi_channel(q->comm, source, tag, UT_MPI_COUNT_RECEIVED));
}

/* Its channel is known, and nothing open before it is in the way: the next number is its own. */
static void mpi_match_number(struct ut_mpi_queue *q, struct ut_mpi_pending *n)
{
	int32_t source = n->done ? n->got.source : n->source;
	int32_t tag = n->done ? n->got.tag : n->tag;

	if (n->numbered || mpi_match_is_open(n) || is_kept(q, n, source, tag))
		return;
	n->number = next_number(q, source, tag);
	n->numbered = true;
	q->waiting--;
}

/* Gives numbers to all that can have one now; those that are done are delivered and leave. */
static void mpi_match_finalize(struct ut_mpi_queue *q, ut_mpi_deliver_fn *deliver)
{
	struct ut_mpi_pending *n = atomic_load(&q->first), *next;

	for (; n && q->waiting; n = next) {
		next = n->next;
		mpi_match_number(q, n);
		if (n->done && n->numbered) {
			n->got.number = n->number;
			deliver(&n->got);
			mpi_match_drop(q, n);
		}
	}
}

/* ---- receives ------------------------------------------------------------------------------ */

static void post_pending(struct ut_mpi_queue *q, struct ut_mpi_ticket *t, bool open)
{
	struct ut_mpi_pending *n;

	if (!open && !is_kept(q, NULL, t->source, t->tag)) {
		t->number = next_number(q, t->source, t->tag);
		return;
	}
	n = take_node(q);
	if (!n)
		return;
	*n = (struct ut_mpi_pending){ .source = t->source,
				      .tag = t->tag,
				      .number = UT_MPI_NO_NUMBER };
	append(q, n);
	q->waiting += !open;
	t->pending = n;
}

void ut_mpi_match_post(struct ut_mpi_queue *q, int32_t source, int32_t tag, bool blocking,
		       struct ut_mpi_ticket *t)
{
	bool open = source == UT_MPI_ANY || tag == UT_MPI_ANY;

	*t = (struct ut_mpi_ticket){
		.queue = q, .number = UT_MPI_NO_NUMBER, .source = source, .tag = tag
	};
	if (!atomic_load_explicit(&q->first, memory_order_acquire)) {
		if (!open)
			t->number = next_number(q, source, tag);
		if (!open || (blocking && !q->shared))
			return;
	}
	mpi_match_hold(q);
	post_pending(q, t, open);
	let_go(q);
}

uint64_t ut_mpi_match_peek(struct ut_mpi_queue *q, int32_t source, int32_t tag)
{
	bool kept = false;

	if (atomic_load_explicit(&q->first, memory_order_acquire)) {
		mpi_match_hold(q);
		kept = is_kept(q, NULL, source, tag);
		let_go(q);
	}
	return kept ? UT_MPI_NO_NUMBER
		    : ut_mpi_channel_peek(
			      ut_mpi_channel(q->comm, source, tag, UT_MPI_COUNT_RECEIVED));
}

/* An answer makes one that waits out of an open one; and others may go on. */
static bool done_pending(struct ut_mpi_queue *q, struct ut_mpi_pending *n, struct ut_mpi_matched *m,
			 ut_mpi_deliver_fn *deliver)
{
	q->waiting += mpi_match_is_open(n);
	n->done = true;
	n->got = *m;
	mpi_match_number(q, n);
	m->number = n->number;
	if (!n->numbered) {
		n->got.call = NULL;
		mpi_match_finalize(q, deliver);
		return false;
	}
	n->got.number = n->number;
	deliver(&n->got);
	mpi_match_drop(q, n);
	mpi_match_finalize(q, deliver);
	return true;
}

bool ut_mpi_match_done(struct ut_mpi_ticket *t, struct ut_mpi_matched *m,
		       ut_mpi_deliver_fn *deliver)
{
	struct ut_mpi_queue *q = t->queue;
	bool open = t->source == UT_MPI_ANY || t->tag == UT_MPI_ANY;
	bool reported;

	m->comm = q->comm;
	m->number = t->number;
	if (t->pending) {
		mpi_match_hold(q);
		reported = done_pending(q, t->pending, m, deliver);
		let_go(q);
		t->pending = NULL;
		return reported;
	}
	/* A blocking one, before which nothing was posted that is not known. */
	if (open && m->number == UT_MPI_NO_NUMBER && !ut_mpi_match_lost())
		m->number = next_number(q, m->source, m->tag);
	deliver(m);
	return true;
}

/* The ones behind it in its channel move up. */
static void move_up(struct ut_mpi_queue *q, const struct ut_mpi_ticket *t, uint64_t number)
{
	for (struct ut_mpi_pending *n = atomic_load(&q->first); n; n = n->next) {
		if (n->numbered && n->source == t->source && n->tag == t->tag && n->number > number)
			n->number--;
	}
}

uint64_t ut_mpi_match_undo(struct ut_mpi_ticket *t, ut_mpi_deliver_fn *deliver)
{
	struct ut_mpi_queue *q = t->queue;
	struct ut_mpi_pending *n = t->pending;
	uint64_t number = n ? n->number : t->number;

	if (number != UT_MPI_NO_NUMBER)
		ut_mpi_channel_back(
			ut_mpi_channel(q->comm, t->source, t->tag, UT_MPI_COUNT_RECEIVED));
	if (!atomic_load(&q->first))
		return number;
	mpi_match_hold(q);
	if (n) {
		q->waiting -= !n->numbered && !mpi_match_is_open(n);
		mpi_match_drop(q, n);
	}
	if (number != UT_MPI_NO_NUMBER)
		move_up(q, t, number);
	mpi_match_finalize(q, deliver);
	let_go(q);
	t->pending = NULL;
	return number;
}

void ut_mpi_match_reset(struct ut_mpi_queue *q)
{
	while (atomic_load(&q->first))
		mpi_match_drop(q, atomic_load(&q->first));
	q->waiting = 0;
}
