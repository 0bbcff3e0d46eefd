/*
 * ranks_mark.c - the ends of messages and the members of collective calls, those of one beside each
 * other.
 *
 * They are sorted by their numbers. These are spread evenly, so their upper bits cut them into
 * parts that several threads sort apart, and into rounds: of many millions only some are in memory
 * at once.
 */
#include <stdlib.h>

#include "base/big.h"
#include "base/grow.h"
#include "base/sort.h"
#include "base/thread_pool.h"
#include "ranks/ranks_parts.h"

#define PART_BITS 6u
#define PARTS     (1u << PART_BITS)
#define SPREAD    UINT64_C(0x9e3779b97f4a7c15)

#define MOST_LIST_BITS 20u
#define FEW            32u /* marks that are sorted at once */

#define MOST_ROUND_BITS 3u
#define ROUND           (UINT32_C(1) << 21) /* marks: fewer are joined in one round */

struct marks {
	struct ut_rank_mark *items, *sorted;
	size_t starts[PARTS + 1];
	unsigned int bits; /* at the top of a spread number, which all of them have in common */
};

/* ---- in order of their numbers ------------------------------------------------------------- */

static unsigned int ranks_mark_part_of(const struct marks *m, uint64_t id)
{
	/* Numbers of messages lie below 2^62. */
	return (unsigned int)((id * SPREAD << m->bits) >> (64 - PART_BITS));
}

