/*
 * ranks_join.c - joins the ends of messages, and the members of collective calls.
 *
 * Both are found by a number: that of the message, or one made of group and count (ranks_mark.c).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/sort.h"
#include "ranks/ranks.h"
#include "ranks/ranks_parts.h"

#define AHEAD 16u /* marks */

/* ---- messages ------------------------------------------------------------------------------ */

static struct ut_rank_end *ranks_join_end_of(struct ut_ranks *r, const struct ut_rank_mark *m)
{
	return &r->items[m->rank].ends[m->index];
}

static void finalize_end(struct ut_rank_end *e, uint32_t partner, uint32_t call)
{
	e->partner = partner;
	e->partner_call = call;
	e->finalized = true;
}

/*
 * What is known about a message besides: who received it knows the sender, who sent it the
 * receiver. Where there is no message, ends of the two kinds belong to each other.
 */
static void join_soft(struct ut_ranks *r, const struct ut_rank_mark *marks, size_t hard,
		      size_t count)
{
	const struct ut_rank_mark *sent = NULL, *received = NULL;

	for (size_t i = 0; i < count; i++) {
		if (hard && i >= hard)
			break;
		if (ranks_join_end_of(r, &marks[i])->received)
			received = received ? received : &marks[i];
		else
			sent = sent ? sent : &marks[i];
	}
	for (size_t i = hard; i < count; i++) {
		struct ut_rank_end *e = ranks_join_end_of(r, &marks[i]);
		const struct ut_rank_mark *other = e->received ? sent : received;

		finalize_end(e, other ? other->rank : UT_RANK_NOBODY,
			     other ? ranks_join_end_of(r, other)->call : 0);
	}
}

/* One that was sent and one that was received; more of a number are of another job. */
static void join_ends(struct ut_ranks *r, const struct ut_rank_mark *marks, size_t count)
{
	const struct ut_rank_mark *sent = &marks[0], *received = &marks[1];
	struct ut_rank_end *out, *in;

	if (count != 2 || sent->kind != UT_RANK_MARK_SENT ||
	    received->kind != UT_RANK_MARK_RECEIVED) {
		r->single += count;
		for (size_t i = 0; i < count; i++)
			finalize_end(ranks_join_end_of(r, &marks[i]), UT_RANK_NOBODY, 0);
		return;
	}
	out = ranks_join_end_of(r, sent);
	in = ranks_join_end_of(r, received);
	finalize_end(out, received->rank, in->call);
	finalize_end(in, sent->rank, out->call);
	r->messages++;
}

static void join_message(struct ut_ranks *r, const struct ut_rank_mark *marks, size_t count)
{
	size_t hard = 0;

	while (hard < count && marks[hard].kind != UT_RANK_MARK_SOFT)
		hard++;
	if (hard < count)
		join_soft(r, marks, hard, count);
	if (hard)
		join_ends(r, marks, hard);
}

/* ---- collective calls ---------------------------------------------------------------------- */

/* Do all that make these calls meet? With large counts they do. */
static bool is_same_call(const struct ut_ranks *r, uint32_t a, uint32_t b)
{
	struct ut_str x = ut_strtab_get(&r->strings, a), y = ut_strtab_get(&r->strings, b);

	if (a == b)
		return true;
	x.len -= ut_str_has_end(x, "_c") ? 2 : 0;
	y.len -= ut_str_has_end(y, "_c") ? 2 : 0;
	return ut_str_eq(x, y);
}

static void ranks_join_meet(struct ut_ranks *r, struct ut_rank_meeting *m,
			    const struct ut_rank_mark *mark)
{
	struct ut_rank *one = &r->items[mark->rank];
	const struct ut_rank_call *c = &one->calls[mark->index];
	const struct ut_rank_shape *is = ut_rank_shape(one, c);
	uint64_t bytes = is->sent > is->received ? is->sent : is->received;
	uint64_t came = ut_rank_came(one, mark->index);

	ut_rank_more_of(one, mark->index)->link = (uint32_t)r->meeting_count;
	m->end = c->end > m->end ? c->end : m->end;
	if (mark->kind == UT_RANK_MARK_WAITER)
		return;
	if (m->members && (!is_same_call(r, m->name, is->name) || m->root_said != is->root))
		m->mixed = true;
	m->root_said = is->root;
	if (!m->members++ || came < m->first)
		m->first = came;
	if (came >= m->last) {
		m->last = came;
		m->last_rank = mark->rank;
	}
	m->bytes = bytes > m->bytes ? bytes : m->bytes;
	m->root = is->root >= 0 ? ut_ranks_find(r, is->root) : m->root;
	if (is->root >= 0 && is->root == one->rank)
		m->root_came = came;
	m->name = is->name;
	m->group = is->group;
}

