/*
 * ranks_lock.c - who waited for the memory of another rank that it accesses by itself.
 *
 * A lock waits until another rank that holds it lets it go. And what a rank does to the memory of
 * one on the same or another host may need that one to be inside of MPI: whoever is busy with
 * something else lets others wait until its next call. Both are seen by time only: the call ends
 * behind it.
 */
#include <stdlib.h>

#include "base/grow.h"
#include "base/sort.h"
#include "ranks/ranks.h"
#include "ranks/ranks_parts.h"

#define MOST_BACK 1024u /* calls, to the one that locks */
#define LEAST     1000u /* ns: who is so fast has not waited */

/* A rank has locked a window of a target, from the first call to the last. */
struct epoch {
	uint32_t window;
	int32_t target;
	uint64_t lock, unlock; /* when the calls began that lock and unlock */
	uint32_t rank;         /* index */
	bool exclusive;
};

struct epochs {
	struct epoch *items; /* by window, target and unlock */
	size_t count, cap;
};

static int by_window(const struct epoch *x, const struct epoch *y)
{
	if (x->window != y->window)
		return x->window < y->window ? -1 : 1;
	return (x->target > y->target) - (x->target < y->target);
}

static int by_unlock(const void *a, const void *b)
{
	const struct epoch *x = a, *y = b;
	int order = by_window(x, y);

	if (order)
		return order;
	if (x->unlock != y->unlock)
		return x->unlock < y->unlock ? -1 : 1;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

/* What a call does, by its shape: names are looked at once for each. */
static uint8_t *epochs_of_shapes(const struct ut_ranks *r, const struct ut_rank *one, bool *any)
{
	uint8_t *kinds = ut_make(one->shape_count + 1);

	*any = false;
	for (size_t i = 0; i < one->shape_count; i++) {
		const struct ut_rank_shape *is = &one->shapes[i];

		if (is->use == UT_RANK_ONE_SIDED && is->to >= 0)
			kinds[i] = (uint8_t)ut_rank_epoch_of(ut_strtab_get(&r->strings, is->name));
		if (is->use == UT_RANK_WAIT && is->to >= 0)
			kinds[i] = UT_RANK_EPOCH_FLUSH;
		*any = *any || kinds[i] >= UT_RANK_EPOCH_LOCK;
	}
	return kinds;
}

/* The epoch that a call is in, as far as it is known by then; false: none was begun. */
static bool epoch_of(const struct ut_rank *one, uint32_t call, const uint8_t *kinds,
		     struct epoch *e)
{
	const struct ut_rank_shape *is = ut_rank_shape(one, &one->calls[call]);
	uint32_t first = call > MOST_BACK ? call - MOST_BACK : 0;

	for (uint32_t i = call + 1; i-- > first;) {
		const struct ut_rank_call *c = &one->calls[i];
		const struct ut_rank_shape *was = ut_rank_shape(one, c);

		if (kinds[c->shape] != UT_RANK_EPOCH_LOCK || was->group != is->group ||
		    was->to != is->to)
			continue;
		*e = (struct epoch){ .window = is->group,
				     .target = is->to,
				     .lock = c->begin,
				     .exclusive = was->root == 1 };
		return true;
	}
	return false;
}

static void ranks_lock_gather(struct epochs *e, const struct ut_ranks *r, uint32_t rank,
			      const uint8_t *kinds)
{
	const struct ut_rank *one = &r->items[rank];

	for (uint32_t i = 0; i < one->call_count; i++) {
		const struct ut_rank_call *c = &one->calls[i];
		struct epoch mine;

		if (kinds[c->shape] != UT_RANK_EPOCH_UNLOCK || !epoch_of(one, i, kinds, &mine))
			continue;
		mine.unlock = c->begin;
		mine.rank = rank;
		e->items = ut_grow(e->items, e->count + 1, &e->cap, sizeof(*e->items));
		e->items[e->count++] = mine;
	}
}

/* The last one of another rank's that was let go during the call: it kept the call from going on.
 */
static const struct epoch *last_holder(const struct epochs *e, const struct epoch *mine,
				       uint64_t begin, uint64_t end)
{
	const struct epoch wanted = { .window = mine->window,
				      .target = mine->target,
				      .unlock = end };
	size_t lo = 0, hi = e->count;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (by_unlock(&e->items[mid], &wanted) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	while (lo-- > 0) {
		const struct epoch *x = &e->items[lo];

		if (by_window(x, mine) || x->unlock <= begin)
			return NULL;
		if (x->rank != mine->rank && x->lock < mine->lock &&
		    (x->exclusive || mine->exclusive))
			return x;
	}
	return NULL;
}

uint64_t ut_rank_came_back(const struct ut_rank *one, uint64_t begin, uint64_t end)
{
	size_t lo = 0, hi = one->call_count;
	uint64_t left = begin;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (one->calls[mid].begin <= begin)
			lo = mid + 1;
		else
			hi = mid;
	}
	/* calls of several threads, and those inside of others, may reach over the last one */
	for (size_t i = lo; i && i + 8 > lo; i--)
		left = one->calls[i - 1].end > left ? one->calls[i - 1].end : left;
	while (lo < one->call_count && one->calls[lo].begin < left)
		lo++;
	if (lo == one->call_count || one->calls[lo].begin >= end)
		return 0;
	return 2 * (one->calls[lo].begin - left) > one->calls[lo].begin - begin
		       ? one->calls[lo].begin
		       : 0;
}

static void wait_in(struct ut_ranks *r, const struct epochs *e, uint32_t rank, const uint8_t *kinds)
{
	struct ut_rank *one = &r->items[rank];

	for (uint32_t i = 0; i < one->call_count; i++) {
		const struct ut_rank_call c = one->calls[i];
		const struct ut_rank_shape *is = ut_rank_shape(one, &c);
		const struct epoch *holder = NULL;
		struct epoch mine;
		uint32_t target;
		uint64_t came;

		if (kinds[c.shape] < UT_RANK_EPOCH_LOCK || ut_rank_time(&c) < LEAST)
			continue;
		if (epoch_of(one, i, kinds, &mine)) {
			mine.rank = rank;
			holder = last_holder(e, &mine, c.begin, c.end);
		}
		if (holder)
			ut_rank_waited(one, i, holder->unlock, holder->rank, UT_RANK_LOCKED);
		target = ut_ranks_find(r, is->to);
		if (target == UT_RANK_NOBODY || target == rank)
			continue;
		came = ut_rank_came_back(&r->items[target], c.begin, c.end);
		if (came)
			ut_rank_waited(one, i, came, target, UT_RANK_LATE_TARGET);
	}
}

/* Is it in a call about this target of the window that has not ended? */
static bool waits_there(const struct ut_rank *one, uint32_t window, int32_t target)
{
	for (size_t i = 0; i < one->open_count; i++) {
		const struct ut_rank_shape *is =
			ut_rank_shape(one, &one->calls[one->opens[i].call]);

		if (is->group == window && is->to == target)
			return true;
	}
	return false;
}

/* The call by which a rank has locked the target, or all, and not begun to unlock; NULL: it has
 * not. */
static const struct ut_rank_call *held_lock(const struct ut_ranks *r, const struct ut_rank *one,
					    uint32_t window, int32_t target)
{
	size_t first = one->call_count > MOST_BACK ? one->call_count - MOST_BACK : 0;

	for (size_t i = one->call_count; i-- > first;) {
		const struct ut_rank_call *c = &one->calls[i];
		const struct ut_rank_shape *is = ut_rank_shape(one, c);
		enum ut_rank_epoch epoch;

		if (is->group != window || (is->to >= 0 && is->to != target))
			continue;
		epoch = ut_rank_epoch_of(ut_strtab_get(&r->strings, is->name));
		if (epoch == UT_RANK_EPOCH_UNLOCK)
			return NULL;
		if (epoch == UT_RANK_EPOCH_LOCK)
			return ut_rank_open(one, (uint32_t)i) ? NULL : c;
	}
	return NULL;
}

uint32_t ut_ranks_lock_holder(const struct ut_ranks *r, uint32_t rank, uint32_t call)
{
	const struct ut_rank *one = &r->items[rank];
	const struct ut_rank_shape *is = ut_rank_shape(one, &one->calls[call]);
	const struct ut_rank_call *mine = &one->calls[call];
	uint32_t found = UT_RANK_NOBODY;
	uint64_t since = 0;

	if (is->to < 0)
		return UT_RANK_NOBODY;
	if (ut_rank_epoch_of(ut_strtab_get(&r->strings, is->name)) != UT_RANK_EPOCH_LOCK)
		mine = held_lock(r, one, is->group, is->to);
	for (uint32_t i = 0; i < r->count; i++) {
		const struct ut_rank *two = &r->items[i];
		const struct ut_rank_call *its = held_lock(r, two, is->group, is->to);

		/* Libraries may lock later than they return: who waits there, too, has no lock. */
		if (i == rank || !its || waits_there(two, is->group, is->to))
			continue;
		if (ut_rank_shape(two, its)->root != 1 &&
		    (!mine || ut_rank_shape(one, mine)->root != 1))
			continue;
		if (found == UT_RANK_NOBODY || its->begin < since) {
			found = i;
			since = its->begin;
		}
	}
	return found;
}

void ut_ranks_wait_locks(struct ut_ranks *r)
{
	uint8_t **kinds = ut_make((r->count + 1) * sizeof(*kinds));
	struct epochs e = { 0 };

	for (uint32_t i = 0; i < r->count; i++) {
		bool any;

		kinds[i] = epochs_of_shapes(r, &r->items[i], &any);
		if (any) {
			ranks_lock_gather(&e, r, i, kinds[i]);
			continue;
		}
		free(kinds[i]);
		kinds[i] = NULL;
	}
	ut_sort(e.items, e.count, sizeof(*e.items), by_unlock);
	for (uint32_t i = 0; i < r->count; i++) {
		if (kinds[i])
			wait_in(r, &e, i, kinds[i]);
		free(kinds[i]);
	}
	free(e.items);
	free(kinds);
}
