/* ranks.c - see ranks.h. */
#include "ranks/ranks.h"

#include <stdlib.h>

#include "base/grow.h"
#include "ranks/ranks_parts.h"

const char *const ut_rank_why_words[UT_RANK_WHYS] = {
#define UT_RANK_WHY_TEXT(why, text) [UT_RANK_##why] = text,
	UT_RANK_WHY_LIST(UT_RANK_WHY_TEXT)
#undef UT_RANK_WHY_TEXT
};

void ut_ranks_init(struct ut_ranks *r)
{
	*r = (struct ut_ranks){ 0 };
	ut_strtab_init(&r->strings, &r->arena);
}

void ut_ranks_release(struct ut_ranks *r)
{
	for (size_t i = 0; i < r->count; i++) {
		free(r->items[i].calls);
		free(r->items[i].shapes);
		free(r->items[i].mores);
		free(r->items[i].ends);
		free(r->items[i].shifts);
		free(r->items[i].tops);
		free(r->items[i].colls);
		free(r->items[i].opens);
		free(r->items[i].posts);
		free(r->items[i].made);
		free(r->items[i].measured);
	}
	free(r->items);
	for (size_t i = 0; i < r->clock_count; i++)
		ut_time_map_release(&r->clocks[i].map);
	free(r->clocks);
	free(r->meetings);
	free(r->silent);
	ut_arena_release(&r->arena);
	*r = (struct ut_ranks){ 0 };
}

struct ut_rank *ut_ranks_new(struct ut_ranks *r, int32_t rank)
{
	struct ut_rank *one;

	r->items = ut_grow(r->items, r->count + 1, &r->cap, sizeof(*r->items));
	one = &r->items[r->count++];
	*one = (struct ut_rank){ .rank = rank };
	return one;
}

struct ut_rank_silent *ut_ranks_add_silent(struct ut_ranks *r)
{
	r->silent = ut_grow(r->silent, r->silent_count + 1, &r->silent_cap, sizeof(*r->silent));
	return &r->silent[r->silent_count++];
}

const struct ut_rank_open *ut_rank_open(const struct ut_rank *one, uint32_t call)
{
	for (size_t i = 0; i < one->open_count; i++) {
		if (one->opens[i].call == call)
			return &one->opens[i];
	}
	return NULL;
}

const struct ut_rank_call *ut_rank_finalize(const struct ut_rank *one)
{
	for (size_t i = one->call_count; i-- > 0;) {
		if (ut_rank_shape(one, &one->calls[i])->use == UT_RANK_FINALIZE)
			return &one->calls[i];
	}
	return NULL;
}

bool ut_rank_in_task(const struct ut_rank *one)
{
	return one->in_task && !ut_rank_finalize(one);
}

bool ut_ranks_ended(const struct ut_ranks *r)
{
	for (size_t i = 0; i < r->count; i++) {
		const struct ut_rank *one = &r->items[i];

		if (one->open_count || ut_rank_in_task(one) || one->ended)
			return false;
	}
	return true;
}