static void join_meeting(struct ut_ranks *r, const struct ut_rank_mark *marks, size_t count)
{
	struct ut_rank_meeting *m;

	r->meetings =
		ut_grow(r->meetings, r->meeting_count + 1, &r->meeting_cap, sizeof(*r->meetings));
	m = &r->meetings[r->meeting_count++];
	*m = (struct ut_rank_meeting){ .root = UT_RANK_NOBODY,
				       .root_said = -1,
				       .last_rank = UT_RANK_NOBODY,
				       .absent = UT_RANK_NOBODY };
	for (size_t i = 0; i < count; i++)
		ranks_join_meet(r, m, &marks[i]);
}

/* Ends lie anywhere, and memory is slow: those of a later mark are fetched meanwhile. */
static void fetch(struct ut_ranks *r, const struct ut_rank_marks *m, size_t i)
{
	if (i < m->count && m->items[i].kind < UT_RANK_MARK_MEMBER)
		__builtin_prefetch(ranks_join_end_of(r, &m->items[i]), 1);
}

static void join_all(struct ut_ranks *r, const struct ut_rank_marks *m)
{
	for (size_t i = 0, n; i < m->count; i += n) {
		n = ut_rank_marks_alike(m, i);
		fetch(r, m, i + AHEAD);
		fetch(r, m, i + AHEAD + 1);
		if (m->items[i].kind >= UT_RANK_MARK_MEMBER)
			join_meeting(r, &m->items[i], n);
		else
			join_message(r, &m->items[i], n);
	}
}

/* ---- all of it ----------------------------------------------------------------------------- */

uint32_t ut_ranks_find(const struct ut_ranks *r, int32_t rank)
{
	size_t lo = 0, hi = r->count;

	/* Mostly all are there, and their numbers are their places. */
	if (rank >= 0 && (size_t)rank < r->count && r->items[rank].rank == rank)
		return (uint32_t)rank;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (r->items[mid].rank < rank)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < r->count && r->items[lo].rank == rank ? (uint32_t)lo : UT_RANK_NOBODY;
}

static int ranks_join_by_rank(const void *a, const void *b)
{
	const struct ut_rank *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return (x->origin > y->origin) - (x->origin < y->origin);
}

void ut_ranks_sort(struct ut_ranks *r)
{
	ut_sort(r->items, r->count, sizeof(*r->items), ranks_join_by_rank);
}

static int check_ranks(struct ut_ranks *r, struct ut_err *err)
{
	if (!r->count)
		return ut_err_set(err, -ENODATA,
				  "no rank has made a call that is recorded; --chrome-mpi-logging "
				  "records those of MPI, --chrome-ccl-logging collective "
				  "operations of other libraries");
	ut_ranks_sort(r);
	for (size_t i = 0; i + 1 < r->count; i++) {
		if (r->items[i].rank == r->items[i + 1].rank)
			return ut_err_set(err, -EEXIST,
					  "rank %" PRId32
					  " is there twice; name the traces of one run only",
					  r->items[i].rank);
	}
	return 0;
}

static void find_range(struct ut_ranks *r)
{
	r->start = UINT64_MAX;
	for (size_t i = 0; i < r->count; i++) {
		r->start = r->items[i].start < r->start ? r->items[i].start : r->start;
		r->stop = r->items[i].stop > r->stop ? r->items[i].stop : r->stop;
	}
}

/* MPI ends when the last rank has come to MPI_Finalize: until then those that are there wait. */
static void ranks_join_find_ends(struct ut_ranks *r)
{
	uint64_t first = UINT64_MAX, last = 0;

	for (size_t i = 0; i < r->count; i++) {
		const struct ut_rank *one = &r->items[i];
		const struct ut_rank_call *end = ut_rank_finalize(one);

		/* it was killed, or was not recorded to its end */
		if (!end || ut_rank_open(one, (uint32_t)(end - one->calls)))
			return;
		first = end->begin < first ? end->begin : first;
		last = end->begin > last ? end->begin : last;
	}
	if (last - first < UT_RANK_TOGETHER)
		return;
	for (size_t i = 0; i < r->count; i++) {
		struct ut_rank *one = &r->items[i];
		const struct ut_rank_call *end = ut_rank_finalize(one);

		one->stop = last < end->end ? last : end->end;
	}
}

int ut_ranks_finalize(struct ut_ranks *r, size_t threads, struct ut_err *err)
{
	int rc = check_ranks(r, err);

	if (rc)
		return rc;
	ut_ranks_align(r, threads);
	ranks_join_find_ends(r);
	find_range(r);
	ut_ranks_join_marks(r, threads, join_all);
	ut_ranks_wait(r);
	return 0;
}
