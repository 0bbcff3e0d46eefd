/*
 * ranks_join.c - joins the ends of messages, and the members of collective calls.
 *
 * Both are found by sorting all ends and members by a number: that of the message, or one made of
 * group and count. The numbers are spread evenly, so their upper bits cut them into parts that
 * several threads sort apart.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/big.h"
#include "base/crew.h"
#include "base/grow.h"
#include "base/sort.h"
#include "ranks/ranks.h"
#include "ranks/ranks_parts.h"

#define PART_BITS 6u
#define PARTS     (1u << PART_BITS)
#define SPREAD    UINT64_C(0x9e3779b97f4a7c15)

#define MOST_LIST_BITS 20u
#define FEW            32u /* marks that are sorted at once */

struct marks {
	struct ut_rank_mark *items, *sorted;
	size_t starts[PARTS + 1];
};

/* ---- in order of their numbers ------------------------------------------------------------- */

static unsigned int part_of(uint64_t id)
{
	/* Numbers of messages lie below 2^62. */
	return (unsigned int)((id * SPREAD) >> (64 - PART_BITS));
}

static int by_id(const void *a, const void *b)
{
	const struct ut_rank_mark *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return (x->call > y->call) - (x->call < y->call);
}

/* Which of a part's lists it goes into: the bits below those that chose the part. */
static size_t list_of(uint64_t id, unsigned int bits)
{
	return (size_t)((id * SPREAD << PART_BITS) >> (64 - bits));
}

/* A few of them; members of a collective call come in order. */
static void sort_list(struct ut_rank_mark *items, size_t count)
{
	if (count > FEW) {
		ut_sort(items, count, sizeof(*items), by_id);
		return;
	}
	for (size_t i = 1; i < count; i++) {
		struct ut_rank_mark m = items[i];
		size_t k = i;

		for (; k && by_id(&m, &items[k - 1]) < 0; k--)
			items[k] = items[k - 1];
		items[k] = m;
	}
}

/* Lists of a few each, so that hardly anything has to be compared. */
static void sort_part(void *ctx, size_t part)
{
	const struct marks *m = ctx;
	struct ut_rank_mark *to = m->sorted + m->starts[part], *from = m->items + m->starts[part];
	size_t count = m->starts[part + 1] - m->starts[part], lists;
	unsigned int bits = 1;
	uint32_t *ends;

	while (bits < MOST_LIST_BITS && count >> bits > FEW / 8)
		bits++;
	lists = (size_t)1 << bits;
	ends = ut_make((lists + 1) * sizeof(*ends));
	for (size_t i = 0; i < count; i++)
		ends[list_of(from[i].id, bits) + 1]++;
	for (size_t i = 0; i < lists; i++)
		ends[i + 1] += ends[i];
	for (size_t i = 0; i < count; i++)
		to[ends[list_of(from[i].id, bits)]++] = from[i];
	for (size_t i = 0, start = 0; i < lists; start = ends[i++])
		sort_list(to + start, ends[i] - start);
	free(ends);
}

static void sort_marks(struct marks *m, size_t count, size_t threads)
{
	size_t sizes[PARTS] = { 0 }, at[PARTS];
	struct ut_rank_mark *scattered;

	for (size_t i = 0; i < count; i++)
		sizes[part_of(m->items[i].id)]++;
	for (unsigned int p = 0; p < PARTS; p++) {
		at[p] = m->starts[p];
		m->starts[p + 1] = m->starts[p] + sizes[p];
	}
	scattered = ut_ace_big_make(count, sizeof(*scattered));
	for (size_t i = 0; i < count; i++)
		scattered[at[part_of(m->items[i].id)]++] = m->items[i];
	m->sorted = m->items; /* what was there is in the parts now */
	m->items = scattered;
	ut_crew_each(ut_crew_size(threads, PARTS), PARTS, sort_part, m);
	free(scattered);
	m->items = NULL;
}

/* ---- messages ------------------------------------------------------------------------------ */

static struct ut_rank_end *end_of(struct ut_ranks *r, const struct ut_rank_mark *m)
{
	return &r->items[m->rank].ends[m->end];
}

static struct ut_rank_call *call_of(struct ut_ranks *r, const struct ut_rank_mark *m)
{
	return &r->items[m->rank].calls[m->call];
}

/* One that was sent and one that was received; more of a number are of another job. */
static void join_message(struct ut_ranks *r, const struct ut_rank_mark *marks, size_t count)
{
	const struct ut_rank_mark *sent = &marks[0], *received = &marks[1];
	uint64_t begin, end;

	if (count != 2 || sent->kind != UT_RANK_MARK_SENT ||
	    received->kind != UT_RANK_MARK_RECEIVED) {
		r->single += count;
		return;
	}
	end_of(r, sent)->partner = received->rank;
	end_of(r, sent)->partner_call = received->call;
	end_of(r, received)->partner = sent->rank;
	end_of(r, received)->partner_call = sent->call;
	r->messages++;
	begin = call_of(r, sent)->begin;
	end = call_of(r, received)->end;
	if (begin > end) {
		r->backwards++;
		r->most_backwards =
			begin - end > r->most_backwards ? begin - end : r->most_backwards;
	}
}