static int ranks_mark_by_id(const void *a, const void *b)
{
	const struct ut_rank_mark *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

/* Which of a part's lists it goes into: the bits below those that chose the part. */
static size_t list_of(const struct marks *m, uint64_t id, unsigned int bits)
{
	return (size_t)((id * SPREAD << m->bits << PART_BITS) >> (64 - bits));
}

/* A few of them; members of a collective call come in order. */
static void sort_list(struct ut_rank_mark *items, size_t count)
{
	if (count > FEW) {
		ut_sort(items, count, sizeof(*items), ranks_mark_by_id);
		return;
	}
	for (size_t i = 1; i < count; i++) {
		struct ut_rank_mark m = items[i];
		size_t k = i;

		for (; k && ranks_mark_by_id(&m, &items[k - 1]) < 0; k--)
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
		ends[list_of(m, from[i].id, bits) + 1]++;
	for (size_t i = 0; i < lists; i++)
		ends[i + 1] += ends[i];
	for (size_t i = 0; i < count; i++)
		to[ends[list_of(m, from[i].id, bits)]++] = from[i];
	for (size_t i = 0, start = 0; i < lists; start = ends[i++])
		sort_list(to + start, ends[i] - start);
	free(ends);
}

static void sort_marks(struct marks *m, size_t count, size_t threads)
{
	size_t sizes[PARTS] = { 0 }, at[PARTS];
	struct ut_rank_mark *scattered;

	for (size_t i = 0; i < count; i++)
		sizes[ranks_mark_part_of(m, m->items[i].id)]++;
	for (unsigned int p = 0; p < PARTS; p++) {
		at[p] = m->starts[p];
		m->starts[p + 1] = m->starts[p] + sizes[p];
	}
	scattered = ut_ace_big_make(count, sizeof(*scattered));
	for (size_t i = 0; i < count; i++)
		scattered[at[ranks_mark_part_of(m, m->items[i].id)]++] = m->items[i];
	m->sorted = m->items; /* what was there is in the parts now */
	m->items = scattered;
	ut_thread_pool_each(ut_thread_pool_size(threads, PARTS), PARTS, sort_part, m);
	free(scattered);
	m->items = NULL;
}

/* ---- making them --------------------------------------------------------------------------- */

uint64_t ut_rank_meeting_id(const struct ut_rank *one, const struct ut_rank_call *c)
{
	uint64_t h = (uint64_t)ut_rank_shape(one, c)->group << 40 ^ ut_rank_more(one, c)->seq;

	h = (h ^ h >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	h = (h ^ h >> 27) * UINT64_C(0x94d049bb133111eb);
	return (h ^ h >> 31) | UINT64_C(1) << 63;
}

/* Which are made. */
struct pick {
	uint64_t mask; /* of very many only some, chosen by their numbers; 0 = all */
	unsigned int bits, round;
	bool ends, members;
};

struct making {
	const struct ut_ranks *ranks;
	const struct pick *pick;
	struct ut_rank_mark *items;
	size_t count, cap;
	uint32_t rank;
};

static inline bool is_picked(const struct pick *p, uint64_t id)
{
	return !((id * UINT64_C(0xd6e8feb86659fd93)) >> 40 & p->mask) &&
	       (!p->bits || (id * SPREAD) >> (64 - p->bits) == p->round);
}

static void ranks_mark_make(struct making *m, uint64_t id, enum ut_rank_mark_kind kind,
			    size_t index)
{
	if (m->count == m->cap)
		m->items = ut_ace_big_grow(m->items, m->count + 1, &m->cap, sizeof(*m->items));
	m->items[m->count++] = (struct ut_rank_mark){ id, (uint32_t)kind & 7u,
						      m->rank & UT_RANK_MOST, (uint32_t)index };
}

static void make_ends(struct making *m, const struct ut_rank *one)
{
	for (size_t k = 0; k < one->end_count; k++) {
		const struct ut_rank_end *e = &one->ends[k];

		if (!e->finalized && is_picked(m->pick, e->id))
			ranks_mark_make(m, e->id,
					e->soft       ? UT_RANK_MARK_SOFT
					: e->received ? UT_RANK_MARK_RECEIVED
						      : UT_RANK_MARK_SENT,
					k);
	}
}

static void make_members(struct making *m, const struct ut_rank *one)
{
	for (size_t k = 0; one->more_count && k < one->call_count; k++) {
		const struct ut_rank_call *c = &one->calls[k];
		uint64_t id;

		if (!ut_rank_more(one, c)->seq)
			continue;
		id = ut_rank_meeting_id(one, c);
		if (is_picked(m->pick, id))
			ranks_mark_make(m, id,
					ut_rank_completes(ut_rank_shape(one, c)->use)
						? UT_RANK_MARK_WAITER
						: UT_RANK_MARK_MEMBER,
					k);
	}
}

static void mark(const struct ut_ranks *r, size_t threads, const struct pick *pick,
		 struct ut_rank_marks *m)
{
	struct marks all = { .bits = pick->bits };
	struct making x = { .ranks = r, .pick = pick };

	for (; x.rank < r->count; x.rank++) {
		if (pick->ends)
			make_ends(&x, &r->items[x.rank]);
		if (pick->members)
			make_members(&x, &r->items[x.rank]);
	}
	all.items = x.items;
	if (x.count)
		sort_marks(&all, x.count, threads);
	*m = (struct ut_rank_marks){ all.sorted, x.count };
}

static size_t count_ends(const struct ut_ranks *r)
{
	size_t count = 0;

	for (size_t i = 0; i < r->count; i++)
		count += r->items[i].end_count;
	return count;
}

void ut_ranks_mark(const struct ut_ranks *r, size_t threads, size_t most, struct ut_rank_marks *m)
{
	struct pick pick = { .ends = true, .members = true };
	size_t count = count_ends(r);
	uint64_t parts = 1;

	for (size_t i = 0; i < r->count; i++)
		count += r->items[i].more_count;
	while (most && count / parts > most)
		parts *= 2;
	pick.mask = parts - 1;
	mark(r, threads, &pick, m);
}

void ut_ranks_join_marks(struct ut_ranks *r, size_t threads,
			 void (*join)(struct ut_ranks *r, const struct ut_rank_marks *m))
{
	struct pick members = { .members = true }, ends = { .ends = true };
	size_t count = count_ends(r);
	struct ut_rank_marks m;

	mark(r, threads, &members, &m);
	join(r, &m);
	free(m.items);
	while (ends.bits < MOST_ROUND_BITS && count >> ends.bits > ROUND)
		ends.bits++;
	for (; ends.round < 1u << ends.bits; ends.round++) {
		mark(r, threads, &ends, &m);
		join(r, &m);
		free(m.items);
	}
}
