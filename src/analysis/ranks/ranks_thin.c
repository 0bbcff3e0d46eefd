/*
 * ranks_thin.c - keeps of ranks what clocks can be found by.
 *
 * Of many messages and collective calls some are enough, if it is the same ones everywhere: they
 * are chosen by a number that all ends have in common. Each doubling of the level halves them, and
 * what is there at a higher level was there at all lower ones.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"
#include "ranks/ranks_parts.h"

#define MOST_LEVEL 40u

static unsigned int level_of(uint64_t id)
{
	uint64_t h = id * UINT64_C(0xd6e8feb86659fd93);

	h ^= h >> 32;
	return (unsigned int)__builtin_ctzll(h | UINT64_C(1) << MOST_LEVEL);
}

/* Strings have other numbers in other processes: a collective call is known by what they say. */
static unsigned int level_of_call(const struct ut_ranks *r, const struct ut_rank *one,
				  const struct ut_rank_call *c)
{
	struct ut_str group = ut_strtab_get(&r->strings, ut_rank_shape(one, c)->group);
	uint64_t h = ut_hash_bytes(group.ptr, group.len);

	return level_of(h * UINT64_C(0x9e3779b97f4a7c15) + ut_rank_more(one, c)->seq);
}

static bool is_firm(const struct ut_rank *one, const struct ut_rank_call *c)
{
	return ut_rank_shape(one, c)->firm;
}

/* The level at which no more than budget are left. */
static unsigned int find_level(const struct ut_ranks *r, const struct ut_rank *one, size_t budget)
{
	size_t at[MOST_LEVEL + 1] = { 0 }, left = 0;
	unsigned int level = MOST_LEVEL + 1;

	for (size_t i = 0; i < one->end_count; i++)
		if (!one->ends[i].soft)
			at[level_of(one->ends[i].id)]++;
	for (size_t i = 0; i < one->call_count; i++) {
		if (is_firm(one, &one->calls[i]))
			at[level_of_call(r, one, &one->calls[i])]++;
	}
	while (level > 0 && left + at[level - 1] <= budget)
		left += at[--level];
	return level;
}

/* Calls that are kept get a new place, + 1. */
static uint32_t *ranks_thin_choose(const struct ut_ranks *r, const struct ut_rank *one,
				   unsigned int level)
{
	uint32_t *place = ut_make((one->call_count + 1) * sizeof(*place)), next = 0;

	for (size_t i = 0; i < one->end_count; i++) {
		if (!one->ends[i].soft && level_of(one->ends[i].id) >= level)
			place[one->ends[i].call] = 1;
	}
	for (size_t i = 0; i < one->call_count; i++) {
		const struct ut_rank_call *c = &one->calls[i];

		if (place[i] || (is_firm(one, c) && level_of_call(r, one, c) >= level))
			place[i] = ++next;
	}
	return place;
}

/* The same items in no more memory than they need. */
static void *fitted(void *items, size_t count, size_t *cap, size_t size)
{
	void *less;

	*cap = 0;
	less = ut_grow_raw(NULL, count + 1, cap, size);
	if (count)
		memcpy(less, items, count * size);
	free(items);
	return less;
}

static void thin(const struct ut_ranks *r, struct ut_rank *one, size_t budget)
{
	unsigned int level = find_level(r, one, budget);
	uint32_t *place = ranks_thin_choose(r, one, level);
	struct ut_rank_more *kept = ut_make((one->more_count + 1) * sizeof(*kept));
	size_t ends = 0, calls = 0, mores = 0, opens = 0;

	for (size_t i = 0; i < one->end_count; i++) {
		if (one->ends[i].soft || level_of(one->ends[i].id) < level)
			continue;
		one->ends[ends] = one->ends[i];
		one->ends[ends++].call = place[one->ends[i].call] - 1;
	}
	for (size_t i = 0; i < one->call_count; i++) {
		struct ut_rank_call c;

		if (!place[i])
			continue;
		c = one->calls[i];
		/* it is here for a message only: with part of its members a meeting proves less */
		if (!is_firm(one, &c) || level_of_call(r, one, &c) < level)
			c.more = 0;
		if (c.more) {
			kept[mores] = one->mores[c.more - 1];
			c.more = (uint32_t)++mores;
		}
		one->calls[calls++] = c;
	}
	for (size_t i = 0; i < one->open_count; i++) {
		if (place[one->opens[i].call]) {
			one->opens[opens] = one->opens[i];
			one->opens[opens++].call = place[one->opens[i].call] - 1;
		}
	}
	one->open_count = opens;
	one->end_count = ends;
	one->call_count = calls;
	one->more_count = mores;
	one->shift_count = one->top_count = one->coll_count = 0;
	one->calls = fitted(one->calls, calls, &one->call_cap, sizeof(*one->calls));
	free(one->mores);
	one->mores = fitted(kept, mores, &one->more_cap, sizeof(*one->mores));
	one->ends = fitted(one->ends, ends, &one->end_cap, sizeof(*one->ends));
	free(place);
}

void ut_ranks_thin(struct ut_ranks *r, size_t from, size_t budget)
{
	r->thin = true;
	for (size_t i = from; i < r->count; i++)
		thin(r, &r->items[i], budget);
}
