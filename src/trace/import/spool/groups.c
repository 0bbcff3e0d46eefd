/*
 * groups.c - what an id or a lock is called, and what it belongs to, at a given time.
 *
 * Ids are addresses: TBB gives the same one to a parallel_for and to the parallel_reduce after it.
 * So a name counts from the moment it was given until the next is. Saying the same again is free:
 * ten million equal groups take one entry.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "import/spool/steps.h"

void ut_spool_add_group(struct ut_spool_import *im, const struct ut_spool_group *g)
{
	uint32_t at = ut_idmap_get(&im->last_group, g->key);
	const struct ut_spool_group *last = at ? &im->groups.items[at - 1] : NULL;

	if (last && last->name == g->name && last->parent == g->parent && last->ticks <= g->ticks)
		return;
	*UT_VEC_PUSH(&im->groups) = *g;
	ut_idmap_put(&im->last_group, g->key, (uint32_t)im->groups.count);
}

/* One thing more is said about an id; the rest stays. */
void ut_spool_amend_group(struct ut_spool_import *im, const struct ut_spool_group *g)
{
	uint32_t at = ut_idmap_get(&im->last_group, g->key);
	struct ut_spool_group both = at ? im->groups.items[at - 1] : *g;

	both.ticks = g->ticks;
	if (g->name)
		both.name = g->name;
	if (g->parent)
		both.parent = g->parent;
	ut_spool_add_group(im, &both);
}

static int groups_by_key(const void *a, const void *b)
{
	const struct ut_spool_group *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return (x->ticks > y->ticks) - (x->ticks < y->ticks);
}

void ut_spool_sort_groups(struct ut_spool_import *im)
{
	if (im->groups.count)
		qsort(im->groups.items, im->groups.count, sizeof(*im->groups.items), groups_by_key);
}

const void *ut_spool_by_then(const void *items, size_t count, size_t size, uint64_t key,
			     uint64_t ticks)
{
	const char *all = items;
	size_t lo = 0, hi = count;
	uint64_t at[2];

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		memcpy(at, all + mid * size, sizeof(at));
		if (at[0] < key || (at[0] == key && at[1] <= ticks))
			lo = mid + 1;
		else
			hi = mid;
	}
	for (size_t i = lo - (lo > 0); i <= lo && i < count; i++) {
		memcpy(at, all + i * size, sizeof(at));
		if (at[0] == key)
			return all + i * size;
	}
	return NULL;
}

_Static_assert(!offsetof(struct ut_spool_group, key) && offsetof(struct ut_spool_group, ticks) == 8,
	       "ut_spool_by_then() reads these");

const struct ut_spool_group *ut_spool_group(const struct ut_spool_import *im, uint64_t key,
					    uint64_t ticks)
{
	if (im->live) { /* the latest by now; they are not sorted */
		uint32_t at = key ? ut_idmap_get(&im->last_group, key) : 0;

		return at ? &im->groups.items[at - 1] : NULL;
	}
	return key ? ut_spool_by_then(im->groups.items, im->groups.count, sizeof(*im->groups.items),
				      key, ticks)
		   : NULL;
}

uint32_t ut_spool_group_name(const struct ut_spool_import *im, uint64_t key, uint64_t ticks)
{
	const struct ut_spool_group *g = ut_spool_group(im, key, ticks);

	return g ? g->name : 0;
}

uint64_t ut_spool_group_parent(const struct ut_spool_import *im, uint64_t key, uint64_t ticks)
{
	const struct ut_spool_group *g = ut_spool_group(im, key, ticks);

	return g ? g->parent : 0;
}