/* ---- collective calls ---------------------------------------------------------------------- */

static void meet(struct ut_ranks *r, struct ut_rank_meeting *m, const struct ut_rank_mark *mark)
{
	struct ut_rank_call *c = call_of(r, mark);
	uint64_t bytes = c->sent > c->received ? c->sent : c->received;
	uint64_t came = ut_rank_came(&r->items[mark->rank], mark->call);

	c->link = (uint32_t)r->meeting_count;
	m->end = c->end > m->end ? c->end : m->end;
	if (mark->kind == UT_RANK_MARK_WAITER)
		return;
	if (!m->members++ || came < m->first)
		m->first = came;
	if (came >= m->last) {
		m->last = came;
		m->last_rank = mark->rank;
	}
	m->bytes = bytes > m->bytes ? bytes : m->bytes;
	m->root = c->root >= 0 ? ut_ranks_find(r, c->root) : m->root;
	if (c->root >= 0 && c->root == r->items[mark->rank].rank)
		m->root_came = came;
	m->name = c->name;
	m->group = c->group;
}

static void join_meeting(struct ut_ranks *r, const struct ut_rank_mark *marks, size_t count)
{
	struct ut_rank_meeting *m;

	r->meetings =
		ut_grow(r->meetings, r->meeting_count + 1, &r->meeting_cap, sizeof(*r->meetings));
	m = &r->meetings[r->meeting_count++];
	*m = (struct ut_rank_meeting){ .root = UT_RANK_NOBODY, .last_rank = UT_RANK_NOBODY };
	for (size_t i = 0; i < count; i++)
		meet(r, m, &marks[i]);
}

static void join_all(struct ut_ranks *r, const struct ut_rank_marks *m)
{
	for (size_t i = 0, n; i < m->count; i += n) {
		n = ut_rank_marks_alike(m, i);
		if (m->items[i].kind >= UT_RANK_MARK_MEMBER)
			join_meeting(r, &m->items[i], n);
		else
			join_message(r, &m->items[i], n);
	}
}

/* ---- all of it ----------------------------------------------------------------------------- */

uint64_t ut_rank_meeting_id(const struct ut_rank_call *c)
{
	uint64_t h = (uint64_t)c->group << 40 ^ c->seq;

	h = (h ^ h >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	h = (h ^ h >> 27) * UINT64_C(0x94d049bb133111eb);
	return (h ^ h >> 31) | UINT64_C(1) << 63;
}

static size_t count_marks(const struct ut_ranks *r)
{
	size_t count = 0;

	for (size_t i = 0; i < r->count; i++) {
		count += r->items[i].end_count;
		for (size_t k = 0; k < r->items[i].call_count; k++)
			count += r->items[i].calls[k].meets != UT_RANK_OTHER;
	}
	return count;
}

static void make_marks(const struct ut_ranks *r, struct ut_rank_mark *to)
{
	for (uint32_t i = 0; i < r->count; i++) {
		const struct ut_rank *one = &r->items[i];

		for (uint32_t k = 0; k < one->end_count; k++)
			*to++ = (struct ut_rank_mark){ one->ends[k].id, i, one->ends[k].call, k,
						       one->ends[k].received ? UT_RANK_MARK_RECEIVED
									     : UT_RANK_MARK_SENT };
		for (uint32_t k = 0; k < one->call_count; k++) {
			const struct ut_rank_call *c = &one->calls[k];

			if (c->meets == UT_RANK_OTHER)
				continue;
			*to++ = (struct ut_rank_mark){ ut_rank_meeting_id(c), i, k, 0,
						       c->use == UT_RANK_WAIT
							       ? UT_RANK_MARK_WAITER
							       : UT_RANK_MARK_MEMBER };
		}
	}
}

void ut_ranks_mark(const struct ut_ranks *r, size_t threads, struct ut_rank_marks *m)
{
	struct marks all = { 0 };
	size_t count = count_marks(r);

	all.items = ut_ace_big_make(count, sizeof(*all.items));
	make_marks(r, all.items);
	sort_marks(&all, count, threads);
	*m = (struct ut_rank_marks){ all.sorted, count };
}

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

static int by_rank(const void *a, const void *b)
{
	const struct ut_rank *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return (x->origin > y->origin) - (x->origin < y->origin);
}

void ut_ranks_sort(struct ut_ranks *r)
{
	ut_sort(r->items, r->count, sizeof(*r->items), by_rank);
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

int ut_ranks_settle(struct ut_ranks *r, size_t threads, struct ut_err *err)
{
	struct ut_rank_marks m;
	int rc = check_ranks(r, err);

	if (rc)
		return rc;
	ut_ranks_mark(r, threads, &m);
	ut_ranks_align(r, &m);
	find_range(r);
	join_all(r, &m);
	free(m.items);
	ut_ranks_wait(r);
	return 0;
}
