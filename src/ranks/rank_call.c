/* rank_call.c - see rank_call.h. */
#include "ranks/rank_call.h"

#include <string.h>

#include "base/big.h"
#include "base/grow.h"
#include "ranks/ranks.h"

const struct ut_rank_more ut_rank_no_more = { 0 };

static uint32_t hash_of(const struct ut_rank_shape *shape)
{
	uint64_t words[sizeof(*shape) / sizeof(uint64_t)], h = 0;

	memcpy(words, shape, sizeof(words));
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		h = (h ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15) + (h >> 29);
	return (uint32_t)(h ^ h >> 32);
}

static bool is(const struct ut_rank *one, uint32_t number, const struct ut_rank_shape *shape)
{
	return !memcmp(&one->shapes[number - 1], shape, sizeof(*shape));
}

/* The number of a shape: index + 1. */
static uint32_t number_of(struct ut_rank *one, struct ut_rank_shaper *s,
			  const struct ut_rank_shape *shape)
{
	uint32_t hash = hash_of(shape), at = hash, number;
	uint32_t *recent = &s->recent[hash % UT_RANK_RECENT];

	if (*recent && is(one, *recent, shape))
		return *recent;
	while ((number = ut_hashtab_next(&s->lookup, hash, &at)) && !is(one, number, shape))
		;
	if (!number) {
		one->shapes = ut_grow(one->shapes, one->shape_count + 1, &one->shape_cap,
				      sizeof(*one->shapes));
		one->shapes[one->shape_count++] = *shape;
		number = (uint32_t)one->shape_count;
		ut_hashtab_add(&s->lookup, hash, number);
	}
	*recent = number;
	return number;
}

static uint32_t add_more(struct ut_rank *one, uint64_t seq)
{
	one->mores = ut_ace_big_grow(one->mores, one->more_count + 1, &one->more_cap,
				     sizeof(*one->mores));
	one->mores[one->more_count++] = (struct ut_rank_more){ .seq = seq };
	return (uint32_t)one->more_count;
}

void ut_rank_put_call(struct ut_rank *one, struct ut_rank_shaper *shaper,
		      const struct ut_rank_found *found)
{
	bool is_member = found->seq && found->shape.meets != UT_RANK_OTHER;
	uint32_t shape = number_of(one, shaper, &found->shape) - 1;

	one->calls = ut_ace_big_grow(one->calls, one->call_count + 1, &one->call_cap,
				     sizeof(*one->calls));
	one->calls[one->call_count++] =
		(struct ut_rank_call){ found->begin, found->end, shape,
				       is_member ? add_more(one, found->seq) : 0 };
}

void ut_rank_shaper_release(struct ut_rank_shaper *shaper)
{
	ut_hashtab_release(&shaper->lookup);
	*shaper = (struct ut_rank_shaper){ 0 };
}

struct ut_rank_more *ut_rank_more_of(struct ut_rank *one, uint32_t call)
{
	struct ut_rank_call *c = &one->calls[call];

	if (!c->more)
		c->more = add_more(one, 0);
	return &one->mores[c->more - 1];
}
